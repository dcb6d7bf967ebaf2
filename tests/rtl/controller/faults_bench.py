"""Dies with a bad block: what cannot be programmed is not acknowledged, and the block is not used again."""

from itertools import product
from pathlib import Path

import cocotb

from flashtrain.sim.bench.environment import Environment
from flashtrain.spec import Opcode, Port, Status, ZoneAction
from flashtrain.spec import registers as r
from tests.rtl.controller.fms_helpers import COVERAGE, GEOMETRY, begin

APPEND, READ, CLOSE = Opcode.ZONE_APPEND, Opcode.READ, ZoneAction.CLOSE
DURABLE = 2
ZONES = 3  # of the stream that are used: as many as can be active


async def failures(env: Environment) -> int:
    """Programs and erases that the controller has seen fail."""
    counts = [
        await env.registers.channel_counter(channel, r.ChannelCounter.FAILURES)
        for channel in range(GEOMETRY.channels)
    ]
    return sum(counts)


async def append(env: Environment, zone: int) -> list[Status]:
    """Append a page on each channel, as page sets of their own, on plane 0, then on plane 1; the statuses.

    The second append is on its way when the first one fails.
    """
    pending = [
        env.submit(Port.HOST, APPEND, DURABLE, zone=zone, blocks=GEOMETRY.channels, predict=False)
        for _ in range(2)
    ]
    await env.wait(*pending)
    for number, command in enumerate(pending):
        lba = zone * GEOMETRY.zone_size + number * GEOMETRY.channels
        assert command.completion.result == (lba if command.ok else 0)
    return [Status(command.completion.status) for command in pending]


async def faulty_zones(env: Environment) -> list[int]:
    """Append to every zone; the zones where that failed on plane 0."""
    faulty = []
    for zone in range(ZONES):
        first, second = await append(env, zone)
        assert second is Status.SUCCESS
        if first is not Status.SUCCESS:
            assert first is Status.WRITE_FAULT
            faulty.append(zone)
        env.submit(Port.HOST, Opcode.ZONE_MANAGEMENT_SEND, DURABLE, zone=zone, action=CLOSE, predict=False)
    await env.drain()
    return faulty


@cocotb.test()
async def a_bad_block(dut):
    """Block 1 fails on plane 0 of every die."""
    dies = product(range(GEOMETRY.channels), range(GEOMETRY.dies))
    Path("faults.txt").write_text("".join(f"{channel} {die} 0 1\n" for channel, die in dies), "utf-8")
    env = await begin(dut)
    faulty = await faulty_zones(env)
    assert len(faulty) == 1, f"one zone lies on the bad blocks; {faulty} failed"
    assert env.nand.failed == await failures(env) == GEOMETRY.channels
    COVERAGE.hit("fault", "program")

    # It takes no more, but what came to its plane 1 can be read.
    assert await append(env, faulty[0]) == [Status.ZONE_IS_READ_ONLY] * 2
    command = await env.run(
        Port.HOST,
        READ,
        DURABLE,
        zone=faulty[0],
        offset=GEOMETRY.channels,
        blocks=GEOMETRY.channels,
        predict=False,
    )
    assert command.ok, f"{command}: {command.completion}"

    # Nor is it emptied, before the controller forgets it. Then its erase fails, too: from then on it is left
    # out. It takes some rounds until zones are used again.
    await env.run(Port.HOST, Opcode.STREAM_RESET, DURABLE, status=Status.SUCCESS)
    assert await append(env, faulty[0]) == [Status.ZONE_IS_READ_ONLY] * 2
    await env.disable()
    await env.configure()
    await env.enable()
    for _ in range(GEOMETRY.zones // ZONES):
        await env.until_state(r.State.IDLE)
        assert await failures(env) == GEOMETRY.channels, "a failed erase on each channel"
        assert await faulty_zones(env) == []
        await env.run(Port.HOST, Opcode.STREAM_RESET, DURABLE, status=Status.SUCCESS)
    COVERAGE.hit("fault", "erase")
    await env.finish()
