"""cocotb tests of a die's agent: updates, constants, statistics."""

import random
from itertools import pairwise

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.spec.nand import BusOp
from flashtrain.spec.update_time import compute_cycles
from tests.rtl.channel.die_agent.agent_helpers import (
    CONFIG,
    CYCLES,
    GEOMETRY,
    PAGE_CYCLES,
    Bench,
    a_read,
    a_set,
    an_update,
    plain,
    random_lateness,
    whole_rows,
)  # fmt: skip
from tests.rtl.channel.die_model import DieModel
from tests.rtl.channel.timeout_streams import wait

UPDATE_RUN = bench_parameters()["update_run"]
UNIT = compute_cycles(CONFIG)
LATENCY = 40  # of the unit, beside what its interval tells
TILE = [
    *[BusOp.UPDATE_SOURCE, BusOp.UPDATE_MORE] * (GEOMETRY.planes - 1),
    BusOp.UPDATE_SOURCE,
    BusOp.UPDATE_LAST,
]
COPY = [BusOp.SELECT_COPY, BusOp.DATA_OUT]


def a_die(pages: int = 1, **options) -> DieModel:
    """Its unit takes as long as it takes for tiles with so many pages of gradients."""
    return DieModel(CONFIG, "die", unit=UNIT[pages - 1] + LATENCY, **options)


def sent(die: DieModel, op: BusOp) -> list[int]:
    """When."""
    return [clock for clock, kind in die.history if kind is op]


@cocotb.test()
@cocotb.parametrize(copies=[0, 1])
async def keeps_the_array_at_work(dut, copies):
    """From the second sense on it senses and programs without a pause; each update comes ahead of time."""
    bench = Bench(dut, a_die())
    await bench.start()
    for row in range(12):
        bench.send_update(**an_update(row, last=0, copies=copies))
    await bench.finish()
    works = bench.die.works
    assert [work.kind for work in works] == ["sense", *["sense", "update"] * 11, "update"]
    # Before the last program it waits a little in case there is a further tile.
    assert all(after.begin == before.end for before, after in pairwise(works[1:-1]))
    assert works[-1].begin - works[-2].end < 200
    updates, programs = sent(bench.die, BusOp.UPDATE_LAST), bench.works("update")
    assert len(updates) == 12
    assert all(clock < program.end for clock, program in zip(updates[2:], programs, strict=False))
    # One look for each tile, two at the end, one for the reset; half of them come too early.
    assert bench.die.polls <= 2 * 12 + 6, bench.die.polls


@cocotb.test()
async def does_things_in_order(dut):
    """The second tile's gradients are loaded while the first one is computed, before its copies."""
    bench = Bench(dut, a_die(pages=2))
    await bench.start()
    bench.send_constants(0)
    bench.send_update(**an_update(1, last=1, copies=2))
    bench.send_update(**an_update(2, last=1, copies=1))
    await bench.finish()
    gradients = [BusOp.LOAD_GRADIENT] * 2
    assert plain(bench.die.history) == [
        BusOp.RESET, BusOp.LOAD_CONSTANTS, *gradients, *TILE, *gradients, *COPY, *COPY, *TILE, *COPY,
        BusOp.UPDATE_END,
    ]  # fmt: skip
    assert bench.die.output == [(-1, 0, 0), (-1, 0, 1), (-1, 1, 0)]


@cocotb.test()
async def waits_for_a_tile_while_the_array_works(dut):
    """A tile that comes before the program under way is over joins the sequence; a later one does not."""
    bench = Bench(dut, a_die())
    await bench.start()
    for row in range(2):
        bench.send_update(**an_update(row, last=0))
    while len(bench.works("update")) < 1:
        await wait(dut, 10)
    await wait(dut, UNIT[0] + CYCLES("tr") + 800)
    bench.send_update(**an_update(2, last=0))
    await bench.finish()
    assert len(sent(bench.die, BusOp.UPDATE_END)) == 1
    programs = bench.works("update")
    (end,) = sent(bench.die, BusOp.UPDATE_END)
    assert end >= programs[1].end and end - programs[1].end < 200
    bench.send_update(**an_update(3, last=0))
    await bench.finish()
    assert len(sent(bench.die, BusOp.UPDATE_END)) == 2


