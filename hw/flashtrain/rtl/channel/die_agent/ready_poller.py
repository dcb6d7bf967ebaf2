"""Predicts when a die is ready and polls its status from then on; takes a die for lost that stays busy."""

from functools import reduce
from operator import or_
from typing import NamedTuple

from amaranth import Module, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.timer import HoldTimer, Timer, TimerPort
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.timing import Duration, ns
from flashtrain.spec.update_time import compute_cycles

from .ready_line import ReadyLine, line_ports, shown_cycles


class Work(enum.Enum, shape=4):
    """The work that a die was sent, which determines when it can be ready."""

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
    """Prediction and polls for a kind of work; the times are names of `NandTiming`."""

    array: tuple[str, ...]  # times of the array
    queued: bool  # behind earlier work of the array; the die is ready at the end of that
    until: DieStatus
    interval: Duration  # between polls after the first one


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
"""The die is ready at the end of its update unit's work, not at the start or end of the array's."""


_OF_MOVES = (Work.LONE_SENSE, Work.LONE_PROGRAM)
_OF_RETRIES = (Work.LONE_SENSE, Work.FEATURE)


_JUDGED = (Work.LAST_PROGRAM, Work.ERASE, Work.LONE_PROGRAM)
"""These may have failed. At the end of `PROGRAM` it is the program before it, if that is what there was."""


def polls_planes(config: FmsConfig) -> bool:
    """Whether a status is that of one plane (78h). Then the poller asks one plane after the other."""
    return config.chips.luns > 1 and config.geometry.planes > 1


def _plans(config: FmsConfig) -> dict[Work, _Plan]:
    """Plans of the kinds of work that a configuration has."""
    kinds = {*Work} - {*_OF_MOVES, *_OF_RETRIES}
    if config.geometry.spare_blocks:
        kinds |= {*_OF_MOVES}
    if config.read_levels:
        kinds |= {*_OF_RETRIES}
    if config.chips.sdr:
        kinds |= {Work.FEATURE}
    if not config.chips.cache_program:
        kinds |= {Work.LONE_PROGRAM}
    return {work: plan for work, plan in _PLANS.items() if work in kinds}


_PAUSES = {
    Pause.NEXT_PLANE: ("twb", "tdbsy"),
    Pause.CONFIRM: ("twb",),
    Pause.ADDRESS: ("tadl",),
}

_SUSPENSION = ("tsusp", "tr", "tres")
"""The time by which a suspended read prolongs a program or erase."""


class PollLimit(wiring.Component):
    """Counts the consecutive polls that find the die busy.

    Latency: `exceeded` is combinational.

    Members
    -------
    busy : In(1)       pulse: a poll found the die busy
    ready : In(1)      pulse: a poll found it ready
    last : Out(1)      the next busy poll exceeds the limit
    exceeded : Out(1)  pulse, with the last of `polls` and each further one

    Parameters
    ----------
    polls : 2 and more
    """

    def __init__(self, polls: int):
        self.polls = polls
        super().__init__({"busy": In(1), "ready": In(1), "last": Out(1), "exceeded": Out(1)})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.polls), init=self.polls - 1)
        m.d.comb += self.exceeded.eq(self.busy & self.last)
        with m.If(self.ready):
            m.d.sync += [left.eq(self.polls - 1), self.last.eq(0)]
        with m.Elif(self.busy & ~self.last):
            m.d.sync += [left.eq(left - 1), self.last.eq(left == 1)]
        return m


