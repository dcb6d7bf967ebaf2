"""cocotb tests of a die's agent: pages that are read again at another level, among all other work.

The model of the die knows its level, and lets nothing but the sense of a single page happen at another one
than 0.
"""

import random
from itertools import pairwise

import cocotb

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
from tests.rtl.channel.timeout_streams import clock_now, until, wait

LEVELS = range(1, CONFIG.read_levels + 1)
RETRY = [BusOp.SET_READ_LEVEL, BusOp.READ_LAST, BusOp.SELECT, BusOp.DATA_OUT, BusOp.SET_READ_LEVEL]
UNIT = compute_cycles(CONFIG)[-1] + 40
HANGS = 10**9


def a_place() -> dict:
    return a_read(random.randrange(GEOMETRY.pages), random.randrange(GEOMETRY.planes))


@cocotb.test()
async def each_is_a_read_of_its_own(dut):
    """Level, sense, output, level 0; in their order, and as soon as the die and the bus allow."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    await until(dut, dut.ready)
    levels = [random.choice(LEVELS) for _ in range(6)]
    for level in levels:
        before = clock_now()
        bench.send_retry(level, **a_place())
        await bench.finish()
        spent = clock_now() - before
        die = sum(map(CYCLES, ("tfeat", "tfeat", "tr", "tccs", "twb", "twb", "twb")))
        bus = PAGE_CYCLES + 7 * 8 * CYCLES("twc") + 200  # and a tWB between operations of a kind
        assert die + PAGE_CYCLES <= spent <= die + bus + PAGE_CYCLES + CYCLES("twb") + 600
    assert plain(bench.die.history) == [BusOp.RESET, *RETRY * len(levels)]
    assert [work.level for work in bench.works("sense")] == levels
    assert bench.die.level == 0


@cocotb.test()
async def they_take_turns_with_reads(dut):
    """Neither waits for more than a turn of the other, however much of it there is."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    await until(dut, dut.ready)
    for read in whole_rows(0, 24):
        bench.send_read(**read)
    for _ in range(4):
        bench.send_retry(random.choice(LEVELS), **a_place())
    await bench.finish()
    turns = [work.level != 0 for work in bench.works("sense")]
    assert turns.count(True) == 4
    first = turns.index(True)
    assert first <= 6  # the sets of a turn, and what was sensed ahead
    last = len(turns) - turns[::-1].index(True)
    assert last <= 4 * 7 and not any(one and other for one, other in pairwise(turns))


@cocotb.test()
async def they_take_turns_with_programs(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    await until(dut, dut.ready)
    for row in range(12):
        bench.send_set(**a_set(row, zone=2))
    await wait(dut, CYCLES("tprog"))
    begun = len(bench.works("program"))
    bench.send_retry(1, **a_read(0, 0, zone=5))
    while bench.retried:
        await wait(dut, 10)
    assert len(bench.works("program")) <= begun + 2
    await bench.finish()


@cocotb.test()
@cocotb.parametrize((("delay", "pause"), [(0, 0), (PAGE_CYCLES, 10), (3 * PAGE_CYCLES, 300)]))
async def random_work(dut, delay, pause):
    """Everything at once, updates too, on a slow bus and a die that is early, late and bad."""
    fails = lambda kind, pages: random.random() < 0.3  # noqa: E731
    die = DieModel(CONFIG, "die", unit=UNIT, late=random_lateness, fails=fails)
    bench = Bench(dut, die, delay=delay, pause=pause)
    await bench.start()
    bench.send_constants(0)
    for row in range(rounds(80, usual=40)):
        zone = random.randrange(2, GEOMETRY.zones)
        match random.choice(("set", "rows", "page", "retry", "retry", "update", "erase")):
            case "set":
                first = random.randrange(GEOMETRY.planes)
                last = random.randrange(first, GEOMETRY.planes)
                bench.send_set(**a_set(row, zone=zone, first=first, last=last))
            case "rows":
                for read in whole_rows(row, random.randint(1, 3)):
                    bench.send_read(**{**read, "zone": random.randrange(2)})
            case "page":
                bench.send_read(**{**a_place(), "zone": random.randrange(2)})
            case "retry":
                for _ in range(random.choice((1, 1, 3))):
                    bench.send_retry(random.choice(LEVELS), **{**a_place(), "zone": random.randrange(2)})
            case "update":
                for tile in range(random.choice((1, 2))):
                    bench.send_update(**an_update(row + tile, zone=zone, copies=random.randint(0, 2)))
            case "erase":
                bench.send_erase(zone)
        await wait(dut, random.choice((0, 0, 5, 500, 5000)))
    await bench.finish()
    assert {work.level for work in bench.works("sense")} == {0, *LEVELS}
    assert bench.die.level == 0


@cocotb.test()
async def a_die_that_hangs_is_given_up(dut):
    """In the sense of a retry: the rest of it, and what waits, ends without the die."""
    late = {"sense": HANGS}
    bench = Bench(dut, DieModel(CONFIG, "die", late=lambda kind, cycles: late.get(kind, cycles)))
    await bench.start()
    await until(dut, dut.ready)
    places = [a_place() for _ in range(3)]
    for place in places:
        bench.send_retry(1, **place)
    await until(dut, dut.lost)
    for _ in range(100):
        await wait(dut, 1000)
        if dut.idle.value == 1:
            break
    assert dut.idle.value == 1
    assert bench.lost_pages == [place["tag"] for place in places]
