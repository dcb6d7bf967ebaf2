"""Does page sets whose program has failed again, on spare blocks."""

from functools import partial

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import BusOp, DieStatus

from ..layouts import SetResult, SpareUse
from .die_unit import bus_operation, unit_ports
from .die_watch import Pause, Work
from .failed_sets import FailedSets, ProgrammedSet


class TakenSpare(data.StructLayout):
    """A spare block of a plane, counted from 0, that was not in use until now; or there is `none` left."""

    def __init__(self, config: FmsConfig):
        super().__init__({"spare": bits_for(config.geometry.spare_blocks), "none": 1})


class Mover(wiring.Component):
    """Moves the block of each plane on which a page set has failed, and programs its page there:

        78h                       per plane: on which?
        60h..D0h                  a spare block of the plane
        00h..35h, 85h..10h        per page that the block had before that of the set
        80h, 15h                  the page, from the write buffer, where it has waited

    From then on the block table has the spare in the place of the block, which nobody names any more. Pages
    are copied as they are, identities and parity included: the cells of a zone that is still written to are
    fresh, so that few of their bits are wrong, and a code still corrects these. If an erase or a program of a
    spare fails, the next one is tried, from the start. Without spares the set has failed.

    If another set was in the array behind it, its pages on moved planes of the same zone are programmed
    again, too, behind those of the first: what they have become on the old blocks does not matter. On planes
    that have not failed nothing is done. One plane after the other, because failures are rare.

    Others of the die get their turns before each page that is copied, but for those that modify the array:
    theirs come when all is done.

    Throughput: a page in tR + tPROG, and little more, if nobody else wants the die.

    Members, beside those of `unit_ports`
    -------------------------------------
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
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g, request = self.config.geometry, self.bus.payload
        sets = self.failed.payload
        second = Signal()  # which set
        page_set = Signal(ProgrammedSet(self.config))
        plane, row = Signal(g.plane_bits), Signal(g.row_bits)
        failed_first, failed_second = Signal(g.planes), Signal(g.planes)
        moved = Signal(g.planes)  # the first set's zone has a spare there since it failed
        spare, spare_zone = Signal(range(g.spare_blocks)), Signal(g.block_bits)
        moving = Signal()  # to this spare; otherwise the place in the table is the right one
        lost, again = Signal(2), Signal(2)  # of each set: it cannot be stored; some of it has been done again
        is_last, of_set, has_failed, comes_after = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            page_set.eq(Mux(second, sets.second, sets.first)),
            is_last.eq(plane == g.planes - 1),
            of_set.eq((page_set.first <= plane) & (plane <= page_set.last)),
            has_failed.eq(Mux(second, failed_second, failed_first).bit_select(plane, 1)),
            comes_after.eq(second & (sets.second.zone == sets.first.zone) & moved.bit_select(plane, 1)),
            spare_zone.eq(g.zones + spare),
            self.turn.wants.eq(self.failed.valid),
            request.zone.eq(page_set.zone),
            request.row.eq(page_set.row),
            request.plane.eq(plane),
            request.slot.eq(page_set.slot),
            self.results.payload.slot.eq(page_set.slot),
            self.results.payload.failed.eq(lost.bit_select(second, 1)),
            self.take.payload.eq(plane),
            self.change.payload.zone.eq(page_set.zone),
            self.change.payload.plane.eq(plane),
            self.change.payload.spare.eq(spare),
            self.page_programmed.eq(self.programmed),
        ]
        has_failed_now = (self.bus_status & DieStatus.FAIL.value) != 0

        operation = partial(bus_operation, m, self)

        def array_works(work: Work, state: str) -> None:
            m.d.comb += [self.watch.begin.eq(1), self.watch.work.eq(work)]
            m.next = state

        def programs(state: str) -> None:
            m.d.comb += self.programmed.eq(1)
            array_works(Work.LONE_PROGRAM, state)

        def next_plane() -> None:
            m.d.sync += plane.eq(plane + 1)  # and back to 0 after the last
            m.next = "CHOOSE"
            with m.If(is_last):
                m.d.sync += second.eq(~second & sets.both)
                with m.If(second | ~sets.both):
                    m.next = "RESULT"

        def next_spare() -> None:
            m.d.comb += self.failure.eq(1)
            m.next = "TAKE_SPARE"

        with m.FSM(name="mover") as fsm:
            with m.State("NOTHING"):
                m.d.sync += [second.eq(0), plane.eq(0), moved.eq(0), lost.eq(0), again.eq(0)]
                with m.If(self.turn.go & self.failed.valid):
                    m.d.comb += self.turn.started.eq(1)
                    m.next = "ASK_PLANE"

            def asked() -> None:
                m.next = "PLANE_KNOWN"

            operation("ASK_PLANE", BusOp.STATUS_PLANE, asked)

            with m.State("PLANE_KNOWN"):
                failed_before = (self.bus_status & DieStatus.FAILC.value) != 0
                m.d.sync += [
                    failed_first.bit_select(plane, 1).eq(Mux(sets.both, failed_before, has_failed_now)),
                    failed_second.bit_select(plane, 1).eq(has_failed_now),
                    plane.eq(plane + 1),
                ]
                m.next = "ASK_PLANE"
                with m.If(is_last):
                    m.next = "CHOOSE"

            with m.State("CHOOSE"):
                m.d.sync += moving.eq(0)
                with m.If(of_set & comes_after):
                    m.next = "NAME_PAGE"
                with m.Elif(of_set & has_failed):
                    m.next = "TAKE_SPARE"
                with m.Else():
                    next_plane()

            with m.State("TAKE_SPARE"):
                m.d.comb += self.take.valid.eq(1)
                m.d.sync += [row.eq(0), spare.eq(self.taken.spare)]
                with m.If(self.take.ready & self.taken.none):
                    m.d.sync += lost.bit_select(second, 1).eq(1)
                    next_plane()
                with m.Elif(self.take.ready):
                    m.d.sync += moving.eq(1)
                    m.next = "ERASE"

            def erases() -> None:
                array_works(Work.ERASE, "ERASING")

            operation("ERASE", BusOp.ERASE_LAST, erases)

            with m.State("ERASING"), m.If(self.watch.over):
                m.d.comb += self.ended.eq(1)
                m.next = "NEXT_PAGE"
                with m.If(has_failed_now):
                    next_spare()

            # Here others have their turns.
            with m.State("NEXT_PAGE"):
                with m.If(self.turn.go):
                    m.d.comb += self.turn.started.eq(1)
                    m.next = "COPY_FROM"
                    with m.If(row == page_set.row):
                        m.next = "NAME_PAGE"

            def senses() -> None:
                m.d.comb += self.sensed.eq(1)
                array_works(Work.LONE_SENSE, "SENSING")

            operation("COPY_FROM", BusOp.COPYBACK_READ, senses)

            with m.State("SENSING"), m.If(self.watch.over):
                m.next = "COPY_TO"

            operation("COPY_TO", BusOp.COPYBACK_PROGRAM, lambda: programs("COPYING"))

            with m.State("COPYING"), m.If(self.watch.over):
                m.d.sync += row.eq(row + 1)
                m.next = "NEXT_PAGE"
                with m.If(has_failed_now):
                    next_spare()

            def named() -> None:
                m.d.comb += self.watch.pause.eq(Pause.ADDRESS)
                m.d.sync += again.bit_select(second, 1).eq(1)
                m.next = "LOAD"

            operation("NAME_PAGE", BusOp.PROGRAM_PAGE, named)
            operation("LOAD", BusOp.PROGRAM_LAST, lambda: programs("PROGRAMMING"))

            with m.State("PROGRAMMING"), m.If(self.watch.over):
                with m.If(has_failed_now):
                    next_spare()
                with m.Elif(moving):
                    m.next = "CHANGE_TABLE"
                with m.Else():
                    next_plane()

            with m.State("CHANGE_TABLE"):
                m.d.comb += self.change.valid.eq(1)
                with m.If(self.change.ready):
                    m.d.comb += self.replaced.eq(1)
                    m.d.sync += moved.bit_select(plane, 1).eq(1)
                    next_plane()

            # Only now: after a loss of power the block with more pages is the one that counts.
            with m.State("RESULT"):
                m.d.comb += self.results.valid.eq(1)
                with m.If(self.results.ready):
                    m.d.comb += self.repeated.eq((again & ~lost).bit_select(second, 1))
                    m.d.sync += second.eq(1)
                    with m.If(second | ~sets.both):
                        m.d.comb += self.failed.ready.eq(1)
                        m.next = "NOTHING"

        # A copy goes from row to row of the same number; what is programmed goes to the spare.
        with m.If(fsm.ongoing("COPY_FROM") | fsm.ongoing("COPY_TO")):
            m.d.comb += request.row.eq(row)
        with m.If(moving & ~fsm.ongoing("COPY_FROM")):
            m.d.comb += request.zone.eq(spare_zone)
        m.d.comb += self.turn.busy.eq(~(fsm.ongoing("NOTHING") | fsm.ongoing("NEXT_PAGE")))
        return m
