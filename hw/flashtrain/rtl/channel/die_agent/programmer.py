"""Programs page sets on a die: the NAND program pipeline."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import PageSet, SetResult
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from .ready_poller import Pause, Work
from .unit_scheduler import unit_ports


class ProgrammedSet(data.StructLayout):
    """A page set whose program has been started; its slot is not free yet."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "slot": (config.write_sets - 1).bit_length(),
            "zone": g.zone_bits,
            "page": g.page_bits,
            "first": g.plane_bits,
            "last": g.plane_bits,
        })  # fmt: skip


class FailedSets(data.StructLayout):
    """From programmer to mover: the program of `first` has failed.

    If `both`, the program of `second`, which came after it, may have failed as well. Then FAILC of each plane
    is that of the first, and FAIL that of the second.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"first": ProgrammedSet(config), "second": ProgrammedSet(config), "both": 1})


class _State:
    """Registers that the phases of a program share."""

    def __init__(self, config: FmsConfig) -> None:
        page_set = PageSet(config)
        self.plane = Signal(page_set["first"].shape)
        self.last_plane = Signal()
        self.slot = Signal(page_set["slot"].shape)  # the set that the array programs
        self.in_array = Signal()  # there is one, and it has no result yet
        self.failed = Signal()
        self.held = Signal()  # the set before the one in the array has failed and has no result yet


class Programmer(wiring.Component):
    """Loads each page set with 80h..11h per plane and 80h..15h for the last, and judges it by its own status.

    The address of a page comes first, and its data follow tADL later: the other die may have the bus in
    between.

    15h (cache program) frees the die's cache registers while the array programs, so the next set is loaded
    meanwhile. At RDY after the 15h of a set, FAILC is that of the set before it. If none follows, FAIL at
    ARDY is the last one's. A set is accepted from `sets` at RDY; its data are needed until its result.

    Without `chips.cache_program` 10h takes the place of 15h. Then a set is accepted at ARDY, and FAIL is its
    own.

    If there are spare blocks, a failed set is handed over to the mover instead of a report. A set that was in
    the array behind it is handed over as well. The mover reports both; until then no other set begins.

    Throughput: with pending sets the array never waits if all planes of all dies load within tPROG - tCBSY.

    Members, in addition to those of `unit_ports`
    ---------------------------------------------
    sets : In(stream(PageSet))
    results : Out(stream(SetResult))   in the order of the sets
    lock : Out(1)               the die's next operation must be this unit's
    programmed : Out(1)         pulse: a set's program has been started
    page_programmed : Out(1)    pulse: a page has been loaded
    failure : Out(1)            pulse: a set has failed
    failed : Out(stream(FailedSets))   if there are spare blocks; accepted when all is done
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._caches = config.chips.cache_program
        self._spares = config.geometry.spare_blocks > 0
        hands_over = {"failed": Out(stream.Signature(FailedSets(config)))}
        super().__init__({
            **unit_ports(config),
            "sets": In(stream.Signature(PageSet(config))),
            "results": Out(stream.Signature(SetResult(config))),
            "lock": Out(1),
            "programmed": Out(1),
            "page_programmed": Out(1),
            "failure": Out(1),
            **(hands_over if self._spares else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        page_set = self.sets.payload
        s = _State(self.config)
        m.d.comb += [
            s.last_plane.eq(s.plane == page_set.last),
            self.schedule.request.eq(self.sets.valid),
            self.bus.payload.zone.eq(page_set.zone),
            self.bus.payload.page.eq(page_set.page),
            self.bus.payload.plane.eq(s.plane),
            self.bus.payload.slot.eq(page_set.slot),
            self.results.payload.slot.eq(s.slot),
            self.results.payload.failed.eq(s.failed),
        ]
        if self._spares:
            self._keep_sets(m, s.held)
        else:
            m.d.comb += self.failure.eq(self.results.valid & self.results.ready & s.failed)
        with m.FSM(name="programmer") as fsm:
            self._load_set(m, s)
            if self._caches:
                self._judge_set_before(m, s)
                self._program(m, s)
                self._wait_last(m, s)
            else:
                self._judge_only_set(m, s)
            self._judge_last_set(m, s)
            if self._spares:
                self._hand_over(m, s)
        free = fsm.ongoing("IDLE")
        if self._spares:
            free |= fsm.ongoing("MOVER_BUSY")
        m.d.comb += self.schedule.busy.eq(~free)
        return m

    def _load_next(self, m: Module, s: _State) -> None:
        m.d.comb += self.schedule.started.eq(1)
        m.d.sync += s.plane.eq(self.sets.payload.first)
        m.next = "PAGE_ADDRESS"

    def _load_set(self, m: Module, s: _State) -> None:
        """Address and data of each page."""
        with m.State("IDLE"):
            with m.If(self.schedule.grant & self.sets.valid):
                self._load_next(m, s)

        with m.State("PAGE_ADDRESS"):
            m.d.comb += [
                self.bus.valid.eq(~self.poller.paused),
                self.bus.payload.op.eq(BusOp.PROGRAM_PAGE),
            ]
            with m.If(self.bus.valid & self.bus.ready):
                m.next = "PAGE_ADDRESS_SENT"

        with m.State("PAGE_ADDRESS_SENT"):
            m.d.comb += self.lock.eq(1)
            with m.If(self.bus_done):
                m.d.comb += self.poller.pause.eq(Pause.ADDRESS)
                m.next = "LOAD"

        with m.State("LOAD"):
            m.d.comb += [
                self.lock.eq(1),
                self.bus.valid.eq(~self.poller.paused),
                self.bus.payload.op.eq(Mux(s.last_plane, BusOp.PROGRAM_LAST, BusOp.PROGRAM_MORE)),
            ]
            with m.If(self.bus.valid & self.bus.ready):
                m.next = "LOAD_SENT"

        with m.State("LOAD_SENT"):
            with m.If(self.bus_done):
                m.d.comb += self.page_programmed.eq(1)
                with m.If(s.last_plane):
                    m.d.comb += [
                        self.programmed.eq(1),
                        self.poller.start.eq(1),
                        self.poller.work.eq(Work.PROGRAM if self._caches else Work.LONE_PROGRAM),
                    ]
                    m.next = "WAIT_READY"
                with m.Else():
                    m.d.comb += self.poller.pause.eq(Pause.NEXT_PLANE)
                    m.d.sync += s.plane.eq(s.plane + 1)
                    m.next = "PAGE_ADDRESS"

    def _judge_set_before(self, m: Module, s: _State) -> None:
        """At RDY the set is accepted, and FAILC is the status of the set before it."""
        with m.State("WAIT_READY"):
            with m.If(self.poller.ready):
                m.d.sync += s.failed.eq((self.bus_status & DieStatus.FAILC.value) != 0)
                m.next = "JUDGE_BEFORE"

        with m.State("JUDGE_BEFORE"):
            hands_over = s.in_array & s.failed & self._spares
            m.d.comb += self.results.valid.eq(s.in_array & ~hands_over)
            with m.If(self.results.ready | ~s.in_array | hands_over):
                if self._spares:
                    m.d.comb += self.failure.eq(hands_over)
                    m.d.sync += s.held.eq(hands_over)
                m.d.comb += self.sets.ready.eq(1)
                m.d.sync += [s.slot.eq(self.sets.payload.slot), s.in_array.eq(1)]
                m.next = "ARRAY_BUSY"

    def _program(self, m: Module, s: _State) -> None:
        """The array programs: the next set is loaded if it comes in time."""
        with m.State("ARRAY_BUSY"):
            with m.If(self.schedule.grant & self.sets.valid & ~s.held):
                self._load_next(m, s)
            with m.Elif(self.poller.array_idle):
                m.d.comb += [self.poller.start.eq(1), self.poller.work.eq(Work.LAST_PROGRAM)]
                m.next = "WAIT_LAST"

    def _wait_last(self, m: Module, s: _State) -> None:
        """At ARDY, FAIL is the status of the last set."""
        with m.State("WAIT_LAST"):
            with m.If(self.poller.ready):
                m.d.sync += s.failed.eq((self.bus_status & DieStatus.FAIL.value) != 0)
                m.next = "JUDGE_LAST"

    def _judge_only_set(self, m: Module, s: _State) -> None:
        """The same, without another set behind it."""
        with m.State("WAIT_READY"):
            with m.If(self.poller.ready):
                m.d.sync += s.failed.eq((self.bus_status & DieStatus.FAIL.value) != 0)
                m.next = "ACCEPT"

        with m.State("ACCEPT"):
            m.d.comb += self.sets.ready.eq(1)
            m.d.sync += [s.slot.eq(self.sets.payload.slot), s.in_array.eq(1)]
            m.next = "JUDGE_LAST"

    def _judge_last_set(self, m: Module, s: _State) -> None:
        with m.State("JUDGE_LAST"):
            hands_over = (s.held | s.failed) & self._spares
            m.d.comb += self.results.valid.eq(~hands_over)
            with m.If(self.results.ready | hands_over):
                m.d.sync += s.in_array.eq(0)
                m.next = "IDLE"
                if self._spares:
                    m.d.comb += self.failure.eq(s.failed)
                    with m.If(hands_over):
                        m.next = "HAND_OVER"

    def _hand_over(self, m: Module, s: _State) -> None:
        """The mover requests the die before it is free for other units."""
        with m.State("HAND_OVER"):
            m.d.comb += self.failed.valid.eq(1)
            m.next = "MOVER_BUSY"

        with m.State("MOVER_BUSY"):
            m.d.comb += self.failed.valid.eq(1)
            with m.If(self.failed.ready):
                m.d.sync += s.held.eq(0)
                m.next = "IDLE"

    def _keep_sets(self, m: Module, held: Signal) -> None:
        """The set in the array and the one before it, for the mover."""
        current, before = Signal(ProgrammedSet(self.config)), Signal(ProgrammedSet(self.config))
        with m.If(self.sets.valid & self.sets.ready):
            m.d.sync += [
                before.eq(current),
                *(current[name].eq(self.sets.payload[name]) for name in current.shape().members),
            ]
        m.d.comb += [
            self.failed.payload.first.eq(Mux(held, before, current)),
            self.failed.payload.second.eq(current),
            self.failed.payload.both.eq(held),
        ]
