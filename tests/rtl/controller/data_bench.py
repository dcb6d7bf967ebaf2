"""Data through the whole controller: contents, order, hits in SRAM, and programs that must have passed."""

import random
from collections import Counter

import cocotb
import numpy as np

from flashtrain.sim.bench.environment import Environment, cycles
from flashtrain.spec import Opcode, Port, Status
from flashtrain.spec import registers as r
from tests.rtl.controller.fms_helpers import CAPACITY, CONFIG, COVERAGE, GEOMETRY, NAND_PERIODS_PS, begin

APPEND, READ, FLUSH = Opcode.ZONE_APPEND, Opcode.READ, Opcode.FLUSH
VOLATILE, DURABLE, SECOND = 1, 2, 3
SETTLED = 3 * CONFIG.timing.cycles("tprog")  # cycles after which every page set that was closed is programmed


async def hits(env: Environment) -> int:
    """Pages that were read from write buffers."""
    counts = [
        await env.registers.channel_counter(c, r.ChannelCounter.BUFFER_HITS) for c in range(GEOMETRY.channels)
    ]
    return sum(counts)


def data_operations(env: Environment) -> Counter[str]:
    """What was seen at the pins, but for erases and status, which go on behind."""
    return Counter(
        {
            name: count
            for name, count in env.nand.operations.items()
            if name not in ("status", "erase_2", "reset")
        }
    )


@cocotb.test()
async def zones_are_erased_behind_the_traffic(dut):
    """Fill, reset, fill again: reclaimed zones are erased, and then there is none more worn than needs be."""
    env = await begin(dut)
    rounds = 6
    for number in range(rounds):
        env.submit(Port.CORE, APPEND, VOLATILE, blocks=number % 4 + 1, status=Status.SUCCESS)
        env.submit(Port.CORE, READ, VOLATILE, blocks=number % 4 + 1, status=Status.SUCCESS)
        if number % 2:
            env.submit(Port.CORE, Opcode.STREAM_RESET, VOLATILE, status=Status.SUCCESS)
        else:
            env.submit(Port.CORE, Opcode.ZONE_MANAGEMENT_SEND, VOLATILE, action=4, status=Status.SUCCESS)
    await env.drain()
    await env.until_state(r.State.IDLE)
    wear = []
    for zone in range(GEOMETRY.zones):
        await env.registers.write(r.Register.ZONE_SELECT, zone)
        wear.append(await env.registers.read(r.Register.ZONE_WEAR))
    assert sum(wear) == await env.registers.counter(r.Counter.ERASES) >= rounds
    assert max(wear) - min(wear) <= 1, f"unevenly worn: {wear}"
    assert await env.registers.read(r.stream_register(VOLATILE, r.StreamRegister.GENERATION)) == rounds // 2
    COVERAGE.hit("erase", "reclaimed")
    await env.finish()


@cocotb.test()
async def what_was_appended_is_read(dut):
    """A zone in pieces, each read behind its append while it is in flight; then all of it from the array."""
    env = await begin(dut)
    written = 0
    for nsid, port, sizes in ((VOLATILE, Port.CORE, (1, 2, 3, 5, 7, 6)), (DURABLE, Port.HOST, (3, 2))):
        offset = 0
        for blocks in sizes:
            env.submit(port, APPEND, nsid, blocks=blocks, status=Status.SUCCESS)
            env.submit(port, READ, nsid, offset=random.randint(0, offset), blocks=1, status=Status.SUCCESS)
            offset += blocks
        written += offset
    await env.drain()
    env.submit(Port.CORE, FLUSH, VOLATILE, status=Status.SUCCESS)
    await env.drain()
    assert env.nand.programmed == env.nand.passed == written > CAPACITY
    before = await hits(env)
    for nsid, offset, blocks in ((VOLATILE, 0, 12), (DURABLE, 0, 5), (VOLATILE, 12, 12)):
        env.submit(Port(nsid % 2), READ, nsid, offset=offset, blocks=blocks, status=Status.SUCCESS)
    await env.drain()
    assert await hits(env) == before, "a page that has passed is read from the array"
    # With two clocks it depends on their ratio whether pages are requested close enough together.
    cached = env.nand.operations["cache_read"] > 0 and env.nand.operations["cache_end"] > 0
    assert cached or NAND_PERIODS_PS
    for _ in range(3):
        env.submit(Port.CORE, READ, VOLATILE, offset=random.randrange(CAPACITY), status=Status.SUCCESS)
    await env.finish()
    COVERAGE.hit("read_source", "array")


