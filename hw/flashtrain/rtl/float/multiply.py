"""Multiplication."""

from amaranth import Cat, Const, Module, Mux, Signal, signed

from flashtrain.rtl.float.formats import EXTRA_BITS, FLOAT32, SPECIAL
from flashtrain.rtl.float.normalise import level_steps, normalise_limited
from flashtrain.rtl.float.pipeline import Pipeline
from flashtrain.rtl.float.product import multiply_significands, product_steps
from flashtrain.rtl.float.unit import ROUND_STEPS, FloatUnit
from flashtrain.rtl.float.unpack import Unpack

ROOM = FLOAT32.precision + EXTRA_BITS - 1
"""Zeros above the product in its window: one that stays below them is too small to be more than inexact."""
WINDOW = ROOM + 2 * FLOAT32.precision
EXPONENT_BITS = 9


class Multiply(FloatUnit):
    """± a · b.

    The product is placed at the lower end of a window of 74 bits and shifted left until its first one is at
    the top. The smallest exponent limits the shift: one shifter serves subnormal operands and results.

    Members
    -------
    a, b : In(32)
    negate : In(1)   change the sign of the result
    enable, result : see `FloatUnit`

    Latency: `stages` cycles. Throughput: one operation per cycle with `enable`.
    Cost: 423 LUT4, 57 CCU2C, 606 FF, 4 multipliers at 140 MHz with 10 stages; 601 LUT4 and 36 FF at 28 MHz
    with 1.
    """

    STEPS = {
        "unpacked": 2.5,
        **product_steps(),
        "summed": 4.0,
        **level_steps(WINDOW),
        "normalised": 4.0,
        **ROUND_STEPS,
    }

    def __init__(self, stages: int = 4):
        super().__init__({"a": 32, "b": 32, "negate": 1}, stages)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack_a = unpack_a = Unpack(FLOAT32)
        m.submodules.unpack_b = unpack_b = Unpack(FLOAT32)
        m.d.comb += [unpack_a.bits.eq(self.a), unpack_b.bits.eq(self.b)]

        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        pipe.a, pipe.b, pipe.negate = unpack_a.number, unpack_b.number, self.negate
        pipe.cut("unpacked")

        a, b = pipe.a, pipe.b
        special, invalid, limit = Signal(SPECIAL), Signal(), Signal(signed(10))
        m.d.comb += [
            invalid.eq(a.signalling | b.signalling | a.infinite & b.zero | a.zero & b.infinite),
            special.invalid.eq(invalid),
            special.nan.eq(a.nan | b.nan | invalid),
            special.infinite.eq(a.infinite | b.infinite),
            # Biased exponent of the window's first place, less 1: as far as normalising may go.
            limit.eq(a.exponent + b.exponent - (FLOAT32.bias - ROOM)),
        ]
        pipe.special = special
        pipe.sign = a.sign ^ b.sign ^ pipe.negate
        negative = limit[-1]  # not "< 0", which tools make a subtractor of
        pipe.limit = Mux(negative, 0, limit)[:EXPONENT_BITS]
        product = multiply_significands(m, pipe, a, b)
        pipe.product = product
        pipe.cut("summed")

        significand, shifted = normalise_limited(
            m, pipe, Cat(pipe.product, Const(0, ROOM)), pipe.limit, FLOAT32.precision + EXTRA_BITS
        )
        pipe.significand = significand
        pipe.exponent = (pipe.limit - shifted + 1)[:EXPONENT_BITS]
        pipe.cut("normalised")
        self._round(m, pipe, EXPONENT_BITS)
        return m
