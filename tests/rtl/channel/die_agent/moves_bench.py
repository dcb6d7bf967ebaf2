"""A channel engine with its dies, of which blocks fail to program: who appends and reads does not notice."""

import random
from pathlib import Path

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from tests.rtl.channel.engine_bench import GEOMETRY, Centre, Zone

BAD_BLOCK, BAD_PLANES = bench_parameters()["bad_block"], bench_parameters()["bad_planes"]
FAULTS = Path("faults.txt")


def break_blocks(*places: tuple[int, int, int]) -> None:
    """From the next event on these blocks (die, plane, block) fail."""
    FAULTS.write_text("".join(f"0 {die} {plane} {block}\n" for die, plane, block in places), encoding="utf-8")


async def append_rows(centre: Centre, rows: int, *zones: Zone) -> None:
    """Row by row in each of the zones, and reads of what is there."""
    for _ in range(rows):
        for zone in zones:
            for _ in range(GEOMETRY.dies * GEOMETRY.planes):
                centre.append(zone, close=int(random.random() < 0.1))
        await centre.until(lambda: len(centre.announced) < 2)
        for zone in zones:
            for _ in range(random.randrange(3)):
                centre.read(zone, random.randrange(zone.readable))


async def read_all(centre: Centre, *zones: Zone) -> None:
    for zone in zones:
        for index in range(len(zone.pages)):
            await centre.until(lambda: len(centre.asked) < 16)
            centre.read(zone, index)
    await centre.until(lambda: not centre.asked)


@cocotb.test()
async def a_zone_on_a_bad_block(dut):
    """Its first program fails on each die. After a reset the zone lies on the spares, which are good."""
    centre = Centre(dut, busy=0.9)
    await centre.start()
    bad, good = Zone(BAD_BLOCK), Zone(0)
    await append_rows(centre, GEOMETRY.pages, bad, good)
    await centre.flush_all()
    await read_all(centre, bad, good)
    counters = await centre.counters()
    dut._log.info(str(counters))
    moves = GEOMETRY.dies * BAD_PLANES.bit_count()
    assert counters["BLOCKS_REPLACED"] == moves
    assert GEOMETRY.dies <= counters["SETS_REPEATED"] <= 2 * GEOMETRY.dies
    assert GEOMETRY.dies <= counters["FAILURES"] <= 2 * GEOMETRY.dies
    assert counters["ERASES"] == moves
    await centre.reset(bad)
    await append_rows(centre, 2, bad)
    await centre.flush_all()
    await read_all(centre, bad)
    await centre.finish()
    assert (await centre.counters())["FAILURES"] == counters["FAILURES"]


@cocotb.test(skip=not bench_parameters()["faults"])
async def blocks_that_fail_later(dut):
    """In the midst of their rows, and then the spares they were moved to, as long as there are any."""
    centre = Centre(dut, busy=0.9)
    await centre.start()
    zones = [Zone(1), Zone(2)]
    block, plane = 1, GEOMETRY.planes - 1
    for spare in GEOMETRY.spares:
        await append_rows(centre, 1, *zones)
        # Without an event since the last ones, those have not been read.
        if FAULTS.exists() or random.random() < 0.5:
            await centre.flush_all()
        break_blocks(*((die, plane, block) for die in range(GEOMETRY.dies)))
        block = spare
    await append_rows(centre, GEOMETRY.pages - GEOMETRY.spare_blocks, *zones)
    await centre.flush_all()
    await read_all(centre, *zones)
    await centre.finish()
    counters = await centre.counters()
    dut._log.info(str(counters))
    assert counters["BLOCKS_REPLACED"] == GEOMETRY.spare_blocks * GEOMETRY.dies
