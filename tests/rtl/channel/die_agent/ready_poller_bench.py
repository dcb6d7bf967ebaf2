"""cocotb tests of the ready poller: the first poll, polls after it, pauses, a die that is lost."""

import random

import cocotb
from cocotb.triggers import Event, RisingEdge

from flashtrain.rtl.channel.die_agent.ready_poller import Pause, Work
from flashtrain.sim.bench.streams import start
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.timing import ns
from flashtrain.spec.update_time import compute_cycles
from tests.rtl.channel.die_agent.agent_units import CONFIG, agent_units
from tests.rtl.channel.timeout_streams import clock_now, until, wait

IDLE_INPUTS = agent_units().idle_inputs()
CYCLES = CONFIG.timing.cycles
TWB = CYCLES("twb")
SLACK = 5
"""Cycles of the poller's registers, from a command to the timer and from the timer to the poll."""
BUSY = 0
SUSPENSION = sum(map(CYCLES, ("tsusp", "tr", "tres")))

# Of work that waits for nothing: the array's time, the status bit that ends it, and the time between polls.
ALONE = {
    Work.RESET: ("trst", DieStatus.RDY, 1_000),
    Work.ERASE: ("tbers", DieStatus.ARDY, 20_000),
    Work.LONE_SENSE: ("tr", DieStatus.ARDY, 500),
    Work.LONE_PROGRAM: ("tprog", DieStatus.ARDY, 1_000),
    Work.FEATURE: ("tfeat", DieStatus.RDY, 500),
}


class Poller:
    """Plays the unit that owns the die, and the bus. Statuses are those that `answers` gives, then ready."""

    def __init__(self, dut, name: str = "poller"):
        self.dut, self.name = dut, name
        self.answers: list[int] = []
        self.polls: list[int] = []  # when each was requested
        self.ends: list[int] = []  # the cycle of the operation's end
        self.ready: list[int] = []
        self.lost = 0
        self._became_ready = Event()
        cocotb.start_soon(self._bus())
        cocotb.start_soon(self._watch("port__ready"))
        cocotb.start_soon(self._watch("lost"))

    def get(self, name: str) -> int:
        return int(getattr(self.dut, f"{self.name}__{name}").value)

    def set(self, **values: int) -> None:
        for name, value in values.items():
            getattr(self.dut, f"{self.name}__{name}").value = value

    async def _bus(self) -> None:
        while True:
            await until(self.dut, getattr(self.dut, f"{self.name}__poll"))
            self.polls.append(clock_now())
            await wait(self.dut, random.randint(0, 5))
            self.set(poll_accepted=1)
            await RisingEdge(self.dut.clk)
            self.set(poll_accepted=0)
            await wait(self.dut, random.randint(20, 40))
            self.set(bus_status=self.answers.pop(0) if self.answers else 0xFF)
            await RisingEdge(self.dut.clk)
            self.set(bus_done=1)
            await RisingEdge(self.dut.clk)
            self.ends.append(clock_now())
            self.set(bus_done=0, bus_status=random.getrandbits(8))

    async def _watch(self, name: str) -> None:
        signal = getattr(self.dut, f"{self.name}__{name}")
        while True:
            await until(self.dut, signal)
            if name == "lost":
                self.lost += 1
            else:
                self.ready.append(clock_now())
                self._became_ready.set()

    async def begin(self, work: Work) -> int:
        """Start the poller; the cycle in which the start was sampled."""
        self.set(port__start=1, port__work=work.value)
        await RisingEdge(self.dut.clk)
        began = clock_now()
        self.set(port__start=0, port__work=0)
        return began

    async def until_ready(self, count: int) -> None:
        while len(self.ready) < count:
            self._became_ready.clear()
            await self._became_ready.wait()

    async def do(self, work: Work) -> tuple[int, int]:
        """The cycle of the start, and the first poll's, counted from it."""
        polls, ready = len(self.polls), len(self.ready)
        began = await self.begin(work)
        await self.until_ready(ready + 1)
        return began, self.polls[polls] - began


def close(cycles: int, expected: int) -> bool:
    return expected - 2 <= cycles <= expected + SLACK


@cocotb.test()
async def polls_when_the_array_is_due(dut):
    """The first poll comes at tWB and the time of the work, and `ready` two cycles behind the status."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    for work, (time, _, _) in random.sample(list(ALONE.items()), len(ALONE)):
        _, first = await poller.do(work)
        assert close(first, TWB + CYCLES(time)), (work, first)
        assert 1 <= poller.ready[-1] - poller.ends[-1] <= 2
    assert len(poller.polls) == len(ALONE) and not poller.lost


@cocotb.test()
async def polls_again_after_an_interval(dut):
    """A busy die is polled at intervals until the bit is set that ends the work; no other bit does."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    for work, (_, bit, interval) in ALONE.items():
        before = len(poller.polls)
        poller.answers = [0xFF & ~bit.value, BUSY, bit.value]
        await poller.do(work)
        polls, ends = poller.polls[before:], poller.ends[before:]
        assert len(polls) == 3
        for end, poll in zip(ends, polls[1:], strict=False):
            assert close(poll - end, ns(interval).cycles_at(CONFIG.timing.clock_mhz)), work
    assert not poller.lost


