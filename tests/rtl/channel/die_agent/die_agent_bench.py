"""cocotb tests of a die's agent: programs, reads, erases."""

import random
from itertools import pairwise

import cocotb

from flashtrain.rtl.layouts import SetResult
from flashtrain.rtl.zones.erase_broadcast import EraseResult
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import unpack
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.die_agent.agent_helpers import (
    CONFIG,
    CYCLES,
    GEOMETRY,
    PAGE_CYCLES,
    Bench,
    a_read,
    a_set,
    plain,
    random_lateness,
    send_random_work,
    whole_rows,
)  # fmt: skip
from tests.rtl.channel.die_model import DieModel
from tests.rtl.channel.timeout_streams import clock_now, until, wait

READ_RUN = bench_parameters()["read_run"]
PROGRAM_RUN = bench_parameters()["program_run"]


@cocotb.test()
async def resets_first(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    bench.send_set(**a_set(0))
    await until(dut, dut.ready)
    assert CYCLES("trst") <= clock_now() - bench.reset_at <= CYCLES("trst") + 2 * CYCLES("twb") + 200
    assert plain(bench.die.history) == [BusOp.RESET]
    await bench.finish()


@cocotb.test()
async def keeps_the_array_programming(dut):
    """Back to back, with an ideal bus and a die that keeps its times: no clock of the array is lost."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in range(12):
        bench.send_set(**a_set(row))
    await bench.finish()
    programs = bench.works("program")
    assert all(after.begin == before.end for before, after in pairwise(programs))
    # One look for each set at RDY, one at the end of the last, one for the reset; a few come too early.
    assert bench.die.polls <= 12 + 2 + 4


@cocotb.test()
async def judges_each_set_by_its_own_status(dut):
    """Failures in every position, with sets that follow at once (FAILC) and late (FAIL)."""
    die = DieModel(CONFIG, "die", fails=lambda kind, pages: random.random() < 0.5)
    bench = Bench(dut, die)
    await bench.start()
    gaps = [0, CYCLES("tprog") // 2, CYCLES("tprog"), 3 * CYCLES("tprog")]
    for row in range(24):
        bench.send_set(**a_set(row))
        await wait(dut, random.choice(gaps))
    await bench.finish()
    assert {work.failed for work in bench.works("program")} == {False, True}


@cocotb.test()
async def reads_rows_in_sequence_ahead(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for read in whole_rows(0, 5):
        bench.send_read(**read)
    await bench.finish()
    page = [BusOp.SELECT, BusOp.DATA_OUT] * GEOMETRY.planes
    first = [BusOp.READ_MORE] * (GEOMETRY.planes - 1) + [BusOp.READ_LAST]
    following = [BusOp.CACHE_READ_NEXT, *page] * 4
    assert plain(bench.die.history) == [BusOp.RESET, *first, *following, BusOp.CACHE_READ_END, *page]
    senses = bench.works("sense")
    assert [len(work.pages) for work in senses] == [GEOMETRY.planes] * 5


@cocotb.test()
async def reads_rows_in_any_order_ahead(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in (0, 2, 1):
        for plane in range(GEOMETRY.planes):
            bench.send_read(**a_read(row, plane))
    await bench.finish()
    page = [BusOp.SELECT, BusOp.DATA_OUT] * GEOMETRY.planes
    more = [BusOp.READ_MORE] * (GEOMETRY.planes - 1)
    assert plain(bench.die.history) == [
        BusOp.RESET, *more, BusOp.READ_LAST, *more, BusOp.CACHE_READ_LAST, *page,
        *more, BusOp.CACHE_READ_LAST, *page, BusOp.CACHE_READ_END, *page,
    ]  # fmt: skip


@cocotb.test()
async def does_not_cache_what_comes_alone(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in (3, 4):
        bench.send_read(**a_read(row, 1))
        await wait(dut, 3 * CYCLES("tr") + 4 * PAGE_CYCLES)
    await bench.finish()
    alone = [BusOp.READ_LAST, BusOp.SELECT, BusOp.DATA_OUT]
    assert plain(bench.die.history) == [BusOp.RESET, *alone, *alone]


@cocotb.test()
async def sets_of_other_planes_are_not_a_sequence(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row, plane in ((0, 0), (1, 1), (2, 1), (3, 1), (3, 0)):
        bench.send_read(**a_read(row, plane))
    await bench.finish()
    page = [BusOp.SELECT, BusOp.DATA_OUT]
    assert plain(bench.die.history) == [
        BusOp.RESET, BusOp.READ_LAST, BusOp.CACHE_READ_LAST, *page, BusOp.CACHE_READ_NEXT, *page,
        BusOp.CACHE_READ_NEXT, *page, BusOp.CACHE_READ_LAST, *page, BusOp.CACHE_READ_END, *page,
    ]  # fmt: skip


@cocotb.test()
async def erases_all_planes(dut):
    bench = Bench(dut, DieModel(CONFIG, "die", fails=lambda kind, pages: pages[0][0] == 2))
    await bench.start()
    for zone in (3, 2, 5):
        bench.send_erase(zone)
    await bench.finish()
    assert [work.failed for work in bench.works("erase")] == [False, True, False]


def runs(works) -> list[tuple[str, int]]:
    """How many works of a kind follow one another."""
    found: list[tuple[str, int]] = []
    for work in works:
        if found and found[-1][0] == work.kind:
            found[-1] = (work.kind, found[-1][1] + 1)
        else:
            found.append((work.kind, 1))
    return found


@cocotb.test()
async def shares_the_die(dut):
    """Programs and erases take turns; reads go on beside both, and none of the three waits for long."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in range(6 * PROGRAM_RUN):
        bench.send_set(**a_set(row))
    for read in whole_rows(0, 24):
        bench.send_read(**{**read, "zone": 6})
    for zone in range(6):
        bench.send_erase(zone)
    await bench.finish()
    assert (
        runs(work for work in bench.die.works if work.kind != "sense")
        == [
            ("program", PROGRAM_RUN),
            ("erase", 1),
        ]
        * 6
    )
    assert len(bench.die.suspended_reads) >= 6


@cocotb.test()
async def reads_beside_programs(dut):
    """A long row of sets: programs follow one another as before, each longer by what is sensed beside it."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    bench.send_set(**a_set(0))
    while not bench.works("program"):
        await wait(dut, 10)
    for row in range(1, 16):
        bench.send_set(**a_set(row))
    for read in whole_rows(0, 12):
        bench.send_read(**{**read, "zone": 2})
    await bench.finish()
    suspended_reads = bench.die.suspended_reads
    ops = plain(bench.die.history)
    assert (
        len(suspended_reads) >= 8
        and ops.count(BusOp.SUSPENDED_READ_NEXT) + ops.count(BusOp.SUSPENDED_READ_RENEW) >= 6
    )
    last = max(work.end for work in suspended_reads)
    programs = [work for work in bench.works("program") if work.end < last]
    suspension = sum(map(CYCLES, ("tsusp", "tr", "tres")))
    for before, after in pairwise(programs):
        inside = sum(before.begin < beside.begin < before.end for beside in suspended_reads)
        assert before.end - before.begin == CYCLES("tprog") + inside * suspension
        assert after.begin - before.end <= GEOMETRY.planes * (PAGE_CYCLES + 2 * CYCLES("tccs"))


@cocotb.test()
async def a_suspended_read_programs_is_short(dut):
    """Reads of a page, at random moments of a stream of programs, on a bus that is never taken."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in range(60):
        bench.send_set(**a_set(row))
    while len(bench.works("program")) < 2:
        await wait(dut, 10)
    waited = []
    for number in range(20):
        await wait(dut, random.randrange(CYCLES("tprog")))
        came = clock_now()
        bench.send_read(**a_read(number, number % GEOMETRY.planes, zone=2))
        while bench.read:
            await wait(dut, 2)
        waited.append(clock_now() - came)
    times = [CYCLES(name) for name in ("tadv", "tsusp", "tr", "tccs", "twb", "twb")]
    programming = 3 * (PAGE_CYCLES + 8 * CYCLES("twc"))  # before the name, the status, and the selection
    asking = 4 * 8 * CYCLES("twc") + 300 + 20
    dut._log.info(f"reads beside programs: {sorted(waited)}")
    assert max(waited) <= sum(times) + programming + asking + PAGE_CYCLES
    await bench.finish()
    # A program waits at most for the end of the read, and only if it comes just then.
    rests = [after.begin - before.end for before, after in pairwise(bench.works("program"))]
    assert max(rests) <= programming + asking + sum(times) + PAGE_CYCLES
    assert sum(rest > 0 for rest in rests) <= len(waited)


@cocotb.test()
async def reads_alone_when_nothing_is_programmed(dut):
    """After the last program cache reads come back."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    bench.send_set(**a_set(0))
    for read in whole_rows(0, 24):
        bench.send_read(**{**read, "zone": 2})
    await bench.finish()
    ops = plain(bench.die.history)
    assert BusOp.SUSPENDED_READ_LAST in ops and BusOp.CACHE_READ_NEXT in ops


@cocotb.test()
async def programs_interrupt_a_stream_of_reads(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for read in whole_rows(0, 40):
        bench.send_read(**read)
    while len(bench.works("sense")) < 10:
        await wait(dut, 10)
    bench.send_set(**a_set(0, zone=2))
    await bench.finish()
    before = next(index for index, work in enumerate(bench.die.works) if work.kind == "program")
    assert before <= 10 + 2
    # No set of reads was sensed in vain: that is checked by the die.


@cocotb.test()
@cocotb.parametrize((("delay", "pause"), [(0, 0), (PAGE_CYCLES, 10), (3 * PAGE_CYCLES, 300)]))
async def random_work(dut, delay, pause):
    """Everything at once, on a slow bus and a die that is early, late and bad."""
    die = DieModel(CONFIG, "die", late=random_lateness, fails=lambda kind, pages: random.random() < 0.3)
    bench = Bench(dut, die, delay=delay, pause=pause)
    await bench.start()
    await send_random_work(bench, rows=rounds(80, usual=40))
    await bench.finish()


HANGS = 10**9


@cocotb.test()
@cocotb.parametrize(kind=["program", "sense", "suspended_read", "erase"])
async def gives_a_die_up(dut, kind):
    """An operation that never ends: the die is lost after so many looks, and all work ends as failed."""
    sets, zones, pages = 5, 2, 4
    die = DieModel(CONFIG, "die", late=lambda works, cycles: HANGS if works == kind else cycles)
    bench = Bench(dut, die)
    await bench.start()
    if kind != "sense":
        for row in range(sets):
            bench.send_set(**a_set(row))
    if kind == "suspended_read":
        await until(dut, dut.programmed)
    reads = [a_read(row, 0, zone=6) for row in range(pages)]
    for read in reads:
        bench.send_read(**read)
    for zone in range(zones):
        bench.send_erase(zone)
    await until(dut, dut.lost)
    looks = 0
    for _, op in reversed(die.history):
        if op is not BusOp.STATUS and kind != "suspended_read":
            break
        looks += op is BusOp.STATUS
    assert looks >= CONFIG.late_polls
    if kind == "sense":
        for row in range(sets):
            bench.send_set(**a_set(row))
    for _ in range(200):
        await wait(dut, 1000)
        if dut.idle.value == 1:
            break
    assert dut.idle.value == 1
    results = [unpack(SetResult(CONFIG), item) for item in bench.results.items]
    assert [result["slot"] for result in results] == bench.slots
    assert kind == "erase" or results[-1]["failed"]
    erased = [unpack(EraseResult(), item) for item in bench.erased.items]
    assert len(erased) == zones and erased[-1]["failed"]
    assert bench.lost_pages == [read["tag"] for read in reads[len(die.output) :]]


@cocotb.test()
async def a_die_that_is_late_is_not_given_up(dut):
    """As long as it is ready at last: patience begins anew with each operation."""
    looks = CONFIG.late_polls // 2
    late = looks * CONFIG.timing.clock_mhz  # a look every microsecond
    bench = Bench(dut, DieModel(CONFIG, "die", late=lambda kind, cycles: cycles + late))
    await bench.start()
    for row in range(4):
        bench.send_set(**a_set(row))
    await bench.finish()
    assert bench.lost_at is None and bench.die.polls > 3 * looks


@cocotb.test()
async def a_die_that_is_not_ready_after_its_reset(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    bench.die.cycles["trst"] = HANGS
    await bench.start()
    bench.send_set(**a_set(0))
    await until(dut, dut.lost)
    assert dut.ready.value == 0
    await until(dut, dut.ready)
    await wait(dut, 4 * CYCLES("tprog"))
    assert [unpack(SetResult(CONFIG), item)["failed"] for item in bench.results.items] == [1]
