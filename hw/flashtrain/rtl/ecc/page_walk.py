"""Which code word a beat of a page belongs to."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import LANE_BYTES, PageCode
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for


def require_width(width: int) -> None:
    """Beats must not cross the border of a code word, and these are lanes."""
    require(width > 0 and 8 * LANE_BYTES % width == 0, "width", width, f"a divisor of {8 * LANE_BYTES} bits")


class PageWalk(wiring.Component):
    """Goes through pages: the data of each code word, then the parity of each.

    Members
    -------
    step : In(1)       a beat has passed
    word : Out         the code word of the next beat
    parity : Out(1)    it is of the word's parity
    ends : Out(1)      it is the last of the word's data, or of its parity
    last : Out(1)      and the word is the last of the page
    """

    def __init__(self, code: PageCode, width: int):
        self.code = code
        self.width = width
        super().__init__({
            "step": In(1),
            "word": Out(bits_for(code.words)),
            "parity": Out(1),
            "ends": Out(1),
            "last": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        code = self.code
        lengths = Array(
            self._beats(code.data(word).stop - code.data(word).start) for word in range(code.words)
        )
        parity_length = self._beats(code.parity_bytes)

        left = Signal(range(max(*lengths, parity_length)), init=lengths[0] - 1)
        following = Signal.like(self.word)
        m.d.comb += [
            self.ends.eq(left == 0),
            self.last.eq(self.word == code.words - 1),
            following.eq(Mux(self.last, 0, self.word + 1)),
        ]
        with m.If(self.step):
            m.d.sync += left.eq(left - 1)
            with m.If(self.ends):
                m.d.sync += [
                    self.word.eq(following),
                    self.parity.eq(self.parity ^ self.last),
                    left.eq(Mux(self.parity ^ self.last, parity_length, lengths[following]) - 1),
                ]
        return m

    def _beats(self, count: int) -> int:
        return 8 * count // self.width
