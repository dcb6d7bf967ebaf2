"""The sign of a number, as a number."""

from amaranth import Cat, Const, Module, Mux

from .formats import FLOAT32
from .pipeline import Pipeline
from .unit import FloatUnit
from .unpack import Unpack

_ONE = FLOAT32.bias << FLOAT32.fraction_bits
_NAN = (2 * FLOAT32.special_exponent + 1) << (FLOAT32.fraction_bits - 1)


class Sign(FloatUnit):
    """1 with the sign of `a`; +0 for both zeros, the canonical NaN for each NaN. No flag is ever raised.

    Members
    -------
    a : In(32)
    enable, result : see `FloatUnit`

    Latency: 1 cycle. Throughput: one number per cycle with `enable`. Cost: 23 LUT4, 3 FF.
    """

    STEPS = {"classified": 4.0}

    def __init__(self, stages: int = 1):
        super().__init__({"a": FLOAT32.width}, stages)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack = unpack = Unpack(FLOAT32)
        m.d.comb += unpack.bits.eq(self.a)
        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        pipe.negative, pipe.zero, pipe.nan = unpack.number.sign, unpack.number.zero, unpack.number.nan
        pipe.cut("classified")
        one = Cat(Const(_ONE, FLOAT32.width - 1), pipe.negative)
        m.d.comb += self.result.eq(Mux(pipe.nan, _NAN, Mux(pipe.zero, 0, one)))
        return m
