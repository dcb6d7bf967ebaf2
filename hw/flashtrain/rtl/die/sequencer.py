"""Runs a die's operations on its array, and knows how they ended."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.hdl import ValueLike
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.forward import follow
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieCommand as C

from .array_port import ArrayControl, ArrayOp, row_layout
from .beside import ReadBeside


class State(enum.Enum):
    READY = 0
    SHORT_BUSY = 1  # until the timer has run out
    WAIT_FOR_ARRAY = 2  # it still works on the operation before
    ARRAY_BUSY = 3  # the die is ready again when the array is
    UPDATING = 4  # it is when the update unit is done


class Sequencer(wiring.Component):
    """From commands to operations of the array.

    A multi-plane operation is gathered plane by plane and starts with the last. The array starts at once when
    it is idle. After a cache command (15h, 31h) the die is ready while the array works, `tcbsy` after the
    command at the earliest; the next one waits until the array is done.

    What was read is *handed over* to the cache register, by an exchange of the registers: when the array is
    done after 30h, by the next 31h or 3Fh in a cache sequence.

    UPDATE senses a tile, hands it over, and at once programs the tile of the UPDATE before, which was in the
    cache registers until then; its rows are kept meanwhile. UPDATE_END programs the last.

    A tile that is damaged (`spec.update`) counts as one whose program has failed, on the planes concerned.

    If there are spare blocks, what 35h has sensed stays in the cache register, and is programmed from there.
    A feature that is set keeps the die busy for `tfeat`, if the configuration has one.

    What `ReadBeside` does goes on beside that: nothing but its own sense starts on the array while it holds
    the data registers.

    Members
    -------
    command, byte, address, first, row, copies    see `CommandDecoder`
    feature : In(1)         one has been set
    ready : Out(1)          RDY: the die takes commands
    array_ready : Out(1)    ARDY: and the array is idle
    beside : Out(1)         BESIDE: a page set that was read beside is in the data registers
    failed : Out(planes)    FAIL of each plane, of the last operation
    failed_before : Out(planes)  FAILC of each plane: of the program before, in a sequence of cache programs
    swap : Out(1)           exchange cache and data registers
    handed_over : Out(1)    the pages to output are in the cache registers from this clock on
    update : Out(1)         a tile is in the cache registers from the next clock on: begin to work on it
    update_busy : In(1)     the update unit works, from the clock after `update` on
    update_damaged : In(planes)   planes on which the tile is damaged, when the unit is done
    within_update : Out(1)  the die is busy with an UPDATE
    source_row, target_row : Out   rows of the tile that the unit works on; with a randomizer
    resting : Out(1)        nothing changes before the next command or the end of the array's operation
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
            "beside": Out(1),
            "failed": Out(planes),
            "failed_before": Out(planes),
            "swap": Out(1),
            "handed_over": Out(1),
            "update": Out(1),
            "update_busy": In(1),
            "update_damaged": In(planes),
            "within_update": Out(1),
            **({
                "source_row": Out(config.geometry.row_bits),
                "target_row": Out(config.geometry.row_bits),
            } if config.randomizer else {}),
            "resting": Out(1),
            "array": Out(ArrayControl(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g, timing = self.config.geometry, self.config.timing
        array = self.array
        m.submodules.beside = beside = ReadBeside(self.config)
        follow(m, beside, self, ("command", "byte", "address", "first", "row"))
        m.d.comb += [
            beside.sensing.eq(array.sensing),
            self.beside.eq(beside.done),
        ]

        # The operation being put together, and later repeated on the next page by 31h.
        planes = Signal(g.planes, reset_less=True)
        page = Signal(g.row_bits, reset_less=True)
        blocks = Signal(data.ArrayLayout(unsigned(g.block_bits), g.planes), reset_less=True)
        more_follow = Signal()  # the next plane joins the ones before
        addressed = Signal()  # the address for the next command has come
        row = data.View(row_layout(self.config), self.row[: row_layout(self.config).size])

        def gather() -> None:
            plane = 1 << row.plane
            m.d.sync += [
                planes.eq(Mux(more_follow, planes | plane, plane)),
                page.eq(row.page),
                blocks[row.plane].eq(row.block),
                addressed.eq(1),
            ]

        with m.If(self.address), m.Switch(self.first):
            with m.Case(C.READ, C.PROGRAM, C.ERASE, C.UPDATE_SOURCE):
                gather()
            if self.config.geometry.spare_blocks:
                with m.Case(C.CHANGE_WRITE_COLUMN), m.If(self.copies):
                    gather()

        # Where the tile of this UPDATE goes, and where that of the one before, if there is one.
        rows = data.StructLayout(
            {"page": g.row_bits, "blocks": data.ArrayLayout(unsigned(g.block_bits), g.planes)}
        )
        target = Signal(rows, reset_less=True)
        tile = Signal(rows, reset_less=True)
        holds_tile = Signal()
        tile_damaged = Signal(g.planes)
        program_damaged = Signal(g.planes)  # those of the tile that was programmed last
        with m.If(self.address & (self.first == C.UPDATE_TARGET)):
            m.d.sync += [target.page.eq(row.page), target.blocks[row.plane].eq(row.block)]

        state = Signal(State)
        op = Signal(ArrayOp, reset_less=True)
        starts = Signal(reset_less=True)  # the command starts the array; all but 3Fh do
        cached = Signal(reset_less=True)  # the die does not wait for the array's end
        waiting = Signal()  # the data register holds a page that was read, or soon will
        programs = Signal()  # the array's last operation is a cache program or one of a tile
        updates = Signal(reset_less=True)  # the operation is an UPDATE or its end
        to_tile = Signal()  # the array's next operation is the program of the tile
        shorts = ("tdbsy", "tcbsy", "trst", *(("tfeat",) if self.config.read_levels else ()))
        longest = max(map(timing.clocks, shorts))
        timer = Signal(range(longest + 1))
        counting = Signal()
        m.d.comb += counting.eq(timer != 0)
        with m.If(counting):
            m.d.sync += timer.eq(timer - 1)

        copyback = (C.COPYBACK_READ_CONFIRM,) if g.spare_blocks else ()
        senses = (C.READ_CONFIRM, *copyback)

        def begin(kind: ArrayOp, *, cache: bool, start: ValueLike = 1, update: bool = False):
            least = timing.clocks("tcbsy") - 1 if cache and not update else 0
            m.d.sync += [
                state.eq(State.WAIT_FOR_ARRAY),
                op.eq(kind),
                cached.eq(cache),
                starts.eq(start),
                updates.eq(update),
                timer.eq(least),
                more_follow.eq(0),
                addressed.eq(0),
            ]

        m.d.sync += self.handed_over.eq(0)
        with m.Switch(state):
            with m.Case(State.READY):
                with m.If(self.command), m.Switch(self.byte):
                    with m.Case(
                        C.READ_MULTI_PLANE, C.PROGRAM_MULTI_PLANE, C.ERASE_MULTI_PLANE, C.UPDATE_MULTI_PLANE
                    ):
                        m.d.sync += [
                            state.eq(State.SHORT_BUSY),
                            timer.eq(timing.clocks("tdbsy") - 1),
                            more_follow.eq(1),
                        ]
                    with m.Case(*senses):
                        begin(ArrayOp.SENSE, cache=False)
                    with m.Case(C.READ_CACHE):
                        begin(ArrayOp.SENSE, cache=True)
                        with m.If(~addressed):
                            m.d.sync += page.eq(page + 1)
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
                        begin(ArrayOp.PROGRAM, cache=True, start=holds_tile, update=True)
                        m.d.sync += holds_tile.eq(0)
                if self.config.read_levels:
                    with m.If(self.feature):
                        m.d.sync += [state.eq(State.SHORT_BUSY), timer.eq(timing.clocks("tfeat") - 1)]
            with m.Case(State.SHORT_BUSY):
                with m.If(~counting):
                    m.d.sync += state.eq(State.READY)
            with m.Case(State.WAIT_FOR_ARRAY):
                with m.If(~array.busy & ~beside.holds):
                    m.d.comb += array.start.eq(starts)
                    m.d.sync += [
                        state.eq(Mux(cached, State.SHORT_BUSY, State.ARRAY_BUSY)),
                        waiting.eq(cached & starts & (op == ArrayOp.SENSE)),
                        programs.eq(cached & (op == ArrayOp.PROGRAM)),
                        self.failed_before.eq(
                            Mux(programs & (updates | (op == ArrayOp.PROGRAM)), self.failed, 0)
                        ),
                        self.handed_over.eq(cached & (op == ArrayOp.SENSE)),
                    ]
                    m.d.comb += self.swap.eq((op == ArrayOp.PROGRAM) | (cached & waiting))
                    with m.If(starts):
                        m.d.sync += program_damaged.eq(
                            Mux(updates & (op == ArrayOp.PROGRAM), tile_damaged, 0)
                        )
            with m.Case(State.ARRAY_BUSY):
                with m.If(~array.busy):
                    m.d.sync += state.eq(State.READY)
                    with m.If(op == ArrayOp.SENSE):
                        m.d.comb += self.swap.eq(1)
                        m.d.sync += self.handed_over.eq(~updates)
                    with m.If(updates):
                        m.d.comb += [array.start.eq(holds_tile), self.update.eq(1)]
                        m.d.sync += [
                            state.eq(State.UPDATING),
                            programs.eq(holds_tile),
                            holds_tile.eq(1),
                            tile.eq(target),
                            program_damaged.eq(Mux(holds_tile, tile_damaged, 0)),
                        ]
            with m.Case(State.UPDATING):
                with m.If(~self.update_busy):
                    m.d.sync += [state.eq(State.READY), tile_damaged.eq(self.update_damaged)]

        if self.config.randomizer:
            m.d.comb += self.target_row.eq(tile.page)
            with m.If(self.update):
                m.d.sync += self.source_row.eq(page)
        m.d.comb += [
            to_tile.eq(updates & ((op == ArrayOp.PROGRAM) | (state == State.ARRAY_BUSY))),
            array.op.eq(Mux(to_tile, ArrayOp.PROGRAM, op)),
            array.planes.eq(planes),
            array.page.eq(Mux(to_tile, tile.page, page)),
            array.blocks.eq(Mux(to_tile, tile.blocks, blocks)),
        ]
        with m.If(beside.start):
            m.d.comb += [
                array.start.eq(1),
                array.op.eq(ArrayOp.BESIDE),
                array.planes.eq(beside.planes),
                array.page.eq(beside.page),
                array.blocks.eq(beside.blocks),
            ]

        with m.If(self.command & (self.byte == C.RESET)):
            m.d.comb += [array.abort.eq(1), array.start.eq(0), self.update.eq(0)]
            m.d.sync += [
                state.eq(State.SHORT_BUSY),
                timer.eq(timing.clocks("trst") - 1),
                more_follow.eq(0),
                addressed.eq(0),
                waiting.eq(0),
                programs.eq(0),
                program_damaged.eq(0),
                holds_tile.eq(0),
                self.failed_before.eq(0),
            ]

        m.d.comb += [
            self.ready.eq(state == State.READY),
            self.within_update.eq(
                updates & ~self.ready & (op == ArrayOp.SENSE) & (state != State.SHORT_BUSY)
            ),
            self.resting.eq(
                ~counting
                & ~self.handed_over
                & ~beside.start
                & (self.ready | (array.busy & (state != State.SHORT_BUSY) & (state != State.UPDATING)))
            ),
            self.array_ready.eq(self.ready & ~array.busy & ~array.sensing),
            self.failed.eq(array.failed | Mux(array.busy, 0, program_damaged)),
        ]
        return m
