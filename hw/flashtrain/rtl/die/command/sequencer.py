"""Runs the operations of a die on its array and keeps their status."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.hdl import ValueLike
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.array_port import ArrayControl, ArrayOp, row_layout
from flashtrain.rtl.lib.forward import follow
from flashtrain.rtl.lib.timer import Timer
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieCommand as C

from .suspended_read import SuspendedRead


class State(enum.Enum):
    IDLE = 0  # the die is ready
    SHORT_BUSY = 1  # until the timer expires
    WAIT_FOR_ARRAY = 2  # the array is busy with the operation before
    ARRAY_BUSY = 3  # until the array is ready
    UPDATING = 4  # until the update unit is done


class _State:
    """Registers of the sequencer."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        blocks = data.ArrayLayout(unsigned(g.block_bits), g.planes)
        tile = data.StructLayout({"page": g.page_bits, "blocks": blocks})
        self.state = Signal(State)

        # The next operation. 31h repeats it on the next page.
        self.planes = Signal(g.planes, reset_less=True)
        self.page = Signal(g.page_bits, reset_less=True)
        self.blocks = Signal(blocks, reset_less=True)
        self.more_follow = Signal()  # the next plane joins the ones before
        self.addressed = Signal()  # the address for the next command is complete
        self.op = Signal(ArrayOp, reset_less=True)
        self.starts = Signal(reset_less=True)  # the command starts the array; all but 3Fh do
        self.cached = Signal(reset_less=True)  # the die does not wait for the array's end
        self.updates = Signal(reset_less=True)  # the operation is an UPDATE or its end

        self.unread = Signal()  # the data register holds a page that was read, or soon will
        self.programs = Signal()  # the array's last operation is a cache program or one of a tile

        # The tile that this UPDATE writes, and the tile of the UPDATE before, if there is one.
        self.target = Signal(tile, reset_less=True)
        self.tile = Signal(tile, reset_less=True)
        self.holds_tile = Signal()
        self.tile_damaged = Signal(g.planes)
        self.program_damaged = Signal(g.planes)  # of the tile that was programmed last

        times = ("tdbsy", "tcbsy", "trst", *(("tfeat",) if config.read_levels else ()))
        longest = max(map(config.timing.cycles, times)) - 1
        self.timer = Timer(longest.bit_length())


