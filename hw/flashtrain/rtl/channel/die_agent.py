"""A die's agent: what is to be done with one die, as bus operations."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from ..forward import forward
from ..layouts import BusRequest, DieRead, PageEvent, PageKind, PageRetry, PageSet, SetResult, SpareUse
from ..zones.erase import EraseRequest, EraseResult
from .block_replacer import BlockReplacer
from .die_reset import DieReset
from .die_share import DieShare
from .die_watch import DieTimers, DieWatch
from .eraser import Eraser
from .mover import Mover
from .programmer import Programmer
from .reader import Reader
from .retrier import Retrier
from .turns import Turns
from .updater import Updater


def _spare_ports(config: FmsConfig) -> dict:
    if not config.geometry.spare_blocks:
        return {}
    use = stream.Signature(SpareUse(config))
    return {"restored": In(use), "change": Out(use), "replaced": Out(1), "repeated": Out(1)}


class DieAgent(wiring.Component):
    """Programs, reads, erases and updates one die, one of them at a time, after a reset.

    The units do the work; `Turns` says whose turn it is, `DieWatch` when the die is ready. If there are spare
    blocks, a page set that has failed is done again by the `Mover`; until then only reads have turns, too.

    While it programs or erases the reader is a guest: it reads beside that (`Reader`), so that neither waits
    for the other, and has no turn of its own before there is nothing more to program. The die sees to it that
    programs advance, `DieShare` that both get at it. Programs come first: while a page set waits, one set of
    several pages is read for each one programmed, or `read_run` if reads have a `backlog`.

    Programs, reads, erases and updates that wait for one another get their turns in rotation. A turn is over
    when the unit has nothing more to do, or after its run if another waits. So whoever waits for the die
    waits at most for what is in it already (two page sets or tiles, or an erase) and one turn of each other
    unit.
    With `read_levels` the retries of reads are a fifth kind of work, a page in a turn.
    Erases are not put off until the die is idle: all dies are asked to erase a zone at the same time, and if
    each did it when it suited, a stream of appends over all of them would wait for each.

    Latency: 3 clocks from work to its first bus request, if the die does nothing else; a lone read waits
    `patience` clocks more. Throughput, on the bus of `BusController` with NV-DDR3's times and pages of 4 KiB:
    sequential programs keep the array busy all the time if all planes of all dies load within tPROG - tCBSY;
    sequential reads fill 91.1 % of the bus with data (2 dies, 4 planes), 91.8 % (2, 8) or 93.6 % (4, 8). The
    rest is SELECT, tRHW, and for each set a status and one tCCS that nothing hides.

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
    timers : Out(DieTimers)
    ready : Out(1)   the die has been reset
    idle : Out(1)    nothing is under way and nothing waits
    lost : Out(1)    pulse, perhaps more than one: the die does not become ready. From now on the bus must
                     answer its operations instead of it
    programmed, page_programmed, sensed, page_output, ended, failure : Out(1)
        pulses for PROGRAMS, PAGES_PROGRAMMED, SENSES, PAGES_SENSED, ERASES, FAILURES of `ChannelCounter`; an
        update of a tile is a sense and a program

    Parameters
    ----------
    read_run, program_run, update_run : page sets begun in a turn while another unit waits. One program: when
        reads wait, no data-in starts after that of the set under way. Four senses are worth the change, and
        four updates, of which the last one's program has no work of the update unit beside it.
    patience : clocks that a set of reads waits for a further page. By default a little longer than the read
        pipeline takes to come round to the channel again: it asks the channels in turn, one page per clock.
    """

    def __init__(
        self,
        config: FmsConfig,
        *,
        read_run: int = 4,
        program_run: int = 1,
        update_run: int = 4,
        patience: int | None = None,
    ):
        self.config = config
        self.read_run = read_run
        self.program_run = program_run
        self.update_run = update_run
        self.patience = config.geometry.channels + 4 if patience is None else patience
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
            "timers": Out(DieTimers(config)),
            "ready": Out(1),
            "idle": Out(1),
            "lost": Out(1),
            "programmed": Out(1),
            "page_programmed": Out(1),
            "sensed": Out(1),
            "page_output": Out(1),
            "ended": Out(1),
            "failure": Out(1),
            **_spare_ports(config),
            **({"retries": In(stream.Signature(PageRetry(config)))} if config.read_levels else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.reset = reset = DieReset(self.config)
        m.submodules.programmer = programmer = Programmer(self.config)
        m.submodules.reader = reader = Reader(self.config, self.patience)
        m.submodules.eraser = eraser = Eraser(self.config)
        m.submodules.updater = updater = Updater(self.config)
        units = [reset, programmer, reader, eraser, updater]
        watched = [reset, programmer, eraser, updater]
        runs = [1, self.program_run, self.read_run, 1, self.update_run]
        mover = Mover(self.config) if self.config.geometry.spare_blocks else None
        if mover is not None:
            m.submodules.mover = mover
            units.append(mover)
            watched.append(mover)
            runs.append(1)
        hosts = (programmer, eraser)
        sensed, page_output = reader.sensed, reader.page_output
        if self.config.read_levels:
            m.submodules.retrier = retrier = Retrier(self.config)
            connect(m, flipped(self.retries), retrier.retries)
            units.append(retrier)
            watched.append(retrier)
            runs.append(1)
            sensed, page_output = sensed | retrier.sensed, page_output | retrier.page_output
        m.submodules.share = share = DieShare(self.config)
        m.submodules.turns = turns = Turns(runs)
        m.submodules.watch = watch = DieWatch(self.config)

        connect(m, watch.array, flipped(self.timers.array))
        connect(m, watch.short, flipped(self.timers.short))
        connect(m, reader.timer, flipped(self.timers.read))
        connect(m, share.bus, flipped(self.bus))
        connect(m, reader.bus, share.reader)
        connect(m, updater.updated, flipped(self.updated))
        connect(m, flipped(self.reads), reader.reads)
        at_work = [self.results.valid, *(unit.turn.busy | unit.turn.wants for unit in units)]
        if mover is not None:
            m.submodules.replacer = replacer = BlockReplacer(self.config)
            forward(m, replacer, self, ("erase", "erased", "restored"))
            connect(m, replacer.step, eraser.erase)
            connect(m, eraser.erased, replacer.stepped)
            at_work.append(replacer.busy)
            self._move(m, mover, programmer, replacer)
        else:
            connect(m, flipped(self.erase), eraser.erase)
            connect(m, eraser.erased, flipped(self.erased))
        # Sets are in one line, whoever is to take them; results come from the unit that has the die.
        is_data = self.sets.payload.kind == PageKind.DATA
        m.d.comb += [
            programmer.sets.payload.eq(self.sets.payload),
            programmer.sets.valid.eq(self.sets.valid & is_data),
            updater.sets.payload.eq(self.sets.payload),
            updater.sets.valid.eq(self.sets.valid & ~is_data),
            # Only the one who has it takes it.
            self.sets.ready.eq(programmer.sets.ready | updater.sets.ready),
        ]
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
        for unit, turn in zip(units, turns.units, strict=True):
            connect(m, unit.turn, turn)
        if mover is not None:
            # What is in doubt comes before all else that changes the array.
            for unit in (programmer, eraser, updater):
                turn = turns.units[units.index(unit)]
                m.d.comb += turn.wants.eq(unit.turn.wants & ~mover.turn.wants)
            m.d.comb += reader.forgets.eq(self.change.valid)
        # The status comes with the end of the operation, and again with `over` of the watch.
        status, watched_status = Signal(8), Signal(8)
        m.d.sync += [status.eq(self.bus_status), watched_status.eq(status)]
        array_works = Signal()  # a clock ago
        m.d.sync += array_works.eq(~watch.port.due)
        for unit in watched:
            m.d.comb += [
                unit.bus_status.eq(watched_status),
                unit.bus_done.eq(share.unit_done),
                unit.watch.over.eq(watch.port.over),
                unit.watch.due.eq(~array_works),
                unit.watch.asking.eq(watch.port.asking),
                unit.watch.paused.eq(watch.port.paused),
            ]

        # A page set that waits, up to its start, goes before sets that are read: but for one for each, and
        # for a whole run if reads are far behind.
        sets_read, yields = Signal(range(self.read_run + 1)), Signal()
        run_over = sets_read == self.read_run
        m.d.sync += yields.eq(programmer.sets.valid & (run_over | ((sets_read != 0) & ~self.backlog)))
        with m.If(programmer.sets.valid & programmer.sets.ready):
            m.d.sync += sets_read.eq(0)
        with m.Elif(reader.suspends & ~run_over):
            m.d.sync += sets_read.eq(sets_read + 1)

        # The turn of a host lasts as long as its guest reads, which may just have begun when the host has
        # ended.
        beside, delays = Signal(), Signal()
        m.d.sync += delays.eq(watch.delayed)
        for unit in hosts:
            with m.If(turns.turn[units.index(unit)]):
                m.d.sync += beside.eq(unit.turn.busy)
            m.d.comb += turns.units[units.index(unit)].busy.eq(unit.turn.busy | beside | reader.reads_beside)
        m.d.comb += [
            reader.beside.eq(beside),
            reader.array_works.eq(array_works),
            reader.delays.eq(delays),
            reader.yields.eq(yields),
            reader.bus_done.eq(share.reader_done),
            reader.bus_status.eq(self.bus_status),
            share.keeps.eq(reader.keeps | programmer.keeps),
            share.hurries.eq(reader.hurries & ~watch.ask),
            share.bus_done.eq(self.bus_done),
        ]

        # Bus and watch are with the unit whose turn it is; the watch asks only while the unit does not.
        m.d.comb += [
            watch.bus_done.eq(share.unit_done),
            watch.bus_status.eq(self.bus_status),
            watch.asked.eq(share.unit.ready),
            watch.suspended.eq(reader.suspends),
            watch.held.eq(reader.holds),
            watch.port.last_page.eq(updater.watch.last_page),
        ]
        owns = {unit: turns.turn[units.index(unit)] for unit in watched}

        def from_owner(output: Callable[[Any], Any]) -> Value:
            return reduce(or_, (Mux(owns[unit], Value.cast(output(unit)), 0) for unit in watched))

        m.d.comb += [
            Value.cast(share.unit.payload).eq(from_owner(lambda unit: unit.bus.payload)),
            # Nobody asks, begins, pauses or holds without the die.
            share.unit.valid.eq(Cat(unit.bus.valid for unit in watched).any() | watch.ask),
            *(unit.bus.ready.eq(share.unit.ready & ~watch.ask) for unit in watched),
            watch.port.begin.eq(Cat(unit.watch.begin for unit in watched).any()),
            Value.cast(watch.port.work).eq(from_owner(lambda unit: unit.watch.work)),
            Value.cast(watch.port.pause).eq(reduce(or_, (Value.cast(unit.watch.pause) for unit in watched))),
            watch.port.hold.eq(Cat(unit.watch.hold for unit in watched).any()),
        ]
        with m.If(watch.ask):
            m.d.comb += share.unit.payload.op.eq(BusOp.STATUS)

        m.d.comb += [
            self.ready.eq(reset.ready),
            self.idle.eq(~Cat(at_work).any()),
            self.lost.eq(watch.lost | reader.lost),
            self.page_output.eq(page_output | updater.page_output),
        ]
        pulses = {
            "programmed": programmer.programmed | updater.programmed,
            "page_programmed": programmer.page_programmed | updater.page_programmed,
            "sensed": sensed | updater.programmed,
            "ended": eraser.ended,
            "failure": programmer.failure | eraser.failure | updater.failure,
        }
        for name, pulse in pulses.items():
            own = pulse if mover is None else pulse | getattr(mover, name)
            m.d.comb += getattr(self, name).eq(own)
        return m

    def _move(self, m: Module, mover: Mover, programmer: Programmer, replacer: BlockReplacer) -> None:
        """Page sets that have failed, and the spare blocks for them."""
        connect(m, programmer.failed, mover.failed)
        connect(m, mover.take, replacer.take)
        m.d.comb += [
            mover.taken.eq(replacer.taken),
            self.change.valid.eq(replacer.change.valid | mover.change.valid),
            self.change.payload.eq(Mux(mover.change.valid, mover.change.payload, replacer.change.payload)),
            mover.change.ready.eq(self.change.ready),
            replacer.change.ready.eq(self.change.ready & ~mover.change.valid),
            self.replaced.eq(replacer.replaced | mover.replaced),
            self.repeated.eq(mover.repeated),
        ]
