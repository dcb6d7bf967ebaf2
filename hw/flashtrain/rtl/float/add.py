"""Addition and subtraction."""

from amaranth import Cat, Const, Module, Mux, Signal

from flashtrain.rtl.float.align import AlignRight
from flashtrain.rtl.float.formats import EXTRA_BITS, FLOAT32, SPECIAL
from flashtrain.rtl.float.normalise import level_steps, normalise_limited
from flashtrain.rtl.float.pipeline import Pipeline
from flashtrain.rtl.float.unit import ROUND_STEPS, FloatUnit
from flashtrain.rtl.float.unpack import Unpack

WINDOW = FLOAT32.precision + EXTRA_BITS - 1
"""Bits of the larger operand, and two below it: a difference that loses more than its first bit to
cancellation has operands of nearly equal exponents, and no bits below these."""
FARTHEST = 31
"""Longest shift of the smaller operand: more than the window, and every bit of the amount set."""


class Add(FloatUnit):
    """a + b or a - b.

    The operand of smaller magnitude is shifted to its place below the larger one, added or subtracted, and
    the sum normalised by at most what the smallest exponent allows.

    Members
    -------
    a, b : In(32)
    subtract : In(1)
    enable, result, flags : see `FloatUnit`

    Latency: `stages` clocks. Throughput: one operation per enabled clock.
    """

    STEPS = {
        "compared": 5.0,
        "aligned": 5.5,
        "added": 3.5,
        **level_steps(WINDOW + 2),
        "normalised": 4.0,
        **ROUND_STEPS,
    }

    def __init__(self, stages: int = 4):
        super().__init__({"a": 32, "b": 32, "subtract": 1}, stages)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack_a = unpack_a = Unpack(FLOAT32)
        m.submodules.unpack_b = unpack_b = Unpack(FLOAT32)
        m.submodules.align = align = AlignRight(FLOAT32.precision, WINDOW, range(FARTHEST.bit_length()))
        m.d.comb += [unpack_a.bits.eq(self.a), unpack_b.bits.eq(self.b)]
        a, b = unpack_a.number, unpack_b.number

        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        b_sign, opposed, swap, special = Signal(), Signal(), Signal(), Signal(SPECIAL)
        m.d.comb += [
            b_sign.eq(b.sign ^ self.subtract),
            opposed.eq(a.sign ^ b_sign),
            # Exponent and fraction compare like one integer.
            swap.eq(self.a[:-1] < self.b[:-1]),
            special.invalid.eq(a.signalling | b.signalling | a.infinite & b.infinite & opposed),
            special.nan.eq(a.nan | b.nan | special.invalid),
            special.infinite.eq(a.infinite | b.infinite),
        ]
        pipe.special, pipe.opposed = special, opposed
        pipe.sign = Mux(swap, b_sign, a.sign)
        pipe.exponent = Mux(swap, b.exponent, a.exponent)
        pipe.larger = Mux(swap, b.significand, a.significand)
        pipe.smaller = Mux(swap, a.significand, b.significand)
        distance = Mux(swap, b.exponent - a.exponent, a.exponent - b.exponent)[:8]
        pipe.distance = Mux(distance > FARTHEST, FARTHEST, distance)[: FARTHEST.bit_length()]
        pipe.cut("compared")

        m.d.comb += [align.value.eq(pipe.smaller), align.amount.eq(pipe.distance)]
        pipe.aligned, pipe.lost = align.output, align.lost
        pipe.cut("aligned")

        # What has been lost of a subtrahend is subtracted too: one more from the last place, and some bits
        # below it are ones.
        minuend = Cat(1, Const(0, WINDOW - FLOAT32.precision), pipe.larger)
        addend = Cat(pipe.opposed & ~pipe.lost, pipe.aligned ^ pipe.opposed.replicate(WINDOW))
        total = Signal(WINDOW + 2)
        m.d.comb += total.eq(minuend + addend)
        carry = total[-1] & ~pipe.opposed
        pipe.total = Cat(pipe.lost, total[1:-1], carry)
        pipe.cut("added")

        significand, shifted = normalise_limited(
            m, pipe, pipe.total, pipe.exponent, FLOAT32.precision + EXTRA_BITS
        )
        pipe.significand = significand
        pipe.exponent = pipe.exponent - shifted + 1
        # A difference of nothing is +0, whatever the operands' signs.
        pipe.sign = pipe.sign & (pipe.special.infinite | ~pipe.opposed | significand.any())
        pipe.cut("normalised")
        self._round(m, pipe, len(pipe.exponent))
        return m
