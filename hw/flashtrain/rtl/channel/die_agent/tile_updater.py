"""Updates tiles on a die with gradients (`spec.update`), and loads the constants of an optimizer step."""

from collections.abc import Callable
from functools import partial

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import PageEvent, PageKind, PageSet, SetResult
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp, DieStatus

from .ready_poller import Pause, Work
from .unit_scheduler import bus_operation, unit_ports


class _Tile(data.StructLayout):
    """A tile whose status is not read yet."""

    def __init__(self, config: FmsConfig):
        super().__init__({"valid": 1, "tag": config.tag_bits})


class _State:
    """Registers that the phases of an update share: the tile of each stage, and the set that is loaded."""

    def __init__(self, config: FmsConfig) -> None:
        g = config.geometry
        # Stages: computed by the die, programmed by its array, judged by its status. Each can be empty.
        self.computed, self.programming, self.judged = (
            Signal(_Tile(config), name=name) for name in ("computed", "programming", "judged")
        )
        self.computing = Signal()  # the die is not ready yet
        self.loaded = Signal()  # the next tile's gradients are in the die
        self.failed = Signal()  # the judged tile
        page_set = PageSet(config)
        # Of the newest tile:
        self.slot = Signal(page_set["slot"].shape)
        self.copies = Signal(page_set["copies"].shape)
        self.last_page = Signal(page_set["last"].shape)
        self.plane = Signal(g.plane_bits)  # or the number of a page
        self.last_plane = self.plane == g.planes - 1
        self.at_last = Signal()  # the page on the bus is the set's last; valid at the end of its operation
        self.gradients_pending = Signal()  # a cycle late


