"""Rounding of results into the 16-bit formats of a tile's state (`flashtrain.spec.state_format`)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.state_format import RANDOM_BITS, Rounding


class NarrowState(wiring.Component):
    """A binary32 result in BF16.

    Its only NaN has zeros below, so no carry changes it; neither does one change an infinity.

    Latency: none. Cost: an adder of 32 bits.

    Members
    -------
    rounding : In(Rounding)
    upper : In(1)     the result is the upper half of SPLIT, whatever the rounding
    random : In(16)   of this number
    a : In(32)
    result : Out(16)
    """

    def __init__(self):
        super().__init__({
            "rounding": In(Rounding), "upper": In(1), "random": In(RANDOM_BITS), "a": In(32),
            "result": Out(16),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # Half a unit less one, and one more where the last bit kept is odd: ties go to even.
        nearest = Mux(self.a[16], 0x8000, 0x7FFF)
        rounded = Mux(self.rounding == Rounding.STOCHASTIC, self.random, nearest)
        total = Signal(32)
        m.d.comb += [
            total.eq(self.a + Mux(self.upper, 0x8000, rounded)),
            self.result.eq(total[16:]),
        ]
        return m