@cocotb.test()
async def tells_each_tile_its_own_status(dut):
    """Failures in every position of sequences long and short."""
    bench = Bench(dut, a_die(fails=lambda kind, pages: random.random() < 0.5))
    await bench.start()
    gaps = [0, 0, CYCLES("tprog") // 2, CYCLES("tprog"), 3 * CYCLES("tprog")]
    for row in range(24):
        bench.send_update(**an_update(row, last=0, copies=random.randint(0, 1)))
        await wait(dut, random.choice(gaps))
    await bench.finish()
    assert {work.failed for work in bench.works("update")} == {False, True}


@cocotb.test()
async def waits_for_a_slow_unit(dut):
    """Where the unit takes longer than a program the die is not asked all the time."""
    slow = 2 * CYCLES("tprog")
    bench = Bench(dut, a_die(pages=2, late=lambda kind, cycles: slow if kind == "unit" else cycles))
    await bench.start()
    for row in range(8):
        bench.send_update(**an_update(row, last=1, copies=1))
    await bench.finish()
    senses = bench.works("sense")
    period = (senses[-1].begin - senses[0].begin) / 7
    # Poll, copies and commands come on top.
    assert period < CYCLES("tr") + slow + PAGE_CYCLES + 2_500
    interval = 300
    assert bench.die.polls < 8 * ((slow - UNIT[1]) / interval + 3) + 6


@cocotb.test()
async def statistics_are_read_alone(dut):
    """Among reads that make a sequence, whatever their place."""
    bench = Bench(dut, a_die())
    await bench.start()
    statistics = a_read(1, 1, statistics=1)
    for read in (statistics, *whole_rows(0, 1), statistics, *whole_rows(1, 2), statistics, statistics):
        bench.send_read(**read)
    await bench.finish()
    more = [BusOp.READ_MORE] * (GEOMETRY.planes - 1)
    page, alone = [BusOp.SELECT, BusOp.DATA_OUT] * GEOMETRY.planes, [BusOp.SELECT_STATISTICS, BusOp.DATA_OUT]
    assert plain(bench.die.history) == [
        BusOp.RESET, *alone, *more, BusOp.READ_LAST, *page, *alone,
        *more, BusOp.READ_LAST, BusOp.CACHE_READ_NEXT, *page, BusOp.CACHE_READ_END, *page, *alone, *alone,
    ]  # fmt: skip


@cocotb.test()
async def reads_interrupt_a_stream_of_updates(dut):
    """After a run of updates the sequence ends, and the reads have their turn."""
    bench = Bench(dut, a_die())
    await bench.start()
    for row in range(3 * UPDATE_RUN):
        bench.send_update(**an_update(row, last=0, copies=1))
    while not bench.works("sense"):
        await wait(dut, 10)
    before = len(bench.die.history)
    bench.send_read(**a_read(0, 0))
    await bench.finish()
    after = plain(bench.die.history[before:])
    assert after[: after.index(BusOp.READ_LAST)].count(BusOp.UPDATE_LAST) <= UPDATE_RUN
    assert len(sent(bench.die, BusOp.UPDATE_END)) == 2


@cocotb.test()
@cocotb.parametrize((("delay", "pause"), [(0, 0), (PAGE_CYCLES, 10), (3 * PAGE_CYCLES, 300)]))
async def random_updates(dut, delay, pause):
    """Among everything else, on a slow bus and a die that is early, late and bad."""
    die = a_die(late=random_lateness, fails=lambda kind, pages: random.random() < 0.3)
    bench = Bench(dut, die, delay=delay, pause=pause)
    await bench.start()
    for row in range(rounds(60, usual=30)):
        zone = random.randrange(GEOMETRY.zones)
        match random.choice(
            ("update", "update", "update", "constants", "set", "reads", "statistics", "erase")
        ):
            case "update":
                last = random.randrange(GEOMETRY.planes)
                copies, source = random.randint(0, last + 1), random.randrange(GEOMETRY.zones)
                for tile in range(random.choice((1, 1, 2, 5))):
                    bench.send_update(
                        **an_update(row + tile, zone=zone, source=source, last=last, copies=copies)
                    )
            case "constants":
                bench.send_constants(row % CONFIG.write_sets)
            case "set":
                bench.send_set(**a_set(row, zone=zone))
            case "reads":
                for read in whole_rows(row, random.randint(1, 3)):
                    bench.send_read(**read)
            case "statistics":
                bench.send_read(**a_read(0, 0, statistics=1))
            case "erase":
                bench.send_erase(zone)
        await wait(dut, random.choice((0, 0, 5, 500, 5000)))
    await bench.finish()
