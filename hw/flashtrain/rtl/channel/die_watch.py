"""Knows when a die is worth asking whether it is ready, and asks."""

from collections.abc import Callable
from typing import NamedTuple

from amaranth import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.timing import Duration, ns

from .patience import Patience
from .read_waits import SUSPENSION, wait_clocks
from .timer import TimerPort
from .update_time import unit_clocks


class Work(enum.Enum, shape=4):
    """What the die was told to do, and so when it can be done."""

    RESET = 0
    PROGRAM = 1  # after the program under way, if there is one
    LAST_PROGRAM = 2  # nothing new: the program under way
    ERASE = 3
    FIRST_UPDATE = 4  # sense and compute
    UPDATE = 5  # after the program under way, if there is one: sense, then compute while the array programs
    LONE_SENSE = 6  # nothing before it and nothing behind
    LONE_PROGRAM = 7
    FEATURE = 8  # the change of one


class Pause(enum.Enum, shape=3):
    """A wait that needs no status."""

    NONE = 0
    NEXT_PLANE = 1  # tWB + tDBSY
    CHANGE_COLUMN = 2  # tCCS
    CONFIRM = 3  # tWB
    ADDRESS = 4  # tADL


class _Plan(NamedTuple):
    """How the watch follows a kind of work; the times are names of `NandTiming`."""

    array: tuple[str, ...]  # what the array does
    queued: bool  # behind what it does already; the die is ready when that is over
    until: DieStatus
    interval: Duration  # between polls once the die has proved late


_PLANS = {
    Work.RESET: _Plan(("trst",), False, DieStatus.RDY, ns(1_000)),
    Work.PROGRAM: _Plan(("tprog",), True, DieStatus.RDY, ns(1_000)),
    Work.LAST_PROGRAM: _Plan((), False, DieStatus.ARDY, ns(1_000)),
    Work.ERASE: _Plan(("tbers",), False, DieStatus.ARDY, ns(20_000)),
    Work.FIRST_UPDATE: _Plan(("tr",), True, DieStatus.RDY, ns(500)),
    Work.UPDATE: _Plan(("tr", "tprog"), True, DieStatus.RDY, ns(500)),
    Work.LONE_SENSE: _Plan(("tr",), False, DieStatus.ARDY, ns(500)),
    Work.LONE_PROGRAM: _Plan(("tprog",), False, DieStatus.ARDY, ns(1_000)),
    Work.FEATURE: _Plan(("tfeat",), False, DieStatus.RDY, ns(500)),
}
_UPDATES = (Work.FIRST_UPDATE, Work.UPDATE)
"""The die is ready when its update unit is: neither when the array starts nor when it ends."""


_OF_MOVES = (Work.LONE_SENSE, Work.LONE_PROGRAM)
_OF_RETRIES = (Work.LONE_SENSE, Work.FEATURE)


def _plans(config: FmsConfig) -> dict[Work, _Plan]:
    """Those of works that there are."""
    there = {*Work} - {*_OF_MOVES, *_OF_RETRIES}
    if config.geometry.spare_blocks:
        there |= {*_OF_MOVES}
    if config.read_levels:
        there |= {*_OF_RETRIES}
    return {work: plan for work, plan in _PLANS.items() if work in there}


_PAUSES = {
    Pause.NEXT_PLANE: ("twb", "tdbsy"),
    Pause.CHANGE_COLUMN: ("tccs",),
    Pause.CONFIRM: ("twb",),
    Pause.ADDRESS: ("tadl",),
}


class DieTimers(wiring.Signature):
    """The timers of a die's agent, as it sees them.

    Members
    -------
    read : Out(TimerPort)    the reader's
    array : Out(TimerPort)   follows the array
    short : Out(TimerPort)   pauses, the least busy time of a cache command, the interval between polls;
                             and the work of the update unit
    """

    def __init__(self, config: FmsConfig):
        timing = config.timing
        clocks, twb = timing.clocks, timing.clocks("twb")
        plans = _plans(config).values()
        array = [sum(map(clocks, plan.array)) for plan in plans]
        array += [sum(map(clocks, SUSPENSION))]
        short = [sum(map(clocks, names)) for names in _PAUSES.values()]
        short += [plan.interval.clocks(timing.clock_mhz) for plan in plans]
        short += [clocks("tr") + max(unit_clocks(config))]
        super().__init__({
            "read": Out(TimerPort(bits_for(max(wait_clocks(timing).values()) + 1))),
            "array": Out(TimerPort(bits_for(twb + max(array) + 1))),
            "short": Out(TimerPort(bits_for(max(*short, twb + clocks("tcbsy")) + 1))),
        })  # fmt: skip