class Sequencer(wiring.Component):
    """Executes commands as operations of the array.

    A multi-plane operation is gathered plane by plane and starts with the last plane, at once if the array is
    idle. After a cache command (15h, 31h) the die is ready while the array works, `tcbsy` after the command
    at the earliest. The next operation waits until the array is idle.

    An exchange of the registers *hands* a sensed page *over* to the cache register. It occurs at the end of
    the sense after 30h, and at the next 31h or 3Fh in a cache sequence.

    UPDATE senses a tile and hands it over. At the same time it starts to program the tile of the previous
    UPDATE, which was in the cache registers; the sequencer holds its page numbers. UPDATE_END programs the
    last tile.

    A damaged tile (`spec.update`) is reported as a failed program of the planes concerned.

    With spare blocks a page sensed by 35h stays in the cache register and is programmed from there. SET
    FEATURES keeps the die busy for `tfeat`, if the configuration has this time.

    `SuspendedRead` works in parallel. While it reserves the data registers only its own sense starts on the
    array.

    Members
    -------
    command, byte, address, first, row, copies    see `CommandDecoder`
    feature : In(1)         a feature has been set
    ready : Out(1)          RDY: the die accepts commands
    array_ready : Out(1)    ARDY: RDY, and the array is idle
    suspended_read : Out(1)   the page set of a suspended read is in the data registers
    failed : Out(planes)    FAIL of each plane, of the last operation
    failed_before : Out(planes)  FAILC of each plane: of the program before, in a sequence of cache programs
    swap : Out(1)           exchange cache and data registers
    handed_over : Out(1)    the pages to output are in the cache registers from this cycle on
    update : Out(1)         a tile is in the cache registers from the next cycle on: start the update unit
    update_busy : In(1)     the update unit is busy, from the cycle after `update` on
    update_damaged : In(planes)   planes on which the tile is damaged, when the unit is done
    within_update : Out(1)  the die is busy with an UPDATE
    source_page, target_page : Out   pages of the tile in the update unit; with a randomizer
    array : Out(ArrayControl)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        planes = config.geometry.planes
        super().__init__({
            "command": In(1),
            "byte": In(8),
            "address": In(1),
            "first": In(8),
            "row": In(24),
            "copies": In(1),
            "feature": In(1),
            "ready": Out(1),
            "array_ready": Out(1),
            "suspended_read": Out(1),
            "failed": Out(planes),
            "failed_before": Out(planes),
            "swap": Out(1),
            "handed_over": Out(1),
            "update": Out(1),
            "update_busy": In(1),
            "update_damaged": In(planes),
            "within_update": Out(1),
            **({
                "source_page": Out(config.geometry.page_bits),
                "target_page": Out(config.geometry.page_bits),
            } if config.randomizer else {}),
            "array": Out(ArrayControl(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.suspended_read = suspended_read = SuspendedRead(self.config)
        follow(m, suspended_read, self, ("command", "byte", "address", "first", "row"))
        m.d.comb += [
            suspended_read.sensing.eq(self.array.sensing),
            self.suspended_read.eq(suspended_read.done),
        ]
        s = _State(self.config)
        self._gather(m, s)
        m.submodules.timer = s.timer
        m.d.sync += self.handed_over.eq(0)
        with m.Switch(s.state):
            with m.Case(State.IDLE):
                self._begin(m, s)
            with m.Case(State.SHORT_BUSY):
                with m.If(~s.timer.port.running):
                    m.d.sync += s.state.eq(State.IDLE)
            with m.Case(State.WAIT_FOR_ARRAY):
                self._start(m, s, suspended_read)
            with m.Case(State.ARRAY_BUSY):
                self._finish(m, s)
            with m.Case(State.UPDATING):
                with m.If(~self.update_busy):
                    m.d.sync += [s.state.eq(State.IDLE), s.tile_damaged.eq(self.update_damaged)]
        self._drive_array(m, s, suspended_read)
        self._reset(m, s)
        self._status(m, s)
        return m

    def _gather(self, m: Module, s: _State) -> None:
        """Addresses, plane by plane: of an operation, and of the tile that an UPDATE writes."""
        row = data.View(row_layout(self.config), self.row[: row_layout(self.config).size])

        def gather() -> None:
            plane = 1 << row.plane
            m.d.sync += [
                s.planes.eq(Mux(s.more_follow, s.planes | plane, plane)),
                s.page.eq(row.page),
                s.blocks[row.plane].eq(row.block),
                s.addressed.eq(1),
            ]

        with m.If(self.address), m.Switch(self.first):
            with m.Case(C.READ, C.PROGRAM, C.ERASE, C.UPDATE_SOURCE):
                gather()
            if self.config.geometry.spare_blocks:
                with m.Case(C.CHANGE_WRITE_COLUMN), m.If(self.copies):
                    gather()
        with m.If(self.address & (self.first == C.UPDATE_TARGET)):
            m.d.sync += [s.target.page.eq(row.page), s.target.blocks[row.plane].eq(row.block)]

    def _busy_for(self, m: Module, s: _State, time: str) -> None:
        """The die stays busy for at least this time, which begins with the next cycle."""
        # The state follows the timer a cycle later.
        m.d.comb += [s.timer.port.start.eq(1), s.timer.port.cycles.eq(self.config.timing.cycles(time) - 1)]

    def _begin(self, m: Module, s: _State) -> None:
        """A command sets up the operation; the array may still be busy with the one before."""
        copyback = (C.COPYBACK_READ_CONFIRM,) if self.config.geometry.spare_blocks else ()

        def begin(kind: ArrayOp, *, cache: bool, start: ValueLike = 1, update: bool = False):
            if cache and not update:
                self._busy_for(m, s, "tcbsy")
            m.d.sync += [
                s.state.eq(State.WAIT_FOR_ARRAY),
                s.op.eq(kind),
                s.cached.eq(cache),
                s.starts.eq(start),
                s.updates.eq(update),
                s.more_follow.eq(0),
                s.addressed.eq(0),
            ]

        with m.If(self.command), m.Switch(self.byte):
            with m.Case(C.READ_MULTI_PLANE, C.PROGRAM_MULTI_PLANE, C.ERASE_MULTI_PLANE, C.UPDATE_MULTI_PLANE):
                self._busy_for(m, s, "tdbsy")
                m.d.sync += [s.state.eq(State.SHORT_BUSY), s.more_follow.eq(1)]
            with m.Case(C.READ_CONFIRM, *copyback):
                begin(ArrayOp.SENSE, cache=False)
            with m.Case(C.READ_CACHE):
                begin(ArrayOp.SENSE, cache=True)
                with m.If(~s.addressed):
                    m.d.sync += s.page.eq(s.page + 1)
            with m.Case(C.READ_CACHE_END):
                begin(ArrayOp.SENSE, cache=True, start=0)
            with m.Case(C.PROGRAM_CONFIRM):
                begin(ArrayOp.PROGRAM, cache=False)
            with m.Case(C.PROGRAM_CACHE):
                begin(ArrayOp.PROGRAM, cache=True)
            with m.Case(C.ERASE_CONFIRM):
                begin(ArrayOp.ERASE, cache=False)
            with m.Case(C.UPDATE):
                begin(ArrayOp.SENSE, cache=False, update=True)
            with m.Case(C.UPDATE_END):
                begin(ArrayOp.PROGRAM, cache=True, start=s.holds_tile, update=True)
                m.d.sync += s.holds_tile.eq(0)
        if self.config.read_levels:
            with m.If(self.feature):
                self._busy_for(m, s, "tfeat")
                m.d.sync += s.state.eq(State.SHORT_BUSY)

    def _start(self, m: Module, s: _State, suspended_read: SuspendedRead) -> None:
        """The array is idle and the data registers are free: the operation starts."""
        with m.If(~self.array.busy & ~suspended_read.holds):
            m.d.comb += self.array.start.eq(s.starts)
            m.d.sync += [
                s.state.eq(Mux(s.cached, State.SHORT_BUSY, State.ARRAY_BUSY)),
                s.unread.eq(s.cached & s.starts & (s.op == ArrayOp.SENSE)),
                s.programs.eq(s.cached & (s.op == ArrayOp.PROGRAM)),
                self.failed_before.eq(
                    Mux(s.programs & (s.updates | (s.op == ArrayOp.PROGRAM)), self.failed, 0)
                ),
                self.handed_over.eq(s.cached & (s.op == ArrayOp.SENSE)),
            ]
            m.d.comb += self.swap.eq((s.op == ArrayOp.PROGRAM) | (s.cached & s.unread))
            with m.If(s.starts):
                m.d.sync += s.program_damaged.eq(
                    Mux(s.updates & (s.op == ArrayOp.PROGRAM), s.tile_damaged, 0)
                )

    def _finish(self, m: Module, s: _State) -> None:
        """The array is done. An UPDATE passes its tile to the update unit and programs the one before."""
        with m.If(~self.array.busy):
            m.d.sync += s.state.eq(State.IDLE)
            with m.If(s.op == ArrayOp.SENSE):
                m.d.comb += self.swap.eq(1)
                m.d.sync += self.handed_over.eq(~s.updates)
            with m.If(s.updates):
                m.d.comb += [self.array.start.eq(s.holds_tile), self.update.eq(1)]
                m.d.sync += [
                    s.state.eq(State.UPDATING),
                    s.programs.eq(s.holds_tile),
                    s.holds_tile.eq(1),
                    s.tile.eq(s.target),
                    s.program_damaged.eq(Mux(s.holds_tile, s.tile_damaged, 0)),
                ]

    def _drive_array(self, m: Module, s: _State, suspended_read: SuspendedRead) -> None:
        array = self.array
        if self.config.randomizer:
            m.d.comb += self.target_page.eq(s.tile.page)
            with m.If(self.update):
                m.d.sync += self.source_page.eq(s.page)
        to_tile = Signal()  # the array's next operation is the program of the tile
        m.d.comb += [
            to_tile.eq(s.updates & ((s.op == ArrayOp.PROGRAM) | (s.state == State.ARRAY_BUSY))),
            array.op.eq(Mux(to_tile, ArrayOp.PROGRAM, s.op)),
            array.planes.eq(s.planes),
            array.page.eq(Mux(to_tile, s.tile.page, s.page)),
            array.blocks.eq(Mux(to_tile, s.tile.blocks, s.blocks)),
        ]
        with m.If(suspended_read.start):
            m.d.comb += [
                array.start.eq(1),
                array.op.eq(ArrayOp.SUSPENDED_READ),
                array.planes.eq(suspended_read.planes),
                array.page.eq(suspended_read.page),
                array.blocks.eq(suspended_read.blocks),
            ]

    def _reset(self, m: Module, s: _State) -> None:
        with m.If(self.command & (self.byte == C.RESET)):
            m.d.comb += [self.array.abort.eq(1), self.array.start.eq(0), self.update.eq(0)]
            self._busy_for(m, s, "trst")
            m.d.sync += [
                s.state.eq(State.SHORT_BUSY),
                s.more_follow.eq(0),
                s.addressed.eq(0),
                s.unread.eq(0),
                s.programs.eq(0),
                s.program_damaged.eq(0),
                s.holds_tile.eq(0),
                self.failed_before.eq(0),
            ]

    def _status(self, m: Module, s: _State) -> None:
        array = self.array
        m.d.comb += [
            self.ready.eq(s.state == State.IDLE),
            self.within_update.eq(
                s.updates & ~self.ready & (s.op == ArrayOp.SENSE) & (s.state != State.SHORT_BUSY)
            ),
            self.array_ready.eq(self.ready & ~array.busy & ~array.sensing),
            self.failed.eq(array.failed | Mux(array.busy, 0, s.program_damaged)),
        ]