@cocotb.test()
async def queues_programs(dut):
    """A program behind another: the die is ready when the array has taken it, at the end of the first."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    tprog, taken = CYCLES("tprog"), TWB + CYCLES("tcbsy")
    began, first = await poller.do(Work.PROGRAM)
    assert close(first, taken)
    for _ in range(3):
        await wait(dut, random.randint(1, tprog // 2))
        second, first = await poller.do(Work.PROGRAM)
        due = max(taken, began + TWB + tprog - second)
        # The end of the program before is taken for the start of this one.
        assert -TWB - 2 <= first - due <= SLACK, (first, due)
        began = second + first - TWB
    # The end of the last one, as predicted; then late by a poll that finds it busy.
    while not poller.get("port__array_idle"):
        await RisingEdge(dut.poller__port__array_idle)
        await RisingEdge(dut.clk)
    assert -TWB - 2 <= clock_now() - (began + TWB + tprog) <= SLACK
    _, first = await poller.do(Work.LAST_PROGRAM)
    assert first <= SLACK


@cocotb.test()
async def a_late_status_corrects_the_prediction(dut):
    """A program that took longer: the next one is predicted from the poll that found the die ready."""
    await start(dut, **IDLE_INPUTS)
    poller, tprog = Poller(dut), CYCLES("tprog")
    await poller.do(Work.PROGRAM)
    poller.answers = [BUSY, BUSY]
    await poller.do(Work.PROGRAM)
    found = poller.ends[-1]
    began, first = await poller.do(Work.PROGRAM)
    assert close(began + first - found, tprog), (began + first - found, tprog)


@cocotb.test()
async def suspended_reads_prolong_the_work(dut):
    """Each suspended read adds tSUSP, tR and tRES, whenever it comes; none is counted in an idle array."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    for reads in (1, 3):
        for _ in range(2):  # in an idle array
            poller.set(suspend=1)
            await RisingEdge(dut.clk)
            poller.set(suspend=0)
            await wait(dut, 20)
        polls = len(poller.polls)
        began = await poller.begin(Work.ERASE)
        for _ in range(reads):
            await wait(dut, random.randint(20, CYCLES("tbers") // (reads + 1)))
            poller.set(suspend=1)
            await RisingEdge(dut.clk)
            poller.set(suspend=0)
        await poller.until_ready(len(poller.ready) + 1)
        expected = TWB + CYCLES("tbers") + reads * SUSPENSION
        assert close(poller.polls[polls] - began, expected), (poller.polls[polls] - began, expected)


@cocotb.test()
async def waits_for_the_data_registers_and_the_bus(dut):
    """No poll while a suspended read holds the data registers or the unit uses the bus."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    for name in ("registers_held", "port__defer"):
        poller.set(**{name: 1})
        await poller.begin(Work.LONE_SENSE)
        await wait(dut, TWB + CYCLES("tr") + 300)
        assert not poller.polls and poller.get("program_delayed") == (name == "registers_held")
        released = clock_now()
        poller.set(**{name: 0})
        await poller.until_ready(1)
        assert poller.polls[0] - released <= SLACK
        poller.polls.clear()
        poller.ready.clear()


@cocotb.test()
async def updates_are_due_with_the_update_unit(dut):
    """An update: sense, and the update unit's work for the smallest tile with so many pages of gradients."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    for page, computes in enumerate(compute_cycles(CONFIG)):
        poller.set(last_page=page)
        _, first = await poller.do(Work.FIRST_UPDATE)
        assert close(first, CYCLES("tr") + computes), (first, computes)
        _, first = await poller.do(Work.LONE_SENSE)  # leaves an idle array


@cocotb.test()
async def pauses_take_their_time(dut):
    """`paused` from the cycle after the pause on; the next request may come at the end of the time."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    times = {
        Pause.NEXT_PLANE: ("twb", "tdbsy"), Pause.CHANGE_COLUMN: ("tccs",), Pause.CONFIRM: ("twb",),
        Pause.ADDRESS: ("tadl",),
    }  # fmt: skip
    for pause, names in random.sample(list(times.items()), len(times)):
        poller.set(port__pause=pause.value)
        await RisingEdge(dut.clk)
        began = clock_now()
        poller.set(port__pause=0)
        await RisingEdge(dut.clk)
        while poller.get("port__paused"):
            await RisingEdge(dut.clk)
        assert close(clock_now() - began, sum(map(CYCLES, names))), pause
    assert not poller.polls


@cocotb.test()
async def a_die_that_stays_busy_is_lost(dut):
    """With the poll that exceeds the limit, and each further one; a ready die starts the count anew."""
    await start(dut, **IDLE_INPUTS)
    poller = Poller(dut)
    most = CONFIG.late_polls
    poller.answers = [BUSY] * (most - 1)
    await poller.do(Work.FEATURE)
    assert poller.lost == 0
    poller.answers = [BUSY] * (most + 2)
    await poller.do(Work.FEATURE)
    assert poller.lost == 3
