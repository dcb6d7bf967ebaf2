"""Statistics of the gradients of the optimizer step, as a die reports them."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.optimizer import PARTIAL_SUMS
from flashtrain.spec.update import UpdateStatistics

_WORD_BITS = 32
_PAIRS = 8 * UpdateStatistics.BYTES // 16


class StepStatistics(wiring.Component):
    """Counts tiles, and outputs the bytes of `UpdateStatistics` two by two, then zeros.

    Members
    -------
    clear : In(1)       sets the number of tiles to 0
    tile : In(1)        a tile was updated
    nans, infinities, largest : In(32)   see `UpdateUnit`
    index : Out(3), square : In(32)
    begin : In(1)       an output begins
    next : In(1)        `byte_pair` was taken
    byte_pair : Out(16)
    """

    def __init__(self):
        super().__init__({
            "clear": In(1),
            "tile": In(1),
            "nans": In(_WORD_BITS),
            "infinities": In(_WORD_BITS),
            "largest": In(_WORD_BITS),
            "index": Out(range(PARTIAL_SUMS)),
            "square": In(_WORD_BITS),
            "begin": In(1),
            "next": In(1),
            "byte_pair": Out(16),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        tiles = Signal(_WORD_BITS)
        with m.If(self.tile):
            m.d.sync += tiles.eq(tiles + 1)
        with m.If(self.clear):
            m.d.sync += tiles.eq(0)

        pair = Signal(range(_PAIRS + 1), reset_less=True)
        word = Signal(_WORD_BITS)
        with m.Switch(pair >> 1):
            for source, field in [
                (self.nans, UpdateStatistics.nans),
                (self.infinities, UpdateStatistics.infinities),
                (self.largest, UpdateStatistics.largest),
                (tiles, UpdateStatistics.tiles),
            ]:
                with m.Case(field.low // _WORD_BITS):
                    m.d.comb += word.eq(source)
            squares = [field.low // _WORD_BITS for field in UpdateStatistics.squares]
            with m.Case(*squares):
                m.d.comb += word.eq(self.square)
        m.d.comb += self.index.eq((pair >> 1) - squares[0])  # they are words in a row
        m.d.comb += self.byte_pair.eq(word.word_select(pair[0], 16))
        with m.If(self.next & (pair != _PAIRS)):
            m.d.sync += pair.eq(pair + 1)
        with m.If(self.begin):
            m.d.sync += pair.eq(0)
        return m