class WatchPort(wiring.Signature):
    """The watch as a user of the die sees it.

    Members
    -------
    begin : Out(1)    the command for `work` has just been sent
    work : Out(Work)
    over : In(1)      pulse: the status byte, now on `bus_status`, says that the die is ready
    due : In(1)       the array is idle, as far as can be told without asking
    last_page : Out   of the gradients of an update: it tells how long the unit works at least
    hold : Out(1)     the user has the bus though the die works: do not ask now
    asking : In(1)    the watch has it
    pause : Out(Pause)   starts a pause; NONE otherwise
    paused : In(1)
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "begin": Out(1),
            "work": Out(Work),
            "over": In(1),
            "due": In(1),
            "last_page": Out(config.geometry.plane_bits),
            "hold": Out(1),
            "asking": In(1),
            "pause": Out(Pause),
            "paused": In(1),
        })  # fmt: skip


class DieWatch(wiring.Component):
    """Predicts the end of a die's work with two timers, then polls until the status says so.

    The timers are in `ChannelClockwork`. Work that is queued behind other work starts, for the timer, when
    that was predicted to end; only if a poll has come too early is the timer set right, by the poll that
    succeeds. So the prediction does not creep away from the array however late the polls get the bus.

    A read beside puts off the end of what the array does by a suspension. The prediction is put off as much
    when it would end, once for each: so a timer needs no addition. While the data registers are held for such
    a read no program that waits for the array can begin, and the die is not asked.

    An update begins when the array is idle. The end of the unit's work is predicted for the smallest tile
    that it can be; meanwhile the other timer goes on with the array, which may program longer than that.

    A die that `late_polls` polls have found busy, one after the other, is lost.

    What the user says is acted on a clock later, and the end of a pause is told a clock late; timers are told
    so much less.
    What is asked of a status is known a clock after it comes, with the end of its operation.

    Latency: 1 clock from a timer's end to the request of a poll.

    Members
    -------
    port : In(WatchPort)
    array, short : Out(TimerPort)   see `DieTimers`
    suspended : In(1)  pulse: a read beside has been sent
    held : In(1)       it has the data registers
    delayed : Out(1)   for all that can be told without asking, a program waits for them
    ask : Out(1), asked : In(1)   requests a STATUS operation, until it is accepted
    bus_status : In(8), bus_done : In(1)   the operation is over, its status came a clock ago; a clock later
                       `over` may tell of it
    lost : Out(1)      pulse, with the poll that gives the die up and each further one that finds it busy
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "port": In(WatchPort(config)),
            **{name: DieTimers(config).members[name] for name in ("array", "short")},
            "suspended": In(1),
            "held": In(1),
            "delayed": Out(1),
            "ask": Out(1),
            "asked": In(1),
            "bus_done": In(1),
            "bus_status": In(8),
            "lost": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.patience = patience = Patience(self.config.late_polls)
        m.d.comb += self.lost.eq(patience.over)
        timing, plans = self.config.timing, _plans(self.config)
        clocks = timing.clocks
        twb = clocks("twb")
        cache_busy = twb + clocks("tcbsy")
        intervals = {work: plan.interval.clocks(timing.clock_mhz) for work, plan in plans.items()}
        array_times = {work: sum(map(clocks, plan.array)) for work, plan in plans.items()}

        array, short = self.array, self.short

        def tell(timer, length: int) -> None:
            m.d.comb += timer.clocks.eq(max(length, 1))

        def start(timer, length: int) -> None:
            tell(timer, length)
            m.d.comb += timer.start.eq(1)

        suspensions, some = Signal(4), Signal()  # not yet in the prediction; there are some
        works = Signal()
        put_off = Signal()
        m.d.comb += [
            put_off.eq(~array.running & some),
            works.eq(array.running | some),
        ]
        with m.If(put_off):
            start(array, sum(map(clocks, SUSPENSION)) - 1)
        suspended = Signal()  # a clock late
        m.d.sync += suspended.eq(self.suspended)
        with m.If(suspended & works & ~suspensions.all()):
            m.d.sync += [suspensions.eq(suspensions + ~put_off), some.eq(1)]
        with m.Elif(put_off):
            m.d.sync += [suspensions.eq(suspensions - 1), some.eq(suspensions != 1)]

        # From the user, whose state is a long way off.
        begun, begun_work = Signal(), Signal(Work)
        pause, pauses = Signal(Pause), Signal()  # pauses: one begins
        m.d.sync += [
            begun.eq(self.port.begin),
            begun_work.eq(self.port.work),
            pause.eq(self.port.pause),
            pauses.eq(self.port.pause != Pause.NONE),
            self.port.paused.eq((self.port.pause != Pause.NONE) | pauses | short.running),
        ]
        m.d.comb += self.port.due.eq(~works)
        work = Signal(Work)
        late = Signal()
        ready = Signal()
        with m.Switch(work):
            for kind, plan in plans.items():
                with m.Case(kind):
                    m.d.sync += ready.eq((self.bus_status & plan.until.value) != 0)

        def start_queued(kinds) -> None:
            with m.Switch(work):
                for kind in kinds:
                    if plans[kind].queued and plans[kind].array:
                        with m.Case(kind):
                            start(array, array_times[kind] - 1)

        def for_the_tile(say: Callable, timer, length: Callable[[int], int]) -> None:
            with m.Switch(self.port.last_page):
                for number, unit in enumerate(unit_clocks(self.config)):
                    with m.Case(number):
                        say(timer, length(unit))

        others = [kind for kind in plans if kind not in _UPDATES]
        m.d.sync += self.port.over.eq(0)
        with m.FSM(name="watch") as fsm:
            with m.State("QUIET"):
                tell(short, cache_busy - 1)
                with m.If(begun):
                    m.d.sync += [work.eq(begun_work), late.eq(0)]
                    with m.Switch(begun_work):
                        for kind, plan in plans.items():
                            with m.Case(kind):
                                if plan.queued and kind not in _UPDATES:
                                    m.d.comb += short.start.eq(1)
                                elif plan.array and not plan.queued:
                                    start(array, twb + array_times[kind] - 1)
                    m.next = "ARRAY_WORKS"
            with m.State("ARRAY_WORKS"):
                for_the_tile(tell, short, lambda unit: clocks("tr") + unit)
                with m.If(~works):
                    start_queued(plans)
                    with m.If((work == Work.FIRST_UPDATE) | (work == Work.UPDATE)):
                        m.d.comb += short.start.eq(1)
                    m.next = "NOT_YET"
            with m.State("NOT_YET"):
                with m.If(~short.running & self.held):
                    m.d.comb += self.delayed.eq(1)
                    m.d.sync += late.eq(1)
                with m.Elif(~short.running & ~self.port.hold):
                    m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += self.ask.eq(1)
                with m.If(self.asked):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.Switch(work):
                    for kind, interval in intervals.items():
                        with m.Case(kind):
                            tell(short, interval)
                with m.If(self.bus_done & ready):
                    m.d.sync += self.port.over.eq(1)
                    m.d.comb += patience.rewarded.eq(1)
                    with m.If(late):
                        start_queued(others)
                        with m.If(work == Work.UPDATE):
                            for_the_tile(start, array, lambda unit: clocks("tprog") - unit)
                    m.next = "QUIET"
                with m.Elif(self.bus_done):
                    m.d.comb += [patience.tried.eq(1), short.start.eq(1)]
                    m.d.sync += late.eq(1)
                    m.next = "NOT_YET"
        # Nothing else of the short timer begins with a pause.
        with m.Switch(pause):
            for kind, names in _PAUSES.items():
                with m.Case(kind):
                    start(short, sum(map(clocks, names)) - 2)
        m.d.comb += self.port.asking.eq(fsm.ongoing("ASK") | fsm.ongoing("ANSWER"))
        return m