@cocotb.test()
async def an_open_page_set_is_read_from_sram(dut):
    """No program before the flush, and no bus traffic for a read that hits."""
    env = await begin(dut)
    await env.run(Port.CORE, APPEND, VOLATILE, blocks=2)  # plane 0 of both channels
    await cycles(SETTLED)
    assert env.nand.programmed == 0, "nothing closed the page sets"
    before = data_operations(env)
    await env.run(Port.HOST, READ, VOLATILE, blocks=2)
    await cycles(200)
    assert await hits(env) == 2
    assert data_operations(env) == before, f"bus traffic: {data_operations(env) - before}"
    COVERAGE.hit("read_source", "sram")

    await env.run(Port.CORE, FLUSH, VOLATILE)
    assert env.nand.passed == 2, "the flush ends when the programs have passed"
    assert env.nand.operations["program_1"] == 2
    COVERAGE.hit("close", "flush")

    # The sets that follow begin at plane 1: their last plane closes them.
    await env.run(Port.CORE, APPEND, VOLATILE, blocks=2)
    await env.until(lambda: env.nand.passed == 4)
    assert env.nand.operations["program_1"] == 4
    COVERAGE.hit("close", "last_plane")

    # One page from SRAM, the others from the array, in one command.
    await env.run(Port.CORE, APPEND, VOLATILE, blocks=1)
    before = await hits(env)
    await env.run(Port.CORE, READ, VOLATILE, offset=1, blocks=4)
    assert await hits(env) == before + 1
    COVERAGE.hit("read_source", "both")
    await env.finish()


@cocotb.test()
async def a_durable_append_waits_for_its_programs(dut):
    """On an idle device: it closes its page sets, and is answered when all of them have passed."""
    env = await begin(dut)
    await env.run(Port.HOST, APPEND, DURABLE, blocks=1)
    assert env.nand.passed == 1 and env.nand.operations["program_1"] == 1
    COVERAGE.hit("close", "durable_end")
    total = 1
    for blocks in (3, 4, 5, 2):
        await env.run(Port.HOST, APPEND, DURABLE, blocks=blocks, status=Status.SUCCESS)
        total += blocks
        assert env.nand.programmed == env.nand.passed == total
    assert env.nand.operations["program_2"] > 0
    # A volatile one beside it is answered from SRAM: no program of it has been seen.
    command = env.submit(Port.CORE, APPEND, VOLATILE, blocks=1)
    await env.wait(command)
    assert env.nand.programmed == total
    await env.finish()


@cocotb.test()
async def the_oldest_open_set_makes_room(dut):
    """One page in so many zones that a channel has no page set left: one is programmed without a flush."""
    env = await begin(dut)
    places = [(VOLATILE, 0), (VOLATILE, 1), (SECOND, 0), (SECOND, 1)]
    assert len(places) == CONFIG.write_sets + 1
    for nsid, zone in places:
        env.submit(Port.CORE, APPEND, nsid, zone=zone, blocks=1, status=Status.SUCCESS)
    await env.drain()
    await env.until(lambda: env.nand.passed > 0)
    await cycles(SETTLED)
    assert env.nand.programmed == 1
    COVERAGE.hit("close", "room")
    before = await hits(env)
    for nsid, zone in places:
        env.submit(Port.CORE, READ, nsid, zone=zone, status=Status.SUCCESS)
    await env.drain()
    assert await hits(env) == before + CONFIG.write_sets, "the oldest one left"
    await env.finish()


