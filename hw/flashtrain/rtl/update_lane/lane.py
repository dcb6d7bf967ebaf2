"""Optimizer steps beside the tensor buffer, tile by tile."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.rtl.die.update.updater import Updater
from flashtrain.spec import FmsConfig
from flashtrain.spec.state_format import PLACE_LOW
from flashtrain.spec.update import UpdateHeader, UpdateStatistics

from .order import LaneOrder, LaneTask
from .tile_buffer import TileBuffer

_PAIR_BITS = 16
_PAIRS = 8 * LANE_BYTES // _PAIR_BITS


class State(enum.Enum):
    IDLE = 0
    HEADER = 1  # comes in, two bytes at a time
    GRADIENTS = 2  # come in
    TILE = 3  # comes in
    COMPUTING = 4
    NEW_TILE = 5  # goes out
    COPIES = 6  # go out
    STATISTICS = 7  # go out, two bytes at a time


class UpdateLane(wiring.Component):
    """Updates tiles of the tensor buffer::

        words_in ──┬──▶ tile buffer ◀──▶ updater ──┬──▶ words_out
                   └──────────────────▶ of a die ──┘

    The updater is that of a die: gradient buffers, tile sequencer, update unit with its divided clock,
    statistics. A tile buffer takes the place of the cache registers, and words of 8 bytes that of the pins.
    The words' source and sink choose the addresses in the tensor buffer.

    Throughput: a word per cycle, but four cycles for each word of a header or of statistics. The phases of an
    order do not overlap. Latency: the updater's and 3 cycles, from a tile's last input word to its first
    output word.

    Members
    -------
    order : In(stream(LaneOrder))   taken when the order before is complete; the first is a STEP
    words_in : In(stream(64)), words_out : Out(stream(64))
    """

    def __init__(self, config: FmsConfig):
        self.config = config = config.for_exact_data()  # tiles do not come from cells
        super().__init__({
            "order": In(stream.Signature(LaneOrder(config))),
            "words_in": In(stream.Signature(8 * LANE_BYTES)),
            "words_out": Out(stream.Signature(8 * LANE_BYTES)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.updater = updater = Updater(self.config)
        m.submodules.tile = tile = TileBuffer(self.config)
        connect(m, updater.tile, tile.tile)
        # Without pages there are no identities: their ports are always ready, and `damaged` is not read.
        m.d.comb += [updater.identities.read_ready.eq(1), updater.identities.ready.eq(1)]

        state = Signal(State)
        left = Signal(range(tile.lanes + 1))  # words of this state that are not yet moved
        copies = Signal.like(self.order.payload.copies, reset_less=True)
        move, done = Signal(), Signal()  # a word is moved; it is the last
        m.d.comb += done.eq(move & (left == 1))
        with m.If(move):
            m.d.sync += left.eq(left - 1)
        self._count_position(m, updater, tile, move, done)
        pair = Signal(range(_PAIRS))  # of a word that is taken apart or put together
        pair_end = Signal()
        m.d.comb += pair_end.eq(pair == _PAIRS - 1)
        with m.If(updater.header_beat | updater.statistics_next):
            m.d.sync += pair.eq(pair + 1)
        out_free = self._give(m, updater, tile, state, pair_end)
        m.d.comb += [
            tile.lane_in.eq(self.words_in.payload),
            updater.lane_in.eq(self.words_in.payload),
            updater.byte_pair_in.eq(self.words_in.payload.word_select(pair, _PAIR_BITS)),
        ]

        def go(to: State, words) -> list:
            return [state.eq(to), left.eq(words)]

        with m.Switch(state):
            with m.Case(State.IDLE):
                order = self.order.payload
                m.d.comb += self.order.ready.eq(~self.words_out.valid)
                with m.If(self.order.valid & self.order.ready):
                    m.d.sync += copies.eq(order.copies)
                    with m.Switch(order.task):
                        with m.Case(LaneTask.STEP):
                            m.d.comb += [updater.header_begin.eq(1), updater.clear.eq(1)]
                            m.d.sync += go(State.HEADER, UpdateHeader.BYTES // LANE_BYTES)
                        with m.Case(LaneTask.TILE):
                            # The place lies in the first lane of the identity behind the first page.
                            m.d.comb += [
                                updater.load.eq(1),
                                updater.put.eq(1),
                                updater.lane.eq(self.config.geometry.page_bytes // LANE_BYTES),
                                updater.lane_in.eq(order.place << PLACE_LOW),
                            ]
                            m.d.sync += go(State.GRADIENTS, order.gradients)
                        with m.Case(LaneTask.REPORT):
                            m.d.comb += updater.statistics_begin.eq(1)
                            m.d.sync += go(State.STATISTICS, UpdateStatistics.BYTES // LANE_BYTES)
            with m.Case(State.HEADER):
                m.d.comb += [
                    updater.header_beat.eq(self.words_in.valid),
                    self.words_in.ready.eq(pair_end),
                    move.eq(self.words_in.valid & self.words_in.ready),
                ]
                with m.If(done):
                    m.d.sync += state.eq(State.IDLE)
            with m.Case(State.GRADIENTS):
                m.d.comb += [self.words_in.ready.eq(1), move.eq(self.words_in.valid), updater.put.eq(move)]
                with m.If(done):
                    m.d.sync += go(State.TILE, tile.lanes)
            with m.Case(State.TILE):
                m.d.comb += [self.words_in.ready.eq(1), move.eq(self.words_in.valid), tile.put.eq(move)]
                with m.If(done):
                    m.d.comb += [updater.update.eq(1), updater.start.eq(1)]
                    m.d.sync += state.eq(State.COMPUTING)
            with m.Case(State.COMPUTING):
                with m.If(~updater.busy):
                    m.d.sync += go(State.NEW_TILE, tile.lanes)
            with m.Case(State.NEW_TILE):
                m.d.comb += [move.eq(out_free), tile.ask.eq(move)]
                with m.If(done):
                    m.d.sync += go(State.COPIES, copies)
                    with m.If(copies == 0):
                        m.d.sync += state.eq(State.IDLE)
            with m.Case(State.COPIES):
                m.d.comb += [move.eq(out_free), updater.ask.eq(move)]
                with m.If(done):
                    m.d.sync += state.eq(State.IDLE)
            with m.Case(State.STATISTICS):
                m.d.comb += [updater.statistics_next.eq(out_free), move.eq(out_free & pair_end)]
                with m.If(done):
                    m.d.sync += state.eq(State.IDLE)
        return m

    def _count_position(self, m: Module, updater: Updater, tile: TileBuffer, move, done) -> None:
        """The position of the next word in a page set or in pages of gradients."""
        page_lanes = self.config.geometry.page_bytes // LANE_BYTES
        plane, lane = Signal.like(updater.plane), Signal.like(updater.lane)
        page_end = Signal()
        m.d.comb += [
            page_end.eq(lane == page_lanes - 1),
            tile.position.eq(plane * page_lanes + lane),
            updater.plane.eq(plane),
            updater.lane.eq(lane),
        ]
        with m.If(move):
            m.d.sync += [lane.eq(Mux(page_end, 0, lane + 1)), plane.eq(plane + page_end)]
        with m.If(done):
            m.d.sync += [lane.eq(0), plane.eq(0)]

    def _give(self, m: Module, updater: Updater, tile: TileBuffer, state, pair_end):
        """Output the requested words. Returns whether the next may be requested."""
        words, free = self.words_out, Signal(name="out_free")
        m.d.comb += free.eq(~words.valid | words.ready)
        source = Signal(State, reset_less=True)  # of the word in `words_out`
        statistics = Signal(8 * LANE_BYTES, reset_less=True)
        with m.If(updater.statistics_next):
            m.d.sync += statistics.eq(Cat(statistics[_PAIR_BITS:], updater.byte_pair_out))
        with m.If(tile.ask | updater.ask | (updater.statistics_next & pair_end)):
            m.d.sync += [words.valid.eq(1), source.eq(state)]
        with m.Elif(words.ready):
            m.d.sync += words.valid.eq(0)
        with m.Switch(source):
            with m.Case(State.NEW_TILE):
                m.d.comb += words.payload.eq(tile.lane_out)
            with m.Case(State.COPIES):
                m.d.comb += words.payload.eq(updater.lane_out)
            with m.Case(State.STATISTICS):
                m.d.comb += words.payload.eq(statistics)
        return free
