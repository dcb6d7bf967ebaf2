"""cocotb tests of a die's agent beside R/B#: statuses of dies that are late, with the line and without."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from tests.rtl.channel.die_agent.agent_helpers import (
    CONFIG,
    CYCLES,
    Bench,
    a_set,
    random_lateness,
    send_random_work,
    whole_rows,
)
from tests.rtl.channel.die_model import DieModel
from tests.rtl.channel.timeout_streams import clock_now

WIRED = CONFIG.chips.ready_busy
SETS = 12


class WatchedDie(DieModel):
    """Counts the statuses of a die that is busy, but for those of its suspended reads."""

    busy_polls = 0

    def status(self, clock: int) -> int:
        self.busy_polls += self.suspended_since is None and not self.ready(clock)
        return super().status(clock)


async def play_line(dut, die: DieModel) -> None:
    """R/B# falls up to tWB behind a command, and rises with RDY."""
    before, low_from = die.ready_at, 0
    while True:
        await RisingEdge(dut.clk)
        now = clock_now()
        if die.ready_at != before:
            before, low_from = die.ready_at, now + random.randint(0, CYCLES("twb"))
        dut.line.value = int(die.ready(now) or now < low_from)


async def begin(dut, late) -> Bench:
    bench = Bench(dut, WatchedDie(CONFIG, "die", late=late))
    if WIRED:
        dut.line.value = 1
        cocotb.start_soon(play_line(dut, bench.die))
    await bench.start()
    return bench


@cocotb.test()
async def polls_a_die_that_is_late(dut):
    """Programs, reads and erases that take half as long again: no status while the line says busy."""
    bench = await begin(dut, lambda kind, cycles: cycles * 3 // 2)
    begun = clock_now()
    for row in range(SETS):
        bench.send_set(**a_set(row))
    await bench.finish()
    appended = clock_now()
    for read in whole_rows(0, SETS):
        bench.send_read(**read)
    await bench.finish()
    for zone in (3, 4):
        bench.send_erase(zone)
    await bench.finish()
    dut._log.info(
        f"R/B# {'wired' if WIRED else 'not wired'}: {SETS} programs in {appended - begun:,} cycles,"
        f" as many reads and 2 erases in {clock_now() - appended:,}; {bench.die.polls} statuses,"
        f" {bench.die.busy_polls} of a busy die"
    )
    assert (bench.die.busy_polls == 0) == WIRED


@cocotb.test()
async def random_work(dut):
    """All the agent does, with dies that are early and late: each result as without the line."""
    bench = await begin(dut, random_lateness)
    bench.delay = bench.pause = 40
    await send_random_work(bench, 40)
    await bench.finish()
    assert bench.die.polls and (not WIRED or bench.die.busy_polls == 0)


@cocotb.test(skip=not WIRED)
async def goes_on_beside_a_stuck_line(dut):
    """R/B# that is always low costs the limit of polls once for each unit that polls, and no die."""
    bench = Bench(dut, WatchedDie(CONFIG, "die"))
    dut.line.value = 0
    await bench.start()
    for row in range(SETS):
        bench.send_set(**a_set(row))
    for read in whole_rows(0, 2):
        bench.send_read(**read)
    await bench.finish()
    assert bench.lost_at is None
    begun = clock_now()
    for row in range(SETS):
        bench.send_set(**a_set(row))
    await bench.finish()
    assert clock_now() - begun < 2 * SETS * CYCLES("tprog")
