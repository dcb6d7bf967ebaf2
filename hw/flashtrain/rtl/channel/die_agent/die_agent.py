"""The agent of a die: its programs, reads, erases and updates, as bus operations."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.channel.bus.bus_controller import interface_port
from flashtrain.rtl.layouts import (
    BusRequest,
    DieRead,
    PageEvent,
    PageKind,
    PageRetry,
    PageSet,
    SetResult,
    SpareUse,
    has_engine_interface,
)
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from .block_replacer import BlockReplacer
from .eraser import Eraser
from .mover import Mover
from .programmer import Programmer
from .reader import Reader
from .ready_line import line_ports
from .ready_poller import ReadyPoller, Work, polls_planes
from .request_mux import RequestMux
from .retrier import Retrier
from .tile_updater import TileUpdater
from .unit_scheduler import UnitScheduler, bus_operation, unit_ports


def reset_ports(config: FmsConfig) -> dict:
    """Members by which the LUNs of a chip enable reset together; none for one LUN.

    leads : In(1)        this LUN sends the commands for all of them
    reset_sent, mode_sent : In(1)   it has sent FFh, and EFh with SDR
    all_reset : In(1)    all of them are ready after FFh
    sends_reset, sends_mode, is_reset : Out(1)   what makes these of all LUNs
    """
    if config.chips.luns == 1:
        return {}
    return {
        **dict.fromkeys(("leads", "reset_sent", "all_reset", "mode_sent"), In(1)),
        **dict.fromkeys(("sends_reset", "is_reset", "sends_mode"), Out(1)),
    }


def agent_lun_ports(config: FmsConfig) -> dict:
    """Members by which reads keep out of the way of other LUNs' programs; none for one LUN.

    holds_data : Out(1)   the die reads, or holds a page to be copied
    yields : In(1)        no read begins
    """
    return {"holds_data": Out(1), "yields": In(1)} if config.chips.luns > 1 else {}


class DieReset(wiring.Component):
    """Resets a die once, before anything else: FFh, tRST, RDY.

    With SDR as data interface the die is then in timing mode 0, and EFh sets another mode.

    Before a reset of the controller the die may have got any command or data, one cycle ago. So it is left
    alone first, for as long as any of them asks for (tWB, tRHW, tCHZ).

    The first LUN of a chip enable sends FFh and EFh for all of them, EFh when all are ready. If it is lost,
    the others stay in mode 0.

    Members, in addition to those of `unit_ports` and `reset_ports`
    ---------------------------------------------------------------
    ready : Out(1)   the die has been reset
    interface : In(EngineInterface)   with a command port and SDR
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self.quiet = max(config.timing.cycles(name) for name in ("twb", "trhw", "tchz"))
        super().__init__({
            **unit_ports(config), **reset_ports(config), **interface_port(config), "ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        waited = Signal(range(self.quiet))
        m.d.comb += [
            self.schedule.request.eq(~self.ready),
            self.schedule.busy.eq(~self.ready),
            self.bus.payload.op.eq(BusOp.RESET),
            self.poller.work.eq(Work.RESET),
        ]
        chips = self.config.chips
        sets_mode: ValueLike = chips.sdr and chips.sdr_mode != 0
        if has_engine_interface(self.config):
            sets_mode = self.interface.sdr & (self.interface.mode != 0)
        with m.FSM(name="reset"):
            with m.State("QUIET"):
                m.d.sync += waited.eq(waited + 1)
                with m.If(waited == self.quiet - 1):
                    m.next = "RESET"
            with m.State("RESET"):
                m.d.comb += self.bus.valid.eq(1)
                with m.If(self.bus.ready):
                    m.next = "RESET_SENT"
                if chips.luns > 1:
                    m.d.comb += self.bus.valid.eq(self.leads)
                    with m.If(self.reset_sent):
                        m.next = "RESET_FOLLOWED"
            if chips.luns > 1:
                with m.State("RESET_FOLLOWED"):
                    m.d.comb += self.poller.start.eq(1)
                    m.next = "WAIT_READY"
            with m.State("RESET_SENT"):
                with m.If(self.bus_done):
                    m.d.comb += self.poller.start.eq(1)
                    m.next = "WAIT_READY"
                    if chips.luns > 1:
                        m.d.sync += self.sends_reset.eq(1)
            with m.State("WAIT_READY"):
                with m.If(self.poller.ready):
                    m.next = "READY"
                    if chips.sdr:
                        with m.If(sets_mode):
                            m.next = "TIMING_MODE"
                    if chips.luns > 1:
                        m.d.sync += self.is_reset.eq(1)
                        m.next = "GATHER"
            if chips.luns > 1:
                self._gather(m, sets_mode)
            if chips.sdr:

                def wait_mode() -> None:
                    m.d.comb += [self.poller.start.eq(1), self.poller.work.eq(Work.FEATURE)]
                    m.next = "WAIT_MODE"

                bus_operation(m, self, "TIMING_MODE", BusOp.SET_TIMING_MODE, wait_mode)
                if chips.luns > 1:
                    with m.State("MODE_FOLLOWED"), m.If(self.mode_sent):
                        wait_mode()
                with m.State("WAIT_MODE"):
                    if chips.luns > 1:
                        m.d.sync += self.sends_mode.eq(1)
                    with m.If(self.poller.ready):
                        m.next = "READY"
            with m.State("READY"):
                m.d.comb += self.ready.eq(1)
        return m

    def _gather(self, m: Module, sets_mode: ValueLike) -> None:
        """All LUNs are to be ready before EFh."""
        with m.State("GATHER"), m.If(self.all_reset):
            m.next = "READY"
            if self.config.chips.sdr:
                with m.If(sets_mode & self.leads):
                    m.next = "TIMING_MODE"
                with m.Elif(sets_mode):
                    m.next = "MODE_FOLLOWED"


class DieAgent(wiring.Component):
    """Programs, reads, erases and updates one die, one at a time, after a reset.

    Each kind of work has a unit. `UnitScheduler` grants the die to one unit, `ReadyPoller` finds out when the
    die is ready, and `RequestMux` joins their bus operations. If there are spare blocks, the `Mover` repeats
    a failed page set; until then only reads are granted the die as well.

    During programs and erases the reader needs no grant: it suspends them (`Reader`), so neither waits for
    the other. It has grants of its own only when there is nothing more to program. The die makes programs
    advance, and `RequestMux` lets both use the bus. Programs come first. While the die programs and a page
    set is pending, one set of several pages is read for each one programmed. With a `backlog` it is as many
    pages as `read_run` sets on all planes have. During an erase there is no limit: no page set can be
    programmed before its end, so a read has nothing to wait for.

    Without `chips.suspended_read` the reader waits for a grant, as the others do. Suspend commands of the
    maker work as suspended reads do, but only while the array programs or erases.

    Programs, reads, erases and updates are granted the die in rotation. An owner gives it up when it has
    nothing more to do, or after its run if another requests the die. So a request waits at most for the work
    in the die and one run of each other unit. That work is two page sets or tiles, or an erase.
    With `read_levels` the retries of reads are a fifth kind of work, with runs of one page.
    Erases are not deferred until a die is idle: all dies erase a zone at the same time. Erases at other times
    on each die would stall a stream of appends over all dies once for each.

    Latency: 3 cycles from work to its first bus request in an idle die; a lone read waits `gather_cycles`
    more. Throughput, with NV-DDR3's times and pages of 4 KiB: programs keep the array always busy if
    all planes of all dies load within tPROG - tCBSY. Sequential
    reads fill 91.1 % of the bus with data (2 dies, 4 planes), 91.8 % (2, 8) or 93.6 % (4, 8). SELECT, tRHW,
    and a status and one exposed tCCS for each set take the remainder.

    Members
    -------
    sets : In(stream(PageSet)), results : Out(stream(SetResult))
    updated : Out(stream(PageEvent))   a tile's program has passed or failed
    reads : In(stream(DieRead)), backlog : In(1)   from a queue of `read_queue` pages; half of it is taken
    retries : In(stream(PageRetry))   with `read_levels`
    erase : In(stream(EraseRequest)), erased : Out(stream(EraseResult))
    restored : In(stream(SpareUse)), change : Out(stream(SpareUse)), replaced, repeated : Out(1)
                     if there are spare blocks; see `BlockReplacer` and `Mover`
    bus : Out(stream(BusRequest)), bus_done : In(1), bus_status : In(8)   one operation at a time
    ready : Out(1)   the die has been reset
    idle : Out(1)    nothing is under way and nothing is pending
    interface : In(EngineInterface)   with a command port and SDR
    line, alone : In(1)   with R/B#, see `ReadyLine`
    working : Out(1)      with a shared line: the die has been sent work that has not ended
    leads, reset_sent, all_reset, mode_sent, sends_reset, is_reset, sends_mode : see `reset_ports`
    holds_data, yields : see `agent_lun_ports`
    lost : Out(1)    pulse, perhaps more than one: the die does not become ready. From now on the bus must
                     answer its operations instead of it
    programmed, page_programmed, sensed, page_output, ended, failure : Out(1)
        pulses for PROGRAMS, PAGES_PROGRAMMED, SENSES, PAGES_SENSED, ERASES, FAILURES of `ChannelCounter`; an
        update of a tile is a sense and a program

    Parameters
    ----------
    read_run, program_run, update_run : page sets begun by an owner while another unit waits. One program:
        when reads are pending, no data-in starts after that of the set under way. Four senses are worth the
        change, and four updates, of which the last one's program overlaps with no work of the update unit.
    gather_cycles : see `ReadSets`. By default a little longer than the read pipeline takes to come round to
        the channel again: it serves the channels in rotation, one page per cycle.
    """

    def __init__(
        self,
        config: FmsConfig,
        *,
        read_run: int = 4,
        program_run: int = 1,
        update_run: int = 4,
        gather_cycles: int | None = None,
    ):
        self.config = config
        self.read_run = read_run
        self.program_run = program_run
        self.update_run = update_run
        self.gather_cycles = config.geometry.channels + 4 if gather_cycles is None else gather_cycles
        spares, levels = config.geometry.spare_blocks > 0, config.read_levels > 0
        self._reset = DieReset(config)
        self._programmer = Programmer(config)
        self._reader = Reader(config, self.gather_cycles)
        self._eraser = Eraser(config)
        self._updater = TileUpdater(config)
        self._mover = Mover(config) if spares else None
        self._replacer = BlockReplacer(config) if spares else None
        self._retrier = Retrier(config) if levels else None
        self._units = {  # in the order of rotation, with their runs
            self._reset: 1,
            self._programmer: program_run,
            self._reader: read_run,
            self._eraser: 1,
            self._updater: update_run,
            **({self._mover: 1} if spares else {}),
            **({self._retrier: 1} if levels else {}),
        }
        self._polled = [unit for unit in self._units if unit is not self._reader]
        self._scheduler = UnitScheduler(tuple(self._units.values()))
        self._poller = ReadyPoller(config)
        self._mux = RequestMux(config)
        super().__init__({
            "sets": In(stream.Signature(PageSet(config))),
            "results": Out(stream.Signature(SetResult(config))),
            "updated": Out(stream.Signature(PageEvent(config))),
            "reads": In(stream.Signature(DieRead(config))),
            "backlog": In(1),
            "erase": In(stream.Signature(EraseRequest(config))),
            "erased": Out(stream.Signature(EraseResult())),
            "bus": Out(stream.Signature(BusRequest(config))),
            "bus_done": In(1),
            "bus_status": In(8),
            "ready": Out(1),
            "idle": Out(1),
            "lost": Out(1),
            "programmed": Out(1),
            "page_programmed": Out(1),
            "sensed": Out(1),
            "page_output": Out(1),
            "ended": Out(1),
            "failure": Out(1),
            **(self._spare_ports() if spares else {}),
            **interface_port(config),
            **line_ports(config),
            **({"working": Out(1)} if config.chips.shares_ready_busy else {}),
            **reset_ports(config),
            **agent_lun_ports(config),
            **({"retries": In(stream.Signature(PageRetry(config)))} if levels else {}),
        })  # fmt: skip

    def _spare_ports(self) -> dict:
        use = stream.Signature(SpareUse(self.config))
        return {"restored": In(use), "change": Out(use), "replaced": Out(1), "repeated": Out(1)}

    def elaborate(self, platform):
        m = Module()
        parts = ("reset", "programmer", "reader", "eraser", "updater", "mover", "replacer", "retrier")
        for name in (*parts, "scheduler", "poller", "mux"):
            part = getattr(self, f"_{name}")
            if part is not None:
                m.submodules[name] = part
        self._distribute(m)
        self._collect_results(m)
        self._schedule(m)
        self._suspend(m)
        self._poll(m)
        self._request(m)
        self._report(m)
        return m

    def _distribute(self, m: Module) -> None:
        """Work for the units. Sets are in one stream; their kind decides which unit takes them."""
        programmer, updater = self._programmer, self._updater
        is_data = self.sets.payload.kind == PageKind.DATA
        connect(m, flipped(self.reads), self._reader.reads)
        m.d.comb += [
            programmer.sets.payload.eq(self.sets.payload),
            programmer.sets.valid.eq(self.sets.valid & is_data),
            updater.sets.payload.eq(self.sets.payload),
            updater.sets.valid.eq(self.sets.valid & ~is_data),
            self.sets.ready.eq(programmer.sets.ready | updater.sets.ready),
        ]
        if self._retrier is not None:
            connect(m, flipped(self.retries), self._retrier.retries)
        if self._replacer is None or self._mover is None:
            connect(m, flipped(self.erase), self._eraser.erase)
            connect(m, self._eraser.erased, flipped(self.erased))
        else:
            forward(m, self._replacer, self, ("erase", "erased", "restored"))
            connect(m, self._replacer.step, self._eraser.erase)
            connect(m, self._eraser.erased, self._replacer.stepped)
            self._replace(m, self._mover, self._replacer)

    def _replace(self, m: Module, mover: Mover, replacer: BlockReplacer) -> None:
        """Failed page sets, and the spare blocks for them."""
        connect(m, self._programmer.failed, mover.failed)
        connect(m, mover.take, replacer.take)
        m.d.comb += [
            mover.taken.eq(replacer.taken),
            self.change.valid.eq(replacer.change.valid | mover.change.valid),
            self.change.payload.eq(Mux(mover.change.valid, mover.change.payload, replacer.change.payload)),
            mover.change.ready.eq(self.change.ready),
            replacer.change.ready.eq(self.change.ready & ~mover.change.valid),
            self.replaced.eq(replacer.replaced | mover.replaced),
            self.repeated.eq(mover.repeated),
            self._reader.remapped.eq(self.change.valid),
        ]

    def _collect_results(self, m: Module) -> None:
        """Results come from the owner of the die, one unit at a time."""
        programmer, updater, mover = self._programmer, self._updater, self._mover
        result = Mux(programmer.results.valid, programmer.results.payload, updater.results.payload)
        reporting = [programmer, updater]
        if mover is not None:
            result = Mux(mover.results.valid, mover.results.payload, result)
            reporting.append(mover)
        m.d.comb += [unit.results.ready.eq(~self.results.valid) for unit in reporting]
        with m.If(~self.results.valid):
            m.d.sync += [
                self.results.valid.eq(reduce(or_, (unit.results.valid for unit in reporting))),
                self.results.payload.eq(result),
            ]
        with m.Elif(self.results.ready):
            m.d.sync += self.results.valid.eq(0)
        connect(m, updater.updated, flipped(self.updated))

    def _port(self, unit: wiring.Component):
        """The scheduler's port of this unit."""
        return self._scheduler.units[[*self._units].index(unit)]

    def _owns(self, unit: wiring.Component) -> Value:
        return self._scheduler.owner[[*self._units].index(unit)]

    def _schedule(self, m: Module) -> None:
        mover = self._mover
        for unit in self._units:
            connect(m, unit.schedule, self._port(unit))
        if mover is not None:
            # Failed sets are repeated before anything else changes the array.
            for unit in (self._programmer, self._eraser, self._updater):
                request = unit.schedule.request & ~mover.schedule.request
                m.d.comb += self._port(unit).request.eq(request)

        if self.config.chips.luns > 1:
            reader = self._reader
            holds_data: Value = reader.schedule.busy
            if mover is not None:
                holds_data |= mover.copying
            m.d.comb += [
                self.holds_data.eq(holds_data),
                reader.schedule.grant.eq(self._port(reader).grant & ~self.yields),
            ]

    def _suspend(self, m: Module) -> None:
        """Suspended reads during programs and erases: when they may begin, and which of them yield."""
        programmer, reader, poller = self._programmer, self._reader, self._poller
        # A pending page set goes before reads of sets, until its start: but for one set for each program, or
        # the pages of a whole run if reads have a backlog. (Sets on few planes are no reason to let the bus
        # idle. Without a backlog a set may still grow while it is deferred.)
        planes = self.config.geometry.planes
        run_pages = self.read_run * planes
        pages_read, suspended, defer_sets = Signal(range(run_pages + planes)), Signal(), Signal()
        run_ended = pages_read >= run_pages
        pending = programmer.sets.valid & self._owns(programmer)
        m.d.sync += [
            suspended.eq(reader.suspend),
            defer_sets.eq(pending & (run_ended | ((pages_read != 0) & ~self.backlog))),
        ]
        with m.If(programmer.sets.valid & programmer.sets.ready):
            m.d.sync += pages_read.eq(0)
        with m.Elif(suspended & ~run_ended):
            m.d.sync += pages_read.eq(pages_read + reader.set_pages)

        # A suspended read may begin just before the unit ends. The unit owns the die until the read ends.
        suspendable, program_delayed = Signal(), Signal()
        m.d.sync += program_delayed.eq(poller.program_delayed)
        chips = self.config.chips
        by_maker = {programmer: chips.suspends_programs, self._eraser: chips.suspends_erases}
        for unit in (programmer, self._eraser):
            begun: Value = unit.schedule.busy
            if chips.has_maker_suspend:
                begun = poller.working if by_maker[unit] else Const(0)
            with m.If(self._owns(unit)):
                m.d.sync += suspendable.eq(begun)
            m.d.comb += self._port(unit).busy.eq(unit.schedule.busy | suspendable | reader.suspended)
        m.d.comb += [
            reader.suspendable.eq(suspendable if chips.suspended_read or chips.has_maker_suspend else 0),
            *([reader.yields.eq(self.yields)] if chips.luns > 1 and chips.has_maker_suspend else []),
            reader.program_delayed.eq(program_delayed),
            reader.defer_sets.eq(defer_sets),
            poller.suspend.eq(reader.suspend),
            poller.registers_held.eq(reader.registers_held),
        ]

        if chips.has_maker_suspend:
            m.d.comb += [
                reader.erasing.eq(self._owns(self._eraser)),
                reader.working.eq(poller.working),
                reader.polling.eq(poller.port.polling),
            ]

    def _poll(self, m: Module) -> None:
        """The ready poller works for the owner of the die."""
        poller, reader = self._poller, self._reader
        # The status comes with the end of the operation, and again with `ready` of the poller.
        status, polled_status = Signal(8), Signal(8)
        m.d.sync += [status.eq(self.bus_status), polled_status.eq(status)]
        if polls_planes(self.config):
            m.d.sync += polled_status.eq(status | poller.failures)
        array_busy = Signal()  # a cycle late
        m.d.sync += array_busy.eq(~poller.port.array_idle)
        for user in (poller, reader):
            forward(m, user, self, line_ports(self.config))
        if self.config.chips.shares_ready_busy:
            m.d.comb += self.working.eq(poller.working | reader.schedule.busy)
        for unit in self._polled:
            m.d.comb += [
                unit.bus_status.eq(polled_status),
                unit.bus_done.eq(self._mux.unit_done),
                unit.poller.ready.eq(poller.port.ready),
                unit.poller.array_idle.eq(~array_busy),
                unit.poller.polling.eq(poller.port.polling),
                unit.poller.paused.eq(poller.port.paused),
            ]
        m.d.comb += [
            reader.array_busy.eq(array_busy),
            poller.bus_done.eq(self._mux.unit_done),
            poller.bus_status.eq(self.bus_status),
            poller.poll_accepted.eq(self._mux.unit.ready),
            poller.last_page.eq(self._updater.last_page),
            # Units without the die start, pause and defer nothing.
            poller.port.start.eq(Cat(unit.poller.start for unit in self._polled).any()),
            Value.cast(poller.port.work).eq(self._of_owner(lambda unit: unit.poller.work)),
            Value.cast(poller.port.pause).eq(
                reduce(or_, (Value.cast(unit.poller.pause) for unit in self._polled))
            ),
            poller.port.defer.eq(Cat(unit.poller.defer for unit in self._polled).any()),
        ]

    def _of_owner(self, output: Callable[[Any], Any]) -> Value:
        return reduce(or_, (Mux(self._owns(unit), Value.cast(output(unit)), 0) for unit in self._polled))

    def _request(self, m: Module) -> None:
        """Bus operations of the owner, of the poller while the owner has none, and of the reader."""
        mux, poller, reader = self._mux, self._poller, self._reader
        connect(m, mux.bus, flipped(self.bus))
        connect(m, reader.bus, mux.reader)
        m.d.comb += [
            reader.bus_done.eq(mux.reader_done),
            reader.bus_status.eq(self.bus_status),
            mux.lock.eq(reader.lock | self._programmer.lock),
            mux.urgent.eq(reader.urgent & ~poller.poll),
            mux.bus_done.eq(self.bus_done),
            Value.cast(mux.unit.payload).eq(self._of_owner(lambda unit: unit.bus.payload)),
            mux.unit.valid.eq(Cat(unit.bus.valid for unit in self._polled).any() | poller.poll),
            *(unit.bus.ready.eq(mux.unit.ready & ~poller.poll) for unit in self._polled),
        ]
        with m.If(poller.poll):
            m.d.comb += mux.unit.payload.op.eq(BusOp.STATUS)
            if polls_planes(self.config):
                m.d.comb += mux.unit.payload.plane.eq(poller.plane)

    def _report(self, m: Module) -> None:
        """State and pulses of all units."""
        programmer, eraser, updater, mover = self._programmer, self._eraser, self._updater, self._mover
        busy = [self.results.valid, *(unit.schedule.busy | unit.schedule.request for unit in self._units)]
        if self._replacer is not None:
            busy.append(self._replacer.busy)
        sensed, page_output = self._reader.sensed, self._reader.page_output
        if self._retrier is not None:
            sensed, page_output = sensed | self._retrier.sensed, page_output | self._retrier.page_output
        m.d.comb += [
            self.ready.eq(self._reset.ready),
            *(self._reset.interface.eq(self.interface) for _ in interface_port(self.config)),
            self.idle.eq(~Cat(busy).any()),
            self.lost.eq(self._poller.lost | self._reader.lost),
            self.page_output.eq(page_output | updater.page_output),
        ]
        for name, member in reset_ports(self.config).items():
            inside, outside = getattr(self._reset, name), getattr(self, name)
            m.d.comb += outside.eq(inside) if member.flow is Out else inside.eq(outside)
        pulses = {
            "programmed": programmer.programmed | updater.programmed,
            "page_programmed": programmer.page_programmed | updater.page_programmed,
            "sensed": sensed | updater.programmed,
            "ended": eraser.ended,
            "failure": programmer.failure | eraser.failure | updater.failure,
        }
        for name, pulse in pulses.items():
            every = pulse if mover is None else pulse | getattr(mover, name)
            m.d.comb += getattr(self, name).eq(every)