class TileUpdater(wiring.Component):
    """Tiles that come in time make one update sequence:

        C2h..C3h per page of gradients      of the first tile, or while the die works on the tile before
        C4h, C5h..C6h per plane             source page and target page of the tile
        C4h, C5h..C7h for the last plane    update
        C9h..CAh per page of copies         when the die is ready: select it, output it tCCS later
        C8h                                 no more tiles: program what was computed last

    The sequence stays open for the next tile until the array is idle, because C8h cannot start earlier. At
    RDY, FAILC is the status of the program two updates before, or after C8h of the last program but one. FAIL
    at ARDY is the last one's.

    The slot of a set is free when its gradients are in use and its copies output: a tile cannot be replayed
    from its gradients. Constants are loaded between sequences.

    Throughput: the array senses and programs without a pause under two conditions. The next tile's gradients
    are there when the unit has computed a tile; and copies and update fit into the remaining tPROG.

    Members, in addition to those of `unit_ports`
    ---------------------------------------------
    sets : In(stream(PageSet))         of GRADIENTS and CONSTANTS
    results : Out(stream(SetResult))   never failed, in the order of the sets
    updated : Out(stream(PageEvent))   each tile's own status, in order
    programmed : Out(1)         pulse: an update has been sent: a sense and, sooner or later, a program
    page_programmed : Out(1)    pulse: for each page of its tile
    page_output : Out(1)        pulse: a page of copies has been output
    failure : Out(1)            pulse: a tile's program has failed
    last_page : Out             of the gradients of the update that was sent last
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
            "last_page": Out(config.geometry.plane_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        s = _State(self.config)
        page_set, request = self.sets.payload, self.bus.payload
        m.d.sync += [
            s.gradients_pending.eq(self._has_gradients() & ~self.sets.ready),
            s.at_last.eq(s.plane == page_set.last),
        ]
        m.d.comb += [
            self.schedule.request.eq(self.sets.valid),
            request.zone.eq(page_set.zone),
            request.page.eq(page_set.page),
            request.plane.eq(s.plane),
            request.slot.eq(page_set.slot),
            self.results.payload.slot.eq(s.slot),
            self.updated.payload.tag.eq(s.judged.tag),
            self.updated.payload.failed.eq(s.failed),
            self.failure.eq(self.updated.valid & self.updated.ready & s.failed),
            self.last_page.eq(s.last_page),
        ]
        with m.FSM(name="updater") as fsm:
            self._load(m, s)
            self._send_update(m, s)
            self._compute(m, s)
            self._output_copies(m, s)
            self._free_slot(m, s)
            self._end_sequence(m, s)

        # A copy returns to the origin of its gradients; the set's successor is in `sets` by then.
        outputs = fsm.ongoing("OUTPUT")
        m.d.comb += [self.schedule.busy.eq(~fsm.ongoing("IDLE")), request.origin.eq(outputs)]
        with m.If(outputs):
            m.d.comb += request.slot.eq(s.slot)
        with m.If(fsm.ongoing("SOURCE_ADDRESS")):
            m.d.comb += [request.zone.eq(page_set.source), request.page.eq(page_set.source_page)]
        return m

    def _has_gradients(self):
        return self.sets.valid & (self.sets.payload.kind == PageKind.GRADIENTS)

    def _start_load(self, m: Module) -> None:
        m.d.comb += self.schedule.started.eq(1)
        m.next = "LOAD"

    def _accept(self, m: Module, s: _State) -> None:
        page_set = self.sets.payload
        m.d.comb += self.sets.ready.eq(1)
        m.d.sync += [
            s.slot.eq(page_set.slot),
            s.copies.eq(page_set.copies),
            s.last_page.eq(page_set.last),
        ]

    def _shift_tiles(self, m: Module, s: _State, *, new_valid: int) -> None:
        """Each tile enters the next stage; the set's tile, or none, enters the first."""
        m.d.sync += [
            s.judged.eq(s.programming),
            s.programming.eq(s.computed),
            s.computed.valid.eq(new_valid),
            s.computed.tag.eq(self.sets.payload.tag),
        ]

    def _judge(self, m: Module, s: _State, status: DieStatus) -> None:
        m.d.sync += s.failed.eq((self.bus_status & status.value) != 0)

    def _report(self, m: Module, s: _State, state: str, then: Callable[[], None]) -> None:
        """The state that reports the judged tile, if there is one."""
        with m.State(state):
            m.d.comb += self.updated.valid.eq(s.judged.valid)
            with m.If(self.updated.ready | ~s.judged.valid):
                then()

    def _load(self, m: Module, s: _State) -> None:
        """Constants, or gradients of the first tile or of the next one while the die computes."""
        is_constants = self.sets.payload.kind == PageKind.CONSTANTS
        with m.State("IDLE"):
            with m.If(self.schedule.grant & self.sets.valid):
                self._start_load(m)

        with m.State("LOAD"):
            m.d.comb += [
                self.poller.defer.eq(1),
                self.bus.valid.eq(1),
                self.bus.payload.op.eq(Mux(is_constants, BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT)),
            ]
            with m.If(self.bus.ready):
                m.next = "LOAD_SENT"

        with m.State("LOAD_SENT"):
            m.d.comb += self.poller.defer.eq(1)
            with m.If(self.bus_done):
                m.d.sync += s.plane.eq(s.plane + 1)
                m.next = "LOAD"
                with m.If(s.at_last):
                    m.d.sync += s.plane.eq(0)
                    with m.If(is_constants):
                        m.next = "CONSTANTS_LOADED"
                    with m.Elif(s.computing):
                        m.d.sync += s.loaded.eq(1)
                        m.next = "COMPUTE"
                    with m.Else():
                        m.next = "SOURCE_ADDRESS"

        with m.State("CONSTANTS_LOADED"):
            m.d.comb += self.poller.defer.eq(1)
            self._accept(m, s)
            m.next = "FREE_SLOT"

    def _send_update(self, m: Module, s: _State) -> None:
        def next_address() -> None:
            m.next = "TARGET_ADDRESS"

        def next_plane() -> None:
            m.d.sync += s.plane.eq(s.plane + 1)  # and back to 0 after the last
            m.d.comb += self.page_programmed.eq(1)
            with m.If(s.last_plane):
                m.d.comb += [self.programmed.eq(1), self.poller.pause.eq(Pause.CONFIRM)]
                m.next = "CONFIRMED"
            with m.Else():
                m.d.comb += self.poller.pause.eq(Pause.NEXT_PLANE)
                m.next = "SOURCE_ADDRESS"

        operation = partial(bus_operation, m, self)
        operation("SOURCE_ADDRESS", BusOp.UPDATE_SOURCE, next_address)
        operation("TARGET_ADDRESS", Mux(s.last_plane, BusOp.UPDATE_LAST, BusOp.UPDATE_MORE), next_plane)

        with m.State("CONFIRMED"):
            m.d.comb += self.poller.work.eq(Mux(s.computed.valid, Work.UPDATE, Work.FIRST_UPDATE))
            with m.If(~self.poller.paused):
                m.d.comb += self.poller.start.eq(1)
                self._accept(m, s)
                self._shift_tiles(m, s, new_valid=1)
                m.d.sync += [s.computing.eq(1), s.loaded.eq(0)]
                m.next = "COMPUTE"
                with m.If(self.sets.payload.copies == 0):
                    m.next = "FREE_SLOT"

    def _compute(self, m: Module, s: _State) -> None:
        """The die computes. It cannot go on without the next tile's gradients: during their load no poll."""
        with m.State("COMPUTE"):
            with m.If(self.poller.ready):
                self._judge(m, s, DieStatus.FAILC)
                m.d.sync += s.computing.eq(0)
                m.next = "REPORT_BEFORE"
            with m.Elif(self.schedule.grant & s.gradients_pending & ~s.loaded & ~self.poller.polling):
                m.d.comb += self.poller.defer.eq(1)
                self._start_load(m)

        def select_or_look_ahead() -> None:
            m.next = "LOOK_AHEAD"
            with m.If(s.copies != 0):
                m.next = "SELECT"

        self._report(m, s, "REPORT_BEFORE", select_or_look_ahead)

    def _output_copies(self, m: Module, s: _State) -> None:
        def output() -> None:
            m.d.comb += self.poller.pause.eq(Pause.CHANGE_COLUMN)
            m.next = "OUTPUT"

        def next_copy() -> None:
            m.d.comb += self.page_output.eq(1)
            m.d.sync += s.plane.eq(s.plane + 1)
            m.next = "SELECT"
            with m.If(s.plane + 1 == s.copies):
                m.d.sync += s.plane.eq(0)
                m.next = "FREE_SLOT"

        bus_operation(m, self, "SELECT", BusOp.SELECT_COPY, output)
        bus_operation(m, self, "OUTPUT", BusOp.DATA_OUT, next_copy)

    def _free_slot(self, m: Module, s: _State) -> None:
        with m.State("FREE_SLOT"):
            m.d.comb += [self.poller.defer.eq(1), self.results.valid.eq(1)]
            with m.If(self.results.ready):
                with m.If(s.computing):
                    m.next = "COMPUTE"
                with m.Elif(s.computed.valid):
                    m.next = "LOOK_AHEAD"
                with m.Else():
                    m.next = "IDLE"

    def _end_sequence(self, m: Module, s: _State) -> None:
        """The next tile if it comes in time, or C8h and the status of the last two programs."""
        with m.State("LOOK_AHEAD"):
            with m.If(s.loaded):
                m.next = "SOURCE_ADDRESS"
            with m.Elif(self.schedule.grant & self._has_gradients()):
                self._start_load(m)
            with m.Elif(~self.schedule.grant | self.sets.valid | self.poller.array_idle):
                m.next = "END"

        def end() -> None:
            m.d.comb += [self.poller.start.eq(1), self.poller.work.eq(Work.PROGRAM)]
            self._shift_tiles(m, s, new_valid=0)
            m.next = "END_WAIT"

        bus_operation(m, self, "END", BusOp.UPDATE_END, end)

        with m.State("END_WAIT"):
            with m.If(self.poller.ready):
                self._judge(m, s, DieStatus.FAILC)
                m.next = "REPORT_LAST_BUT_ONE"

        def wait() -> None:
            m.next = "ARRAY_BUSY"

        self._report(m, s, "REPORT_LAST_BUT_ONE", wait)

        with m.State("ARRAY_BUSY"):
            with m.If(self.poller.array_idle):
                m.d.comb += [self.poller.start.eq(1), self.poller.work.eq(Work.LAST_PROGRAM)]
                m.next = "LAST_PROGRAM"

        with m.State("LAST_PROGRAM"):
            with m.If(self.poller.ready):
                self._judge(m, s, DieStatus.FAIL)
                self._shift_tiles(m, s, new_valid=0)
                m.next = "REPORT_LAST"

        def finish() -> None:
            m.next = "IDLE"

        self._report(m, s, "REPORT_LAST", finish)
