"""Programs page sets on a die: the NAND program pipeline."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from ..layouts import PageSet, SetResult
from .die_unit import unit_ports
from .die_watch import Pause, Work
from .failed_sets import FailedSets, ProgrammedSet


class Programmer(wiring.Component):
    """Loads each page set with 80h..11h per plane and 80h..15h for the last, and judges it by its own status.

    A page is named first, and its data follow tADL later: the other die may have the bus in between.

    15h (cache program) frees the die's cache registers while the array works, so the next set is loaded
    meanwhile. At RDY after the 15h of a set, FAILC is that of the set before it; if none follows, FAIL at
    ARDY is the last one's. A set is accepted from `sets` at RDY; its data are needed until its result.

    If there are spare blocks a set that fails is not reported: together with the one that was in the array
    behind it, if there was, it is handed over to the mover, which reports both. Until it has done so nothing
    else is begun.

    Throughput: with sets at hand the array never waits if all planes of all dies load within tPROG - tCBSY.

    Members, beside those of `unit_ports`
    -------------------------------------
    sets : In(stream(PageSet))
    results : Out(stream(SetResult))   in the order of the sets
    keeps : Out(1)              the die's next operation must be this unit's
    programmed : Out(1)         pulse: a set's program has been started
    page_programmed : Out(1)    pulse: a page has been loaded
    failure : Out(1)            pulse: a set has failed
    failed : Out(stream(FailedSets))   if there are spare blocks; accepted when all is done
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        hands_over = {"failed": Out(stream.Signature(FailedSets(config)))}
        super().__init__({
            **unit_ports(config),
            "sets": In(stream.Signature(PageSet(config))),
            "results": Out(stream.Signature(SetResult(config))),
            "keeps": Out(1),
            "programmed": Out(1),
            "page_programmed": Out(1),
            "failure": Out(1),
            **(hands_over if config.geometry.spare_blocks else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        page_set = self.sets.payload
        plane = Signal.like(page_set.first)
        last_plane = Signal()
        slot = Signal.like(page_set.slot)  # the set that the array programs
        in_array = Signal()  # and that it has no result yet
        failed = Signal()
        spares = self.config.geometry.spare_blocks > 0
        held = Signal()  # the set before the one in the array has failed and has no result yet
        m.d.comb += [
            last_plane.eq(plane == page_set.last),
            self.turn.wants.eq(self.sets.valid),
            self.bus.payload.zone.eq(page_set.zone),
            self.bus.payload.row.eq(page_set.row),
            self.bus.payload.plane.eq(plane),
            self.bus.payload.slot.eq(page_set.slot),
            self.results.payload.slot.eq(slot),
            self.results.payload.failed.eq(failed),
        ]
        if spares:
            self._keep_sets(m, held)
        else:
            m.d.comb += self.failure.eq(self.results.valid & self.results.ready & failed)

        def load_next() -> None:
            m.d.comb += self.turn.started.eq(1)
            m.d.sync += plane.eq(page_set.first)
            m.next = "NAME_PAGE"

        with m.FSM(name="programmer") as fsm:
            with m.State("EMPTY"):
                with m.If(self.turn.go & self.sets.valid):
                    load_next()

            with m.State("NAME_PAGE"):
                m.d.comb += [
                    self.bus.valid.eq(~self.watch.paused),
                    self.bus.payload.op.eq(BusOp.PROGRAM_PAGE),
                ]
                with m.If(self.bus.valid & self.bus.ready):
                    m.next = "NAMING"

            with m.State("NAMING"):
                m.d.comb += self.keeps.eq(1)
                with m.If(self.bus_done):
                    m.d.comb += self.watch.pause.eq(Pause.ADDRESS)
                    m.next = "LOAD"

            with m.State("LOAD"):
                m.d.comb += [
                    self.keeps.eq(1),
                    self.bus.valid.eq(~self.watch.paused),
                    self.bus.payload.op.eq(Mux(last_plane, BusOp.PROGRAM_LAST, BusOp.PROGRAM_MORE)),
                ]
                with m.If(self.bus.valid & self.bus.ready):
                    m.next = "LOADING"

            with m.State("LOADING"):
                with m.If(self.bus_done):
                    m.d.comb += self.page_programmed.eq(1)
                    with m.If(last_plane):
                        m.d.comb += [
                            self.programmed.eq(1),
                            self.watch.begin.eq(1),
                            self.watch.work.eq(Work.PROGRAM),
                        ]
                        m.next = "CACHED"
                    with m.Else():
                        m.d.comb += self.watch.pause.eq(Pause.NEXT_PLANE)
                        m.d.sync += plane.eq(plane + 1)
                        m.next = "NAME_PAGE"

            with m.State("CACHED"):
                with m.If(self.watch.over):
                    m.d.sync += failed.eq((self.bus_status & DieStatus.FAILC.value) != 0)
                    m.next = "JUDGE_BEFORE"

            with m.State("JUDGE_BEFORE"):
                hands_over = in_array & failed & spares
                m.d.comb += self.results.valid.eq(in_array & ~hands_over)
                with m.If(self.results.ready | ~in_array | hands_over):
                    if spares:
                        m.d.comb += self.failure.eq(hands_over)
                        m.d.sync += held.eq(hands_over)
                    m.d.comb += self.sets.ready.eq(1)
                    m.d.sync += [slot.eq(page_set.slot), in_array.eq(1)]
                    m.next = "ARRAY_WORKS"

            with m.State("ARRAY_WORKS"):
                with m.If(self.turn.go & self.sets.valid & ~held):
                    load_next()
                with m.Elif(self.watch.due):
                    m.d.comb += [self.watch.begin.eq(1), self.watch.work.eq(Work.LAST_PROGRAM)]
                    m.next = "ENDING"

            with m.State("ENDING"):
                with m.If(self.watch.over):
                    m.d.sync += failed.eq((self.bus_status & DieStatus.FAIL.value) != 0)
                    m.next = "JUDGE_LAST"

            with m.State("JUDGE_LAST"):
                hands_over = (held | failed) & spares
                m.d.comb += self.results.valid.eq(~hands_over)
                with m.If(self.results.ready | hands_over):
                    m.d.sync += in_array.eq(0)
                    m.next = "EMPTY"
                    if spares:
                        m.d.comb += self.failure.eq(failed)
                        with m.If(hands_over):
                            m.next = "HAND_OVER"

            if spares:
                # The mover wants the die before it is free for others.
                with m.State("HAND_OVER"):
                    m.d.comb += self.failed.valid.eq(1)
                    m.next = "MOVER_WORKS"

                with m.State("MOVER_WORKS"):
                    m.d.comb += self.failed.valid.eq(1)
                    with m.If(self.failed.ready):
                        m.d.sync += held.eq(0)
                        m.next = "EMPTY"

        free = fsm.ongoing("EMPTY")
        if spares:
            free |= fsm.ongoing("MOVER_WORKS")
        m.d.comb += self.turn.busy.eq(~free)
        return m

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
