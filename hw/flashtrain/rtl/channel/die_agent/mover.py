"""Does page sets whose program has failed again, on spare blocks."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SetResult, SpareUse
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import BusOp, DieStatus

from .programmer import FailedSets, ProgrammedSet
from .ready_poller import Pause, Work
from .unit_scheduler import bus_operation, unit_ports


class TakenSpare(data.StructLayout):
    """A spare block of a plane, counted from 0, that was not in use until now; or there is `none` left."""

    def __init__(self, config: FmsConfig):
        super().__init__({"spare": bits_for(config.geometry.spare_blocks), "none": 1})


class _State:
    """Registers of a move, and facts about its current set and plane."""

    def __init__(self, config: FmsConfig) -> None:
        g = config.geometry
        self.second = Signal()  # the current set is the second one
        self.page_set = Signal(ProgrammedSet(config))
        self.plane = Signal(g.plane_bits)
        self.page = Signal(g.page_bits)
        self.failed_first = Signal(g.planes)
        self.failed_second = Signal(g.planes)
        self.moved = Signal(g.planes)  # the first set's zone got a spare there
        self.spare = Signal(range(g.spare_blocks))
        self.spare_zone = Signal(g.block_bits)
        self.moving = Signal()  # to this spare; otherwise the block table's entry is valid
        self.lost = Signal(2)  # of each set: it cannot be stored
        self.again = Signal(2)  # of each set: some of it has been programmed again
        self.is_last = Signal()  # the plane
        self.of_set = Signal()  # the set has a page on the plane
        self.has_failed = Signal()
        self.comes_after = Signal()  # the plane's block has moved with the first set


class Mover(wiring.Component):
    """Moves the block of each plane on which a page set has failed, and programs its page there:

        78h                       per plane: on which?
        60h..D0h                  a spare block of the plane
        00h..35h, 85h..10h        per page that the block had before that of the set
        80h, 15h                  the page, from the write buffer, where it has waited

    From then on the block table has the spare in the place of the block. Pages are copied as they are, with
    identity and parity. The cells of an open zone are fresh: few bits are wrong, and a code still corrects
    these. If an erase or a program of a spare fails, the next one is tried, from the start. When no spare is
    left the set has failed.

    A set that was in the array behind it is programmed again after it, on the moved planes of the same zone;
    its pages on the old blocks do not count. Planes without a failure stay as they are. Failures are rare, so
    planes are moved one after the other.

    Before each copied page, units that do not modify the array may own the die. The others wait for the end.

    Throughput: a page in tR + tPROG, and little more, if no other unit requests the die.

    Members, in addition to those of `unit_ports`
    ---------------------------------------------
    failed : In(stream(FailedSets))    accepted with the last result
    results : Out(stream(SetResult))   in the order of the sets
    take : Out(stream(plane)), taken : In(TakenSpare)   asks for a spare, valid when that is accepted
    change : Out(stream(SpareUse))     to the block table; `die` means nothing
    programmed : Out(1)         pulse: a program has been started
    page_programmed : Out(1)    pulse: of this unit's, which are of a page each
    sensed : Out(1)             pulse: a page is sensed
    ended, failure : Out(1)     pulses: an erase is over; an erase or program of this unit's has failed
    replaced : Out(1)           pulse: a spare has taken the place of a block
    repeated : Out(1)           pulse: a page set that had failed, or come after one, has been done again
    copying : Out(1)            with several LUNs: the die holds a page to be copied
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **unit_ports(config),
            "failed": In(stream.Signature(FailedSets(config))),
            "results": Out(stream.Signature(SetResult(config))),
            "take": Out(stream.Signature(config.geometry.plane_bits)),
            "taken": In(TakenSpare(config)),
            "change": Out(stream.Signature(SpareUse(config))),
            "programmed": Out(1),
            "page_programmed": Out(1),
            "sensed": Out(1),
            "ended": Out(1),
            "failure": Out(1),
            "replaced": Out(1),
            "repeated": Out(1),
            **({"copying": Out(1)} if config.chips.luns > 1 else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        s = _State(self.config)
        self._connect(m, s)
        with m.FSM(name="mover") as fsm:
            self._find_failed_planes(m, s)
            self._choose_plane(m, s)
            self._take_spare(m, s)
            self._copy_pages(m, s)
            self._program_page(m, s)
            self._report(m, s)

        # A copy leads to the same page of the spare block; the set's own page is programmed on the spare.
        request = self.bus.payload
        with m.If(fsm.ongoing("COPY_FROM") | fsm.ongoing("COPY_TO")):
            m.d.comb += request.page.eq(s.page)
        with m.If(s.moving & ~fsm.ongoing("COPY_FROM")):
            m.d.comb += request.zone.eq(s.spare_zone)
        m.d.comb += self.schedule.busy.eq(~(fsm.ongoing("IDLE") | fsm.ongoing("NEXT_PAGE")))
        if self.config.chips.luns > 1:
            copies = ("COPY_FROM", "COPY_FROM_SENT", "SENSING", "COPY_TO", "COPY_TO_SENT")
            m.d.comb += self.copying.eq(Cat(fsm.ongoing(state) for state in copies).any())
        return m

    def _connect(self, m: Module, s: _State) -> None:
        """Facts about the current set and plane, and the fields of requests that follow from them."""
        g, request, sets = self.config.geometry, self.bus.payload, self.failed.payload
        page_set, plane = s.page_set, s.plane
        m.d.comb += [
            page_set.eq(Mux(s.second, sets.second, sets.first)),
            s.is_last.eq(plane == g.planes - 1),
            s.of_set.eq((page_set.first <= plane) & (plane <= page_set.last)),
            s.has_failed.eq(Mux(s.second, s.failed_second, s.failed_first).bit_select(plane, 1)),
            s.comes_after.eq(s.second & (sets.second.zone == sets.first.zone) & s.moved.bit_select(plane, 1)),
            s.spare_zone.eq(g.zones + s.spare),
            self.schedule.request.eq(self.failed.valid),
            request.zone.eq(page_set.zone),
            request.page.eq(page_set.page),
            request.plane.eq(plane),
            request.slot.eq(page_set.slot),
            self.results.payload.slot.eq(page_set.slot),
            self.results.payload.failed.eq(s.lost.bit_select(s.second, 1)),
            self.take.payload.eq(plane),
            self.change.payload.zone.eq(page_set.zone),
            self.change.payload.plane.eq(plane),
            self.change.payload.spare.eq(s.spare),
            self.page_programmed.eq(self.programmed),
        ]

    def _status_failed(self):
        return (self.bus_status & DieStatus.FAIL.value) != 0

    def _wait(self, m: Module, work: Work, state: str) -> None:
        m.d.comb += [self.poller.start.eq(1), self.poller.work.eq(work)]
        m.next = state

    def _wait_program(self, m: Module, state: str) -> None:
        m.d.comb += self.programmed.eq(1)
        self._wait(m, Work.LONE_PROGRAM, state)

    def _next_plane(self, m: Module, s: _State) -> None:
        both = self.failed.payload.both
        m.d.sync += s.plane.eq(s.plane + 1)  # and back to 0 after the last
        m.next = "CHOOSE_PLANE"
        with m.If(s.is_last):
            m.d.sync += s.second.eq(~s.second & both)
            with m.If(s.second | ~both):
                m.next = "RESULT"

    def _next_spare(self, m: Module) -> None:
        m.d.comb += self.failure.eq(1)
        m.next = "TAKE_SPARE"

    def _find_failed_planes(self, m: Module, s: _State) -> None:
        both = self.failed.payload.both
        with m.State("IDLE"):
            m.d.sync += [s.second.eq(0), s.plane.eq(0), s.moved.eq(0), s.lost.eq(0), s.again.eq(0)]
            with m.If(self.schedule.grant & self.failed.valid):
                m.d.comb += self.schedule.started.eq(1)
                m.next = "PLANE_STATUS"

        def judge() -> None:
            m.next = "JUDGE_PLANE"

        bus_operation(m, self, "PLANE_STATUS", BusOp.STATUS_PLANE, judge)

        with m.State("JUDGE_PLANE"):
            failed_before = (self.bus_status & DieStatus.FAILC.value) != 0
            failed_now = self._status_failed()
            m.d.sync += [
                s.failed_first.bit_select(s.plane, 1).eq(Mux(both, failed_before, failed_now)),
                s.failed_second.bit_select(s.plane, 1).eq(failed_now),
                s.plane.eq(s.plane + 1),
            ]
            m.next = "PLANE_STATUS"
            with m.If(s.is_last):
                m.next = "CHOOSE_PLANE"

    def _choose_plane(self, m: Module, s: _State) -> None:
        with m.State("CHOOSE_PLANE"):
            m.d.sync += s.moving.eq(0)
            with m.If(s.of_set & s.comes_after):
                m.next = "PAGE_ADDRESS"
            with m.Elif(s.of_set & s.has_failed):
                m.next = "TAKE_SPARE"
            with m.Else():
                self._next_plane(m, s)

    def _take_spare(self, m: Module, s: _State) -> None:
        """A spare block of the plane, erased."""
        with m.State("TAKE_SPARE"):
            m.d.comb += self.take.valid.eq(1)
            m.d.sync += [s.page.eq(0), s.spare.eq(self.taken.spare)]
            with m.If(self.take.ready & self.taken.none):
                m.d.sync += s.lost.bit_select(s.second, 1).eq(1)
                self._next_plane(m, s)
            with m.Elif(self.take.ready):
                m.d.sync += s.moving.eq(1)
                m.next = "ERASE"

        bus_operation(m, self, "ERASE", BusOp.ERASE_LAST, lambda: self._wait(m, Work.ERASE, "ERASING"))

        with m.State("ERASING"), m.If(self.poller.ready):
            m.d.comb += self.ended.eq(1)
            m.next = "NEXT_PAGE"
            with m.If(self._status_failed()):
                self._next_spare(m)

    def _copy_pages(self, m: Module, s: _State) -> None:
        """The pages of the block before that of the set. Before each, others may own the die."""
        with m.State("NEXT_PAGE"):
            with m.If(self.schedule.grant):
                m.d.comb += self.schedule.started.eq(1)
                m.next = "COPY_FROM"
                with m.If(s.page == s.page_set.page):
                    m.next = "PAGE_ADDRESS"

        def wait_sense() -> None:
            m.d.comb += self.sensed.eq(1)
            self._wait(m, Work.LONE_SENSE, "SENSING")

        bus_operation(m, self, "COPY_FROM", BusOp.COPYBACK_READ, wait_sense)

        with m.State("SENSING"), m.If(self.poller.ready):
            m.next = "COPY_TO"

        bus_operation(m, self, "COPY_TO", BusOp.COPYBACK_PROGRAM, lambda: self._wait_program(m, "COPYING"))

        with m.State("COPYING"), m.If(self.poller.ready):
            m.d.sync += s.page.eq(s.page + 1)
            m.next = "NEXT_PAGE"
            with m.If(self._status_failed()):
                self._next_spare(m)

    def _program_page(self, m: Module, s: _State) -> None:
        """The set's page from the write buffer, and the spare's entry in the block table."""

        def load() -> None:
            m.d.comb += self.poller.pause.eq(Pause.ADDRESS)
            m.d.sync += s.again.bit_select(s.second, 1).eq(1)
            m.next = "LOAD"

        bus_operation(m, self, "PAGE_ADDRESS", BusOp.PROGRAM_PAGE, load)
        bus_operation(m, self, "LOAD", BusOp.PROGRAM_LAST, lambda: self._wait_program(m, "PROGRAMMING"))

        with m.State("PROGRAMMING"), m.If(self.poller.ready):
            with m.If(self._status_failed()):
                self._next_spare(m)
            with m.Elif(s.moving):
                m.next = "CHANGE_TABLE"
            with m.Else():
                self._next_plane(m, s)

        with m.State("CHANGE_TABLE"):
            m.d.comb += self.change.valid.eq(1)
            with m.If(self.change.ready):
                m.d.comb += self.replaced.eq(1)
                m.d.sync += s.moved.bit_select(s.plane, 1).eq(1)
                self._next_plane(m, s)

    def _report(self, m: Module, s: _State) -> None:
        """The results come last: after a loss of power the block with more pages is the valid one."""
        both = self.failed.payload.both
        with m.State("RESULT"):
            m.d.comb += self.results.valid.eq(1)
            with m.If(self.results.ready):
                m.d.comb += self.repeated.eq((s.again & ~s.lost).bit_select(s.second, 1))
                m.d.sync += s.second.eq(1)
                with m.If(s.second | ~both):
                    m.d.comb += self.failed.ready.eq(1)
                    m.next = "IDLE"
