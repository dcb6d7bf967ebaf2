"""cocotb tests of R/B#: the line against a model, and what the ready poller and the reader do with it."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.die_agent.ready_line import shown_cycles
from flashtrain.rtl.channel.die_agent.ready_poller import Work
from flashtrain.sim.bench.streams import start
from flashtrain.spec.nand import BusOp
from flashtrain.spec.timing import ns
from tests.rtl.channel.die_agent.agent_units import LONGEST_INTERVAL, SHARED, WIRED, agent_units
from tests.rtl.channel.die_agent.reader_bench import Bench, some_reads
from tests.rtl.channel.die_agent.ready_poller_bench import BUSY, SLACK, Poller
from tests.rtl.channel.die_agent.unit_surroundings import chance
from tests.rtl.channel.timeout_streams import clock_now, wait
from tests.rtl.side_by_side import Unit

IDLE_INPUTS = agent_units().idle_inputs()
CYCLES = WIRED.timing.cycles
GRACE = SHARED.port_delay + 4
INPUTS = ("line", "alone", "waits", "last", "ready")
DUE = 2
"""Cycles from a level at the poller or the reader to its poll."""


def interval_of(work_ns: int) -> int:
    return ns(work_ns).cycles_at(WIRED.timing.clock_mhz)


@cocotb.test()
async def line_follows_its_model(dut):
    """In each cycle of random inputs: whether a poll is due, and each pulse of a late one."""
    await start(dut, **IDLE_INPUTS)
    unit = Unit(dut, "line")
    shares = dict.fromkeys(INPUTS, 0.5)
    left, stuck, counts, interval = GRACE, False, {"late": 0, "stuck": 0}, LONGEST_INTERVAL
    for cycle in range(6000):
        if cycle % 300 == 0:
            rare = cycle % 600 == 0  # inputs that let a poll pass
            shares = {name: random.choice((0.0, 0.01) if rare else (0.02, 0.5, 1.0)) for name in INPUTS}
            shares |= {"waits": random.choice((0.99, 1.0)), "alone": 1.0 if rare else 0.5}
            interval = random.randint(2, LONGEST_INTERVAL)
        given = {name: chance(share) for name, share in shares.items()}
        unit.drive(interval=interval, **given)
        await RisingEdge(dut.clk)
        due = given["line"] or stuck or given["last"] or not given["alone"]
        late = given["waits"] and not due and left == 1
        assert (unit["due"], unit["late"]) == (due, late), (cycle, given, left, stuck)
        counts["late"] += late
        counts["stuck"] += stuck
        left = GRACE if not given["waits"] or due else interval if late else left - 1
        stuck = not given["line"] and (stuck or (given["ready"] and given["last"]))
    assert all(counts.values()), counts


@cocotb.test()
async def nothing_is_polled_while_the_line_is_low(dut):
    """One poll, when the line has risen; none before tWB and the way of a level have passed."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut, "line_poller")
    for work, time, interval_ns in (
        (Work.ERASE, "tbers", 20_000), (Work.LONE_PROGRAM, "tprog", 1_000), (Work.PROGRAM, "tcbsy", 1_000)
    ):  # fmt: skip
        poller.polls.clear()
        count = len(poller.ready)
        await poller.begin(work)
        poller.set(line=0)
        most = (WIRED.late_polls - 3) * interval_of(interval_ns)
        await wait(dut, CYCLES("twb") + CYCLES(time) + random.randint(GRACE, most))
        assert not poller.polls, work
        poller.set(line=1)
        rose = clock_now()
        await poller.until_ready(count + 1)
        assert len(poller.polls) == 1 and 0 < poller.polls[0] - rose <= DUE, (work, poller.polls, rose)
    assert not poller.lost
    # A line that is still high says nothing before tWB.
    await poller.do(Work.LAST_PROGRAM)
    polls = len(poller.polls)
    began = await poller.begin(Work.PROGRAM)
    await poller.until_ready(len(poller.ready) + 1)
    shown = shown_cycles(WIRED)
    assert shown - 2 <= poller.polls[polls] - began
    assert poller.polls[polls] - began <= max(CYCLES("twb") + CYCLES("tcbsy"), shown) + SLACK


@cocotb.test()
async def a_poll_before_the_array_is_idle_is_repeated(dut):
    """R/B# is RDY, not ARDY: with a high line a busy answer is followed by polls at intervals."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut, "line_poller")
    poller.set(line=1)
    poller.answers = [BUSY, BUSY]
    await poller.do(Work.LAST_PROGRAM)
    assert len(poller.polls) == 3
    assert poller.polls[1] - poller.ends[0] >= interval_of(1_000) - 2


@cocotb.test()
async def a_stuck_line_costs_the_limit_once_and_no_die_is_lost(dut):
    """The limit's last poll is sent in spite of the line. Later ones do not wait until it has been high."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut, "line_poller")
    interval = interval_of(500)
    silence = (WIRED.late_polls - 2) * interval
    due = CYCLES("twb") + CYCLES("tfeat")
    _, first = await poller.do(Work.FEATURE)
    assert 0 <= first - due - silence - GRACE <= SLACK, (first, due, silence)
    for _ in range(3):
        _, first = await poller.do(Work.FEATURE)
        assert first - due <= SLACK
    poller.set(line=1)
    await poller.do(Work.FEATURE)
    poller.set(line=0)
    _, first = await poller.do(Work.FEATURE)
    assert first - due >= silence
    assert not poller.lost


@cocotb.test()
async def a_die_that_keeps_its_line_low_is_lost(dut):
    """With the first busy answer: the intervals with a low line were late polls."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut, "line_poller")
    poller.answers = [BUSY]
    await poller.do(Work.FEATURE)
    assert (poller.lost, len(poller.polls)) == (1, 2)


async def play_line(dut, bench: Bench) -> list[tuple[int, int]]:
    """Keep R/B# low for some time from each command that makes the die busy; cycles of its changes."""
    levels = [(0, 1)]
    line, seen = dut.line_reader__line, 0
    line.value = 1
    busy = {BusOp.READ_LAST, BusOp.CACHE_READ_LAST, BusOp.CACHE_READ_NEXT, BusOp.CACHE_READ_END}

    async def run() -> None:
        nonlocal seen
        until = 0
        while True:
            await RisingEdge(dut.clk)
            log, now = bench.around.log, bench.around.cycle
            for event in log[seen:]:
                if event.what in busy:
                    until = now + random.randint(1, 2 * CYCLES("tr"))
            seen = len(log)
            level = int(now >= until)
            if level != levels[-1][1]:
                levels.append((now, level))
            line.value = level

    cocotb.start_soon(run())
    return levels


@cocotb.test()
@cocotb.parametrize(granted=[1.0, 0.0])
async def reads_wait_for_the_line(dut, granted):
    """No status of a read while the line is low; suspended reads of this project have no line."""
    bench = Bench(dut, 1.0, granted=granted, name="line_reader")
    suspended = not granted
    await bench.begin(suspendable=suspended, array_busy=suspended, line=1)
    levels = await play_line(dut, bench)
    if suspended:
        dut.line_reader__line.value = 0
        levels.append((0, 0))
    await bench.read([read for read in some_reads(12 if suspended else 24) if not read["statistics"]])
    polls = [event.cycle for event in bench.around.log if event.what is BusOp.STATUS]
    assert polls
    if suspended:
        return
    for poll in polls:
        # The poll was requested some cycles ago; the line has been high since then.
        changed, level = max(change for change in levels if change[0] < poll)
        assert level == 1, (poll, changed)