@cocotb.test()
async def a_reset_discards_what_is_in_sram(dut):
    """A zone is reset and written again while its page sets are open: the old pages never come back."""
    env = await begin(dut)
    await env.run(Port.CORE, APPEND, VOLATILE, blocks=1)
    await env.run(Port.CORE, Opcode.STREAM_RESET, VOLATILE)
    await env.until_state(r.State.IDLE)  # its physical zone is erased
    await env.run(Port.CORE, FLUSH, VOLATILE)
    assert env.nand.programmed == 0, "programmed behind the erase"
    COVERAGE.hit("discard", "before_erase")
    for action in ("zone", "stream", "flushed"):
        env.submit(Port.CORE, APPEND, VOLATILE, blocks=3, status=Status.SUCCESS)
        if action == "flushed":
            env.submit(Port.CORE, FLUSH, VOLATILE, status=Status.SUCCESS)
        if action == "stream":
            env.submit(Port.CORE, Opcode.STREAM_RESET, VOLATILE, status=Status.SUCCESS)
        else:
            env.submit(Port.CORE, Opcode.ZONE_MANAGEMENT_SEND, VOLATILE, action=4, status=Status.SUCCESS)
        env.submit(Port.CORE, READ, VOLATILE, status=Status.UNWRITTEN_BLOCK)
        env.submit(Port.CORE, APPEND, VOLATILE, blocks=2, status=Status.SUCCESS)
        env.submit(Port.CORE, READ, VOLATILE, blocks=2, status=Status.SUCCESS)
        env.submit(Port.CORE, FLUSH, VOLATILE, status=Status.SUCCESS)
        env.submit(Port.CORE, READ, VOLATILE, blocks=2, status=Status.SUCCESS)
        env.submit(Port.CORE, Opcode.STREAM_RESET, VOLATILE, status=Status.SUCCESS)
        await env.drain()
        COVERAGE.hit("discard", action)
    await env.finish()


@cocotb.test()
async def a_reset_waits_for_what_is_in_flight(dut):
    """Behind a read from the array, and behind an append that is being programmed."""
    env = await begin(dut)
    await env.run(Port.CORE, APPEND, DURABLE, blocks=12, status=Status.SUCCESS)
    env.submit(Port.CORE, READ, DURABLE, blocks=12, status=Status.SUCCESS)
    env.submit(Port.CORE, Opcode.ZONE_MANAGEMENT_SEND, DURABLE, action=4, status=Status.SUCCESS)
    env.submit(Port.CORE, APPEND, DURABLE, blocks=6, status=Status.SUCCESS)
    env.submit(Port.CORE, Opcode.STREAM_RESET, DURABLE, status=Status.SUCCESS)
    env.submit(Port.CORE, READ, DURABLE, status=Status.UNWRITTEN_BLOCK)
    await env.drain()
    COVERAGE.hit("discard", "in_flight")
    await env.finish()


@cocotb.test()
async def two_ports_append_to_one_zone(dut):
    """Who comes first is open; but every block has one owner, and a port's appends lie in their order."""
    env = await begin(dut)
    pending, contents = [], []
    for number in range(10):
        command = env.submit(Port(number % 2), APPEND, VOLATILE, blocks=number % 3 + 1, predict=False)
        contents.append(env.buffer.bytes[command.piece.start : command.piece.stop].copy())
        pending.append(command)
    await env.drain()
    starts = []
    for command in pending:
        assert command.ok, f"{command}: {command.completion}"
        starts.append(command.completion.result)
    for port in Port:
        own = [start for command, start in zip(pending, starts, strict=True) if command.port == port]
        assert own == sorted(own), f"port {port.name}: {own}"
    blocks = Counter()
    for command, start in zip(pending, starts, strict=True):
        blocks.update(range(start, start + command.request.blocks))
    assert blocks == Counter(range(sum(command.request.blocks for command in pending)))
    reads = [
        env.submit(Port.HOST, READ, VOLATILE, offset=start, blocks=command.request.blocks, predict=False)
        for command, start in zip(pending, starts, strict=True)
    ]
    places = [command.piece for command in reads]
    await env.drain()
    for content, place in zip(contents, places, strict=True):
        assert np.array_equal(env.buffer.bytes[place.start : place.start + len(content)], content)
    await env.finish()
