"""Knows when a die is worth asking whether it is ready, and asks."""

from typing import NamedTuple

from amaranth import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import NandTiming
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.timing import Duration, ns

from .timer import TimerPort


class Work(enum.Enum, shape=3):
    """What the die was told to do, and so when it can be done."""

    RESET = 0
    SENSE = 1
    CACHE_SENSE = 2  # after the sense under way, if there is one
    CACHE_END = 3  # the same, without a sense of its own
    PROGRAM = 4  # after the program under way, if there is one
    LAST_PROGRAM = 5  # nothing new: the program under way
    ERASE = 6


class Pause(enum.Enum, shape=2):
    """A wait that needs no status."""

    NONE = 0
    NEXT_PLANE = 1  # tWB + tDBSY
    CHANGE_COLUMN = 2  # tCCS


class _Plan(NamedTuple):
    """How the watch follows a kind of work; the times are names of `NandTiming`."""

    array: str | None  # what the array does
    queued: bool  # behind what it does already; the die is ready when that is over
    until: DieStatus
    interval: Duration  # between polls once the die has proved late


_PLANS = {
    Work.RESET: _Plan("trst", False, DieStatus.RDY, ns(1_000)),
    Work.SENSE: _Plan("tr", False, DieStatus.RDY, ns(500)),
    Work.CACHE_SENSE: _Plan("tr", True, DieStatus.RDY, ns(500)),
    Work.CACHE_END: _Plan(None, True, DieStatus.RDY, ns(500)),
    Work.PROGRAM: _Plan("tprog", True, DieStatus.RDY, ns(1_000)),
    Work.LAST_PROGRAM: _Plan(None, False, DieStatus.ARDY, ns(1_000)),
    Work.ERASE: _Plan("tbers", False, DieStatus.ARDY, ns(20_000)),
}


_PAUSES = {Pause.NEXT_PLANE: ("twb", "tdbsy"), Pause.CHANGE_COLUMN: ("tccs",)}


class DieTimers(wiring.Signature):
    """The timers of a `DieWatch`, as it sees them.

    Members
    -------
    array : Out(TimerPort)   follows the array
    short : Out(TimerPort)   pauses, the least busy time of a cache command, the interval between polls
    """

    def __init__(self, timing: NandTiming):
        clocks, twb = timing.clocks, timing.clocks("twb")
        array = [clocks(plan.array) for plan in _PLANS.values() if plan.array]
        short = [sum(clocks(name) for name in names) for names in _PAUSES.values()]
        short += [plan.interval.clocks(timing.clock_mhz) for plan in _PLANS.values()]
        super().__init__({
            "array": Out(TimerPort(bits_for(twb + max(array) + 1))),
            "short": Out(TimerPort(bits_for(max(*short, twb + clocks("tcbsy")) + 1))),
        })  # fmt: skip


class WatchPort(wiring.Signature):
    """The watch as a user of the die sees it.

    Members
    -------
    begin : Out(1)    the command for `work` has just been sent
    work : Out(Work)
    over : In(1)      pulse: the status byte says that the die is ready, and is still on `bus_status`
    due : In(1)       the array is idle, as far as can be told without asking
    pause : Out(Pause)   starts a pause; NONE otherwise
    paused : In(1)
    """

    def __init__(self):
        super().__init__({
            "begin": Out(1),
            "work": Out(Work),
            "over": In(1),
            "due": In(1),
            "pause": Out(Pause),
            "paused": In(1),
        })  # fmt: skip


class DieWatch(wiring.Component):
    """Predicts the end of a die's work with two timers, then polls until the status says so.

    The timers are in `ChannelClockwork`. Work that is queued behind other work starts, for the timer, when
    that was predicted to end; only if a poll has come too early is the timer set right, by the poll that
    succeeds. So the prediction does not creep away from the array however late the polls get the bus.

    Latency: 1 clock from a timer's end to the request of a poll.

    Members
    -------
    port : In(WatchPort)
    timers : Out(DieTimers)
    ask : Out(1), asked : In(1)   requests a STATUS operation, until it is accepted
    bus_done : In(1)
    bus_status : In(8)
    """

    def __init__(self, timing: NandTiming):
        self.timing = timing
        super().__init__({
            "port": In(WatchPort()),
            "timers": Out(DieTimers(timing)),
            "ask": Out(1),
            "asked": In(1),
            "bus_done": In(1),
            "bus_status": In(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        clocks = self.timing.clocks
        twb = clocks("twb")
        cache_busy = twb + clocks("tcbsy")
        intervals = {work: plan.interval.clocks(self.timing.clock_mhz) for work, plan in _PLANS.items()}
        array_times = {work: clocks(plan.array) for work, plan in _PLANS.items() if plan.array}

        array, short = self.timers.array, self.timers.short

        def start(timer, length: int) -> None:
            m.d.comb += [timer.start.eq(1), timer.clocks.eq(length)]

        m.d.comb += [self.port.due.eq(~array.running), self.port.paused.eq(short.running)]
        with m.Switch(self.port.pause):
            for pause, names in _PAUSES.items():
                with m.Case(pause):
                    start(short, sum(clocks(name) for name in names))

        work = Signal(Work)
        late = Signal()
        ready = Signal()
        with m.Switch(work):
            for kind, plan in _PLANS.items():
                with m.Case(kind):
                    m.d.comb += ready.eq((self.bus_status & plan.until.value) != 0)

        def start_queued():
            with m.Switch(work):
                for kind, plan in _PLANS.items():
                    if plan.queued and plan.array:
                        with m.Case(kind):
                            start(array, array_times[kind] - 1)

        with m.FSM(name="watch"):
            with m.State("QUIET"):
                with m.If(self.port.begin):
                    m.d.sync += [work.eq(self.port.work), late.eq(0)]
                    with m.Switch(self.port.work):
                        for kind, plan in _PLANS.items():
                            with m.Case(kind):
                                if plan.queued:
                                    start(short, cache_busy)
                                elif plan.array:
                                    start(array, twb + array_times[kind])
                    m.next = "ARRAY_WORKS"
            with m.State("ARRAY_WORKS"):
                with m.If(~array.running):
                    start_queued()
                    m.next = "NOT_YET"
            with m.State("NOT_YET"):
                with m.If(~short.running):
                    m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += self.ask.eq(1)
                with m.If(self.asked):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.If(self.bus_done & ready):
                    m.d.comb += self.port.over.eq(1)
                    with m.If(late):
                        start_queued()
                    m.next = "QUIET"
                with m.Elif(self.bus_done):
                    m.d.sync += late.eq(1)
                    with m.Switch(work):
                        for kind, interval in intervals.items():
                            with m.Case(kind):
                                start(short, interval)
                    m.next = "NOT_YET"
        return m
