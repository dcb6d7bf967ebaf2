"""Dies with a bad block: what cannot be programmed is not acknowledged, and the block is not used again."""

import cocotb
from fms_kit import COVERAGE, GEOMETRY, begin

from flashtrain.sim.bench.environment import Environment
from flashtrain.spec import Opcode, Port, Status, ZoneAction
from flashtrain.spec import registers as r

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


async def append(env: Environment, zone: int, offset: int) -> Status:
    """Append a page on each channel, as page sets of their own; the status."""
    flight = await env.run(Port.HOST, APPEND, DURABLE, zone=zone, blocks=GEOMETRY.channels, predict=False)
    status = flight.completion.status
    ok = status == Status.SUCCESS
    assert flight.completion.result == (zone * GEOMETRY.zone_size + offset if ok else 0)
    return status


async def faulty_zones(env: Environment) -> list[int]:
    """Append on plane 0 of every zone; the zones where that failed."""
    faulty = []
    for zone in range(ZONES):
        status = await append(env, zone, 0)
        assert status in (Status.SUCCESS, Status.WRITE_FAULT)
        if status is Status.WRITE_FAULT:
            faulty.append(zone)
        env.submit(Port.HOST, Opcode.ZONE_MANAGEMENT_SEND, DURABLE, zone=zone, action=CLOSE, predict=False)
    await env.drain()
    return faulty


@cocotb.test()
async def a_bad_block(dut):
    """Block 1 fails on plane 0 of every die."""
    env = await begin(dut)
    faulty = await faulty_zones(env)
    assert len(faulty) == 1, f"one zone lies on the bad blocks; {faulty} failed"
    assert env.nand.failed == await failures(env) == GEOMETRY.channels
    COVERAGE.hit("fault", "program")

    # Its plane 1 goes on.
    assert await append(env, faulty[0], GEOMETRY.channels) is Status.SUCCESS
    flight = await env.run(
        Port.HOST,
        READ,
        DURABLE,
        zone=faulty[0],
        offset=GEOMETRY.channels,
        blocks=GEOMETRY.channels,
        predict=False,
    )
    assert flight.ok, f"{flight}: {flight.completion}"

    # Its erase fails, too: from then on it is left out. It takes some rounds until zones are used again.
    for _ in range(GEOMETRY.zones // ZONES):
        await env.run(Port.HOST, Opcode.STREAM_RESET, DURABLE, status=Status.SUCCESS)
        await env.until_state(r.State.IDLE)
        assert await failures(env) == 2 * GEOMETRY.channels, (
            "a failed program and a failed erase on each channel"
        )
        assert await faulty_zones(env) == []
    COVERAGE.hit("fault", "erase")
    await env.finish()
