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

NEAR_BITS = 3
"""Of the shift, what comes before the place `aligned_near`; nothing is lost in it."""
FAR_WINDOW = FLOAT32.precision + (1 << NEAR_BITS) - 1


class Add(FloatUnit):
    """a + b or a - b.

    The operand of smaller magnitude is aligned below the larger one, and added or subtracted. The sum is
    normalised; the smallest exponent limits the shift.

    Members
    -------
    a, b : In(32)
    subtract : In(1)
    enable, result : see `FloatUnit`

    Latency: `stages` cycles. Throughput: one operation per cycle with `enable`.
    Cost: 476 LUT4, 64 CCU2C, 578 FF at 173 MHz with 11 stages; 638 LUT4 and 36 FF at 30 MHz with 1.
    """

    STEPS = {
        "compared": 5.0,
        "swapped": 3.0,
        "aligned_near": 3.0,
        "aligned": 5.0,
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
        near, far = range(NEAR_BITS), range(NEAR_BITS, FARTHEST.bit_length())
        m.submodules.align_near = align_near = AlignRight(FLOAT32.precision, FAR_WINDOW, near)
        m.submodules.align_far = align_far = AlignRight(FAR_WINDOW, FAR_WINDOW, far)
        m.d.comb += [unpack_a.bits.eq(self.a), unpack_b.bits.eq(self.b)]
        a, b = unpack_a.number, unpack_b.number

        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        b_sign, opposed, swap, invalid, special = Signal(), Signal(), Signal(), Signal(), Signal(SPECIAL)
        m.d.comb += [
            b_sign.eq(b.sign ^ self.subtract),
            opposed.eq(a.sign ^ b_sign),
            # Exponent and fraction compare like one integer.
            swap.eq(self.a[:-1] < self.b[:-1]),
            invalid.eq(a.signalling | b.signalling | a.infinite & b.infinite & opposed),
            special.invalid.eq(invalid),
            special.nan.eq(a.nan | b.nan | invalid),
            special.infinite.eq(a.infinite | b.infinite),
        ]
        pipe.special, pipe.opposed, pipe.swap = special, opposed, swap
        pipe.sign = Mux(swap, b_sign, a.sign)
        pipe.a, pipe.b = a, b
        pipe.a_ahead, pipe.b_ahead = (a.exponent - b.exponent)[:8], (b.exponent - a.exponent)[:8]
        pipe.cut("compared")

        pipe.exponent = Mux(pipe.swap, pipe.b.exponent, pipe.a.exponent)
        pipe.larger = Mux(pipe.swap, pipe.b.significand, pipe.a.significand)
        pipe.smaller = Mux(pipe.swap, pipe.a.significand, pipe.b.significand)
        distance = Mux(pipe.swap, pipe.b_ahead, pipe.a_ahead)
        pipe.distance = Mux(distance > FARTHEST, FARTHEST, distance)[: FARTHEST.bit_length()]
        pipe.cut("swapped")

        m.d.comb += [align_near.value.eq(pipe.smaller), align_near.amount.eq(pipe.distance[:NEAR_BITS])]
        pipe.aligned_near = align_near.output
        pipe.cut("aligned_near")

        m.d.comb += [align_far.value.eq(pipe.aligned_near), align_far.amount.eq(pipe.distance[NEAR_BITS:])]
        pipe.aligned = align_far.output[FAR_WINDOW - WINDOW :]
        pipe.lost = align_far.lost | align_far.output[: FAR_WINDOW - WINDOW].any()
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