class PollerPort(wiring.Signature):
    """The ready poller as a unit of the agent sees it.

    Members
    -------
    start : Out(1)     the command for `work` has just been sent
    work : Out(Work)
    ready : In(1)      pulse: the status byte, now on `bus_status`, reads ready
    array_idle : In(1) by prediction
    defer : Out(1)     the unit uses the bus although the die works: no poll now
    polling : In(1)    a poll is under way
    pause : Out(Pause)   starts a pause; NONE otherwise
    paused : In(1)
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "start": Out(1),
            "work": Out(Work),
            "ready": In(1),
            "array_idle": In(1),
            "defer": Out(1),
            "polling": In(1),
            "pause": Out(Pause),
            "paused": In(1),
        })  # fmt: skip


class ReadyPoller(wiring.Component):
    """Predicts the end of a die's work with two timers, then polls until the status reads ready.

    Queued work starts, for the array timer, at the predicted end of the work before it. Only if a poll has
    come too early does the poll that succeeds correct the timer. So late polls do not shift the prediction.

    A suspended read prolongs the work of the array. The prediction is prolonged as much when it would end,
    once for each such read, so a timer needs no adder. While a suspended read holds the data registers, no
    program that waits for the array can begin, and polls are deferred. So they are while a command of a maker
    has suspended the work: its status would be that of a die without any.

    An update begins when the array is idle. The short timer predicts the end of the update unit's work, for
    the smallest tile that it can be. The array timer goes on with the array, whose program may take longer.

    A die that `late_polls` consecutive polls find busy is lost.

    With several LUNs a status reports FAIL of one plane. So each plane has a poll at the end of a program or
    of an erase. A program with none before it has no failure to report yet, and one poll.

    With R/B# no poll is sent before the line is high, and one at once then (`ReadyLine`). The line shows RDY:
    of ARDY, behind the end of a cache program, polls at intervals find the rise.

    Units' requests are registered, and the end of a pause is reported a cycle late; the timers run so much
    shorter. Each bit of a status is decoded a cycle after it comes, with the end of its operation.

    Latency: 1 cycle from a timer's end to the request of a poll.

    Members
    -------
    port : In(PollerPort)
    last_page : In     of the gradients of an update: it determines the shortest time of the update unit
    suspend : In(1)    pulse: a suspended read has been sent
    registers_held : In(1)   a suspended read holds the data registers
    program_delayed : Out(1) by prediction, a program waits for them
    working : Out(1)   with commands of a maker, or a shared line: some work has not been seen to end
    line, alone : In(1)   with R/B#, see `ReadyLine`
    poll : Out(1), poll_accepted : In(1)   requests a STATUS operation, until it is accepted
    bus_status : In(8), bus_done : In(1)   the operation has ended, its status came a cycle ago; a cycle later
                       `ready` may report it
    lost : Out(1)      pulse, with the poll that exceeds the limit and each further busy one

    With several LUNs of several planes:

    plane : Out        of the poll
    failures : Out(2)  FAIL and FAILC of the planes before, valid with `ready`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._plans = _plans(config)
        cycles = config.timing.cycles
        self._twb = cycles("twb")
        self._cache_busy = self._twb + cycles("tcbsy")
        self._suspension = sum(map(cycles, _SUSPENSION))
        self._array_times = {work: sum(map(cycles, plan.array)) for work, plan in self._plans.items()}
        self._intervals = {
            work: plan.interval.cycles_at(config.timing.clock_mhz) for work, plan in self._plans.items()
        }
        self._pauses = {pause: sum(map(cycles, names)) for pause, names in _PAUSES.items()}
        self._pauses[Pause.CHANGE_COLUMN] = config.column_change_cycles
        self._compute = compute_cycles(config)
        self._by_plane = polls_planes(config)
        self._judges = Signal()  # a failure may be reported, of any plane
        self._shown = 0  # cycles for which the line may still be high after a command
        self._line: ReadyLine | None = None
        if config.chips.ready_busy:
            self._shown = shown_cycles(config)
            self._line = ReadyLine(config, max(self._intervals.values()))
        self._cache_busy = max(self._cache_busy, self._shown)
        longest = max(*self._array_times.values(), self._suspension, self._shown)
        self._array_timer = Timer(bits_for(self._twb + longest + 1))
        # Pauses, the least busy time of a cache command, poll intervals, and the update unit's work.
        short = (*self._pauses.values(), *self._intervals.values(), self._cache_busy)
        computes = max(cycles("tr") + max(self._compute), self._shown)
        self._short_timer = Timer(bits_for(max(*short, computes) + 1))
        self._limit = PollLimit(config.late_polls)
        super().__init__({
            "port": In(PollerPort(config)),
            "last_page": In(config.geometry.plane_bits),
            "suspend": In(1),
            "registers_held": In(1),
            "program_delayed": Out(1),
            "poll": Out(1),
            "poll_accepted": In(1),
            "bus_done": In(1),
            "bus_status": In(8),
            "lost": Out(1),
            **({"plane": Out(config.geometry.plane_bits), "failures": Out(2)} if self._by_plane else {}),
            **({"working": Out(1)} if self._reports_work else {}),
            **line_ports(config),
        })  # fmt: skip

    @property
    def _reports_work(self) -> bool:
        return self.config.chips.has_maker_suspend or self.config.chips.shares_ready_busy

    def elaborate(self, platform):
        m = Module()
        m.submodules.limit = self._limit
        m.submodules.array_timer = self._array_timer
        m.submodules.short_timer = self._short_timer
        m.d.comb += self.lost.eq(self._limit.exceeded)
        array_busy = self._prolong(m)
        # The units' states are far away: their requests are registered.
        started, started_work, pause = Signal(), Signal(Work), Signal(Pause)
        pausing = Signal()
        m.d.sync += [
            started.eq(self.port.start),
            started_work.eq(self.port.work),
            pause.eq(self.port.pause),
            pausing.eq(self.port.pause != Pause.NONE),
            self.port.paused.eq((self.port.pause != Pause.NONE) | pausing | self._short_timer.port.running),
        ]
        work, late, ready = Signal(Work), Signal(), Signal()
        m.d.comb += self.port.array_idle.eq(~array_busy)
        with m.Switch(work):
            for kind, plan in self._plans.items():
                with m.Case(kind):
                    m.d.sync += ready.eq((self.bus_status & plan.until.value) != 0)
        m.d.sync += self.port.ready.eq(0)
        with m.FSM(name="poller") as fsm:
            self._start(m, started, started_work, work, late)
            self._wait(m, array_busy, work, late)
            self._poll(m, work, late, ready)
        # A pause starts the short timer at a time when nothing else does.
        with m.Switch(pause):
            for kind, cycles in self._pauses.items():
                with m.Case(kind):
                    _start(m, self._short_timer.port, cycles - 2)
        m.d.comb += self.port.polling.eq(fsm.ongoing("POLL") | fsm.ongoing("STATUS"))
        if self._reports_work:
            m.d.comb += self.working.eq(~fsm.ongoing("IDLE"))
        if self._line is not None:
            self._follow_line(m, self._line, work)
        return m

    def _follow_line(self, m: Module, line: ReadyLine, work) -> None:
        m.submodules.line = line
        forward(m, line, self, line_ports(self.config))
        if self.config.chips.has_maker_suspend:
            # The line falls again, up to tWB after the work was resumed.
            m.submodules.resumed = resumed = HoldTimer(self._shown)
            m.d.comb += [
                resumed.held.eq(self.registers_held),
                line.line.eq(self.line & ~resumed.running),
            ]
        m.d.comb += [line.last.eq(self._limit.last), line.ready.eq(self._limit.ready)]
        with m.Switch(work):
            for kind, interval in self._intervals.items():
                with m.Case(kind):
                    m.d.comb += line.interval.eq(interval)

    def _prolong(self, m: Module) -> Signal:
        """Adds suspensions to the prediction of the array's work; returns whether the array is busy by it."""
        timer = self._array_timer.port
        suspensions, pending = Signal(4), Signal()  # not yet in the prediction; there are some
        array_busy, prolong, suspend = Signal(), Signal(), Signal()
        m.d.comb += [prolong.eq(~timer.running & pending), array_busy.eq(timer.running | pending)]
        with m.If(prolong):
            _start(m, timer, self._suspension - 1)
        m.d.sync += suspend.eq(self.suspend)
        with m.If(suspend & array_busy & ~suspensions.all()):
            m.d.sync += [suspensions.eq(suspensions + ~prolong), pending.eq(1)]
        with m.Elif(prolong):
            m.d.sync += [suspensions.eq(suspensions - 1), pending.eq(suspensions != 1)]
        return array_busy

    def _start(self, m: Module, started: Signal, started_work, work, late: Signal) -> None:
        short = self._short_timer.port
        with m.State("IDLE"):
            _set(m, short, self._cache_busy - 1)
            with m.If(started):
                m.d.sync += [work.eq(started_work), late.eq(0)]
                if self._by_plane:
                    follows = (started_work == Work.PROGRAM) & (work == Work.PROGRAM)
                    m.d.sync += [
                        self.plane.eq(0),
                        self.failures.eq(0),
                        self._judges.eq(follows | _is(started_work, _JUDGED)),
                    ]
                with m.Switch(started_work):
                    for kind, plan in self._plans.items():
                        with m.Case(kind):
                            if plan.queued and kind not in _UPDATES:
                                m.d.comb += short.start.eq(1)
                            elif plan.array and not plan.queued:
                                busy = max(self._twb + self._array_times[kind], self._shown)
                                _start(m, self._array_timer.port, busy - 1)
                m.next = "ARRAY_BUSY"

    def _wait(self, m: Module, array_busy: Signal, work, late: Signal) -> None:
        short = self._short_timer.port
        tr = self.config.timing.cycles("tr")
        with m.State("ARRAY_BUSY"):
            with m.Switch(self.last_page):
                for page, cycles in enumerate(self._compute):
                    with m.Case(page):
                        _set(m, short, max(tr + cycles, self._shown))
            with m.If(~array_busy):
                self._start_queued(m, work, self._plans)
                with m.If((work == Work.FIRST_UPDATE) | (work == Work.UPDATE)):
                    m.d.comb += short.start.eq(1)
                m.next = "INTERVAL"
        with m.State("INTERVAL"):
            with m.If(~short.running & self.registers_held):
                m.d.comb += self.program_delayed.eq(1)
                m.d.sync += late.eq(1)
            with m.Elif(~short.running & ~self.port.defer):
                m.next = "POLL"
                if self._line is not None:
                    m.d.comb += [self._line.waits.eq(1), self._limit.busy.eq(self._line.late)]
                    with m.If(~self._line.due):
                        m.next = "INTERVAL"
                    with m.If(self._line.late):
                        m.d.sync += late.eq(1)

    def _poll(self, m: Module, work, late: Signal, ready: Signal) -> None:
        short = self._short_timer.port
        tprog = self.config.timing.cycles("tprog")
        with m.State("POLL"):
            m.d.comb += self.poll.eq(1)
            with m.If(self.poll_accepted):
                m.next = "STATUS"
        with m.State("STATUS"):
            with m.Switch(work):
                for kind, interval in self._intervals.items():
                    with m.Case(kind):
                        _set(m, short, interval)
            judged: Value = self.bus_done
            if self._by_plane:
                more = ready & self._judges & (self.plane != self.config.geometry.planes - 1)
                judged = self.bus_done & ~more
                with m.If(self.bus_done & more):
                    m.d.sync += [
                        self.plane.eq(self.plane + 1),
                        self.failures.eq(self.failures | self.bus_status[:2]),
                    ]
                    m.next = "POLL"
            with m.If(judged & ready):
                m.d.sync += self.port.ready.eq(1)
                m.d.comb += self._limit.ready.eq(1)
                with m.If(late):
                    self._start_queued(m, work, [kind for kind in self._plans if kind not in _UPDATES])
                    with m.If(work == Work.UPDATE):
                        with m.Switch(self.last_page):
                            for page, cycles in enumerate(self._compute):
                                with m.Case(page):
                                    _start(m, self._array_timer.port, tprog - cycles)
                m.next = "IDLE"
            with m.Elif(judged):
                m.d.comb += [self._limit.busy.eq(1), short.start.eq(1)]
                m.d.sync += late.eq(1)
                m.next = "INTERVAL"

    def _start_queued(self, m: Module, work, kinds) -> None:
        """Queued work of these kinds begins on the array."""
        with m.Switch(work):
            for kind in kinds:
                if self._plans[kind].queued and self._plans[kind].array:
                    with m.Case(kind):
                        _start(m, self._array_timer.port, self._array_times[kind] - 1)


def _is(work, kinds: tuple[Work, ...]) -> Value:
    return reduce(or_, (work == kind for kind in kinds))


def _set(m: Module, timer: TimerPort, cycles: int) -> None:
    m.d.comb += timer.cycles.eq(max(cycles, 1))


def _start(m: Module, timer: TimerPort, cycles: int) -> None:
    _set(m, timer, cycles)
    m.d.comb += timer.start.eq(1)
