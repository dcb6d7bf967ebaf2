"""Knows when a die is worth asking whether it is ready, and asks."""

from typing import NamedTuple

from amaranth import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import NandTiming
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.timing import Duration, ns


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

    One timer follows the array, the other everything short: pauses, the least busy time of a cache command,
    and the interval between polls. Work that is queued behind other work starts, for the timer, when that was
    predicted to end; only if a poll has come too early is the timer set right, by the poll that succeeds. So
    the prediction does not creep away from the array however late the polls get the bus.

    Latency: 1 clock from a timer's end to the request of a poll.

    Members
    -------
    port : In(WatchPort)
    ask : Out(1), asked : In(1)   requests a STATUS operation, until it is accepted
    bus_done : In(1)
    bus_status : In(8)
    """

    def __init__(self, timing: NandTiming):
        self.timing = timing
        super().__init__({
            "port": In(WatchPort()),
            "ask": Out(1),
            "asked": In(1),
            "bus_done": In(1),
            "bus_status": In(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        clocks = self.timing.clocks
        twb = clocks("twb")
        pauses = {Pause.NEXT_PLANE: twb + clocks("tdbsy"), Pause.CHANGE_COLUMN: clocks("tccs")}
        cache_busy = twb + clocks("tcbsy")
        intervals = {work: plan.interval.clocks(self.timing.clock_mhz) for work, plan in _PLANS.items()}
        array_times = {work: clocks(plan.array) for work, plan in _PLANS.items() if plan.array}

        array = Signal(range(twb + max(array_times.values()) + 1))
        short = Signal(range(max(*pauses.values(), cache_busy, *intervals.values()) + 1))
        with m.If(array != 0):
            m.d.sync += array.eq(array - 1)
        with m.If(short != 0):
            m.d.sync += short.eq(short - 1)
        m.d.comb += [self.port.due.eq(array == 0), self.port.paused.eq(short != 0)]
        with m.Switch(self.port.pause):
            for pause, length in pauses.items():
                with m.Case(pause):
                    m.d.sync += short.eq(length)

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
                            m.d.sync += array.eq(array_times[kind] - 1)

        with m.FSM(name="watch"):
            with m.State("QUIET"):
                with m.If(self.port.begin):
                    m.d.sync += [work.eq(self.port.work), late.eq(0)]
                    with m.Switch(self.port.work):
                        for kind, plan in _PLANS.items():
                            with m.Case(kind):
                                if plan.queued:
                                    m.d.sync += short.eq(cache_busy)
                                elif plan.array:
                                    m.d.sync += array.eq(twb + array_times[kind])
                    m.next = "ARRAY_WORKS"
            with m.State("ARRAY_WORKS"):
                with m.If(array == 0):
                    start_queued()
                    m.next = "NOT_YET"
            with m.State("NOT_YET"):
                with m.If(short == 0):
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
                                m.d.sync += short.eq(interval)
                    m.next = "NOT_YET"
        return m
