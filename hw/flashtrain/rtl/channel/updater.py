"""Updates tiles on a die with gradients (`spec.update`), and loads the constants of an optimizer step."""

from collections.abc import Callable
from functools import partial

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from ..layouts import PageEvent, PageKind, PageSet, SetResult
from .die_unit import bus_operation, unit_ports
from .die_watch import Pause, Work


class _Tile(data.StructLayout):
    """A tile whose status is not known yet."""

    def __init__(self, config: FmsConfig):
        super().__init__({"valid": 1, "tag": config.tag_bits})


class Updater(wiring.Component):
    """Tiles that come in time make one update sequence:

        C2h..C3h per page of gradients      of the first tile, or while the die works on the tile before
        C4h, C5h..C6h per plane             where the tile is and where it goes
        C4h, C5h..C7h for the last plane    update
        C9h..CAh per page of copies         when the die is ready: select it, output it tCCS later
        C8h                                 no more tiles: program what was computed last

    The next tile is waited for as long as the array programs, because until then C8h would wait, too. At RDY
    FAILC is the status of the program two updates before, or after C8h of the last program but one; FAIL at
    ARDY is the last one's.

    The slot of a set is free when its gradients are in use and its copies output: a tile cannot be replayed
    from its gradients. Constants are loaded between sequences.

    Throughput: the array senses and programs without a pause if the next tile's gradients are there when the
    unit has worked on a tile, and if the rest of tPROG is enough to output the copies and to send the update.

    Members, beside those of `unit_ports`
    -------------------------------------
    sets : In(stream(PageSet))         of GRADIENTS and CONSTANTS
    results : Out(stream(SetResult))   never failed, in the order of the sets
    updated : Out(stream(PageEvent))   each tile's own status, in order
    programmed : Out(1)         pulse: an update has been sent: a sense and, sooner or later, a program
    page_programmed : Out(1)    pulse: for each page of its tile
    page_output : Out(1)        pulse: a page of copies has been output
    failure : Out(1)            pulse: a tile's program has failed
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **unit_ports(config),
            "sets": In(stream.Signature(PageSet(config))),
            "results": Out(stream.Signature(SetResult(config))),
            "updated": Out(stream.Signature(PageEvent(config))),
            "programmed": Out(1),
            "page_programmed": Out(1),
            "page_output": Out(1),
            "failure": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        page_set, request = self.sets.payload, self.bus.payload
        has_gradients = self.sets.valid & (page_set.kind == PageKind.GRADIENTS)
        gradients_wait = Signal()  # a clock late
        m.d.sync += gradients_wait.eq(has_gradients & ~self.sets.ready)
        plane = Signal(config.geometry.plane_bits)  # or number of a page
        last_plane = plane == config.geometry.planes - 1

        # What the die has: a tile in each stage, of which any can be missing, and the next one's gradients.
        computed, programming, judged = (
            Signal(_Tile(config), name=name) for name in ("computed", "programming", "judged")
        )
        computing = Signal()  # the die is not ready yet
        loaded = Signal()
        slot, copies = Signal.like(page_set.slot), Signal.like(page_set.copies)  # of the newest tile
        last_page = Signal.like(page_set.last)
        at_last = Signal()  # the page that is loaded is the set's last; right when it has been loaded
        failed = Signal()
        m.d.comb += [
            self.turn.wants.eq(self.sets.valid),
            request.zone.eq(page_set.zone),
            request.row.eq(page_set.row),
            request.plane.eq(plane),
            request.slot.eq(page_set.slot),
            self.results.payload.slot.eq(slot),
            self.updated.payload.tag.eq(judged.tag),
            self.updated.payload.failed.eq(failed),
            self.failure.eq(self.updated.valid & self.updated.ready & failed),
            self.watch.last_page.eq(last_page),
        ]

        m.d.sync += at_last.eq(plane == page_set.last)
        operation = partial(bus_operation, m, self)

        def load() -> None:
            m.d.comb += self.turn.started.eq(1)
            m.next = "LOAD"

        def accept() -> None:
            m.d.comb += self.sets.ready.eq(1)
            m.d.sync += [slot.eq(page_set.slot), copies.eq(page_set.copies), last_page.eq(page_set.last)]

        def move_on(new_valid: int) -> list:
            """The tiles move on by a stage, a new one behind them or none."""
            return [
                judged.eq(programming),
                programming.eq(computed),
                computed.valid.eq(new_valid),
                computed.tag.eq(page_set.tag),
            ]

        def judge(status: DieStatus) -> None:
            m.d.sync += failed.eq((self.bus_status & status.value) != 0)

        def tell(state: str, then: Callable[[], None]) -> None:
            with m.State(state):
                m.d.comb += self.updated.valid.eq(judged.valid)
                with m.If(self.updated.ready | ~judged.valid):
                    then()

        with m.FSM(name="updater") as fsm:
            with m.State("NOTHING"):
                with m.If(self.turn.go & self.sets.valid):
                    load()

            with m.State("LOAD"):
                m.d.comb += [
                    self.watch.hold.eq(1),
                    self.bus.valid.eq(1),
                    request.op.eq(
                        Mux(page_set.kind == PageKind.CONSTANTS, BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT)
                    ),
                ]
                with m.If(self.bus.ready):
                    m.next = "LOADING"

            with m.State("LOADING"):
                m.d.comb += self.watch.hold.eq(1)
                with m.If(self.bus_done):
                    m.d.sync += plane.eq(plane + 1)
                    m.next = "LOAD"
                    with m.If(at_last):
                        m.d.sync += plane.eq(0)
                        with m.If(page_set.kind == PageKind.CONSTANTS):
                            m.next = "CONSTANTS_LOADED"
                        with m.Elif(computing):
                            m.d.sync += loaded.eq(1)
                            m.next = "DIE_WORKS"
                        with m.Else():
                            m.next = "NAME_SOURCE"

            with m.State("CONSTANTS_LOADED"):
                m.d.comb += self.watch.hold.eq(1)
                accept()
                m.next = "FREE"

            def name_target() -> None:
                m.next = "NAME_TARGET"

            def next_plane() -> None:
                m.d.sync += plane.eq(plane + 1)  # and back to 0 after the last
                m.d.comb += self.page_programmed.eq(1)
                with m.If(last_plane):
                    m.d.comb += [self.programmed.eq(1), self.watch.pause.eq(Pause.CONFIRM)]
                    m.next = "CONFIRMED"
                with m.Else():
                    m.d.comb += self.watch.pause.eq(Pause.NEXT_PLANE)
                    m.next = "NAME_SOURCE"

            operation("NAME_SOURCE", BusOp.UPDATE_SOURCE, name_target)
            operation("NAME_TARGET", Mux(last_plane, BusOp.UPDATE_LAST, BusOp.UPDATE_MORE), next_plane)

            with m.State("CONFIRMED"):
                m.d.comb += self.watch.work.eq(Mux(computed.valid, Work.UPDATE, Work.FIRST_UPDATE))
                with m.If(~self.watch.paused):
                    m.d.comb += self.watch.begin.eq(1)
                    accept()
                    m.d.sync += [*move_on(1), computing.eq(1), loaded.eq(0)]
                    m.next = "DIE_WORKS"
                    with m.If(page_set.copies == 0):
                        m.next = "FREE"

            # Without the next tile's gradients the die cannot go on: until they are loaded it is not asked.
            with m.State("DIE_WORKS"):
                with m.If(self.watch.over):
                    judge(DieStatus.FAILC)
                    m.d.sync += computing.eq(0)
                    m.next = "TELL_BEFORE"
                with m.Elif(self.turn.go & gradients_wait & ~loaded & ~self.watch.asking):
                    m.d.comb += self.watch.hold.eq(1)
                    load()

            def select_or_go_on() -> None:
                m.next = "LOOK_AHEAD"
                with m.If(copies != 0):
                    m.next = "SELECT"

            tell("TELL_BEFORE", select_or_go_on)

            def output() -> None:
                m.d.comb += self.watch.pause.eq(Pause.CHANGE_COLUMN)
                m.next = "OUTPUT"

            def next_copy() -> None:
                m.d.comb += self.page_output.eq(1)
                m.d.sync += plane.eq(plane + 1)
                m.next = "SELECT"
                with m.If(plane + 1 == copies):
                    m.d.sync += plane.eq(0)
                    m.next = "FREE"

            operation("SELECT", BusOp.SELECT_COPY, output)
            operation("OUTPUT", BusOp.DATA_OUT, next_copy)

            with m.State("FREE"):
                m.d.comb += [self.watch.hold.eq(1), self.results.valid.eq(1)]
                with m.If(self.results.ready):
                    with m.If(computing):
                        m.next = "DIE_WORKS"
                    with m.Elif(computed.valid):
                        m.next = "LOOK_AHEAD"
                    with m.Else():
                        m.next = "NOTHING"

            with m.State("LOOK_AHEAD"):
                with m.If(loaded):
                    m.next = "NAME_SOURCE"
                with m.Elif(self.turn.go & has_gradients):
                    load()
                with m.Elif(~self.turn.go | self.sets.valid | self.watch.due):
                    m.next = "END"

            def end() -> None:
                m.d.comb += [self.watch.begin.eq(1), self.watch.work.eq(Work.PROGRAM)]
                m.d.sync += move_on(0)
                m.next = "ENDING"

            operation("END", BusOp.UPDATE_END, end)

            with m.State("ENDING"):
                with m.If(self.watch.over):
                    judge(DieStatus.FAILC)
                    m.next = "TELL_LAST_BUT_ONE"

            def go_on() -> None:
                m.next = "ARRAY_WORKS"

            tell("TELL_LAST_BUT_ONE", go_on)

            with m.State("ARRAY_WORKS"):
                with m.If(self.watch.due):
                    m.d.comb += [self.watch.begin.eq(1), self.watch.work.eq(Work.LAST_PROGRAM)]
                    m.next = "LAST_PROGRAM"

            with m.State("LAST_PROGRAM"):
                with m.If(self.watch.over):
                    judge(DieStatus.FAIL)
                    m.d.sync += move_on(0)
                    m.next = "TELL_LAST"

            def finish() -> None:
                m.next = "NOTHING"

            tell("TELL_LAST", finish)

        # A copy returns to where its gradients came from; the set's successor is in `sets` by then.
        outputs = fsm.ongoing("OUTPUT")
        m.d.comb += [self.turn.busy.eq(~fsm.ongoing("NOTHING")), request.home.eq(outputs)]
        with m.If(outputs):
            m.d.comb += request.slot.eq(slot)
        with m.If(fsm.ongoing("NAME_SOURCE")):
            m.d.comb += request.zone.eq(page_set.source)
        return m
