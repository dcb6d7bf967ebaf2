"""Fused multiply-add."""

from amaranth import Cat, Module, Mux, Signal, signed

from flashtrain.rtl.float.align import AlignRight
from flashtrain.rtl.float.formats import EXTRA_BITS, FLOAT32, SPECIAL
from flashtrain.rtl.float.normalise import level_steps, normalise_limited
from flashtrain.rtl.float.pipeline import Pipeline
from flashtrain.rtl.float.product import multiply_significands, product_steps
from flashtrain.rtl.float.unit import ROUND_STEPS, FloatUnit
from flashtrain.rtl.float.unpack import Unpack

PRECISION = FLOAT32.precision
BELOW = 2
"""Window bits below the product: a product of a subnormal number has its first bit in place 23 or above, 22
after subtraction, so that a half and a quarter of the result's last bit are still in the window."""
GAP = 2
"""Window bits between the product and the highest place of the addend: a half and a quarter of its last."""
WINDOW = PRECISION + GAP + 2 * PRECISION + BELOW
EXPONENT_BITS = 9
"""Of the window's first place: at most 254 + 254 - 127 + 27."""
FARTHEST = 127
"""Longest shift of the addend: more than the window, and every bit of the amount set."""

NEAR_BITS = 5
"""Of the addend's shift, what comes before the place `aligned_near`; nothing is lost in it."""


class MultiplyAdd(FloatUnit):
    """± (a · b) ± c, rounded once. With c = -0 it multiplies, with b = 1 it adds: both are exact identities.

    The product has a fixed place in a window of 76 bits. The addend is shifted to its place above, across or
    below it::

        place   75 ......... 52  51 50  49 ................ 2  1 0
                addend, unshifted  gap   product                below, then one bit for all further down

    Both differences are computed, and the positive one is normalised. The smallest exponent limits the shift,
    so subnormal results come out in place. A product far below the addend may be too high in its window: it
    matters only that it is not zero.

    Members
    -------
    a, b, c : In(32)
    negate_product, negate_addend : In(1)   change the sign of a · b, of c
    enable, result : see `FloatUnit`

    Latency: `stages` cycles. Throughput: one operation per cycle with `enable`.
    Cost: 927 LUT4, 149 CCU2C, 1280 FF, 4 multipliers at 139 MHz with 14 stages, where an unregistered
    multiplier is the longest step; 1218 LUT4 and 778 FF at 98 MHz with 8; 1759 LUT4 and 36 FF at 20 MHz
    with 1.
    """

    STEPS = {
        "unpacked": 3.0,
        **product_steps(),
        "summed": 5.0,
        "aligned_near": 4.0,
        "aligned": 5.5,
        "added": 6.5,
        **level_steps(WINDOW),
        "normalised": 4.0,
        **ROUND_STEPS,
    }

    def __init__(self, stages: int = 5):
        operands = {"a": 32, "b": 32, "c": 32, "negate_product": 1, "negate_addend": 1}
        super().__init__(operands, stages)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack_a = unpack_a = Unpack(FLOAT32)
        m.submodules.unpack_b = unpack_b = Unpack(FLOAT32)
        m.submodules.unpack_c = unpack_c = Unpack(FLOAT32)
        near, far = range(NEAR_BITS), range(NEAR_BITS, FARTHEST.bit_length())
        near_window = PRECISION + (1 << NEAR_BITS) - 1
        m.submodules.align_near = align_near = AlignRight(PRECISION, near_window, near)
        m.submodules.align_far = align_far = AlignRight(near_window, WINDOW, far)
        m.d.comb += [unpack_a.bits.eq(self.a), unpack_b.bits.eq(self.b), unpack_c.bits.eq(self.c)]
        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        pipe.a, pipe.b, pipe.c = unpack_a.number, unpack_b.number, unpack_c.number
        pipe.product_sign = pipe.a.sign ^ pipe.b.sign ^ self.negate_product
        pipe.addend_sign = pipe.c.sign ^ self.negate_addend
        pipe.cut("unpacked")

        a, b, c = pipe.a, pipe.b, pipe.c
        special = Signal(SPECIAL)
        wrong_product = a.infinite & b.zero | a.zero & b.infinite
        infinite_product = a.infinite | b.infinite
        opposed = pipe.product_sign ^ pipe.addend_sign
        invalid = Signal()
        infinite = infinite_product | c.infinite
        m.d.comb += [
            invalid.eq(
                a.signalling | b.signalling | c.signalling | wrong_product
                | infinite_product & c.infinite & opposed & ~a.nan & ~b.nan
            ),
            special.invalid.eq(invalid),
            special.nan.eq(a.nan | b.nan | c.nan | invalid),
            special.infinite.eq(infinite),
        ]  # fmt: skip
        pipe.special = special
        # An infinite result takes its sign from here, and goes through the rest as a sum.
        pipe.sign = Mux(c.infinite, pipe.addend_sign, pipe.product_sign)
        pipe.subtract = opposed & ~infinite

        # Biased exponent of the product's second place, which is its first or the one before.
        pipe.product_exponent = (a.exponent + b.exponent - FLOAT32.bias)[:10].as_signed()
        pipe.product_zero = a.zero | b.zero
        product = multiply_significands(m, pipe, a, b)

        # Seen from the window's first place, when it belongs to the product.
        above = PRECISION + GAP + 1
        distance, addend_governs = Signal(signed(11)), Signal()
        far_away = distance[FARTHEST.bit_length() :].any()
        m.d.comb += [
            distance.eq(pipe.product_exponent + above - pipe.c.exponent),
            addend_governs.eq(pipe.product_zero | distance[-1]),
        ]
        pipe.addend_governs, pipe.product = addend_governs, product.shift_left(BELOW)
        pipe.distance = (distance[: FARTHEST.bit_length()] | far_away.replicate(FARTHEST.bit_length())) & (
            ~addend_governs
        ).replicate(FARTHEST.bit_length())
        pipe.cut("summed")

        m.d.comb += [align_near.value.eq(pipe.c.significand), align_near.amount.eq(pipe.distance[:NEAR_BITS])]
        pipe.aligned_near = align_near.output
        pipe.cut("aligned_near")

        m.d.comb += [align_far.value.eq(pipe.aligned_near), align_far.amount.eq(pipe.distance[NEAR_BITS:])]
        pipe.addend, pipe.lost = align_far.output ^ pipe.subtract.replicate(WINDOW), align_far.lost
        # The window's first exponent less 1: as far as normalising may go.
        pipe.limit = Mux(pipe.addend_governs, pipe.c.exponent - 1, pipe.product_exponent + (above - 1))[
            :EXPONENT_BITS
        ]
        pipe.cut("aligned")

        # What has been lost of a subtrahend is subtracted too: one more from the last place, and some bits
        # below it are ones. The addend never loses bits when it is the larger one.
        subtract, lost = pipe.subtract, pipe.lost
        total, opposite = Signal(signed(WINDOW + 2)), Signal(WINDOW)
        carried = Signal(signed(WINDOW + 3))
        m.d.comb += [
            carried.eq(Cat(1, pipe.product) + Cat(subtract & ~lost, pipe.addend, subtract).as_signed()),
            total.eq(carried.shift_right(1)),
            opposite.eq(~(pipe.addend + pipe.product)),
        ]
        pipe.total, pipe.opposite = total, opposite
        pipe.cut("added")

        negative = pipe.total[-1]  # not "< 0", which tools make a subtractor of
        pipe.sign = pipe.sign ^ negative
        magnitude = Signal(WINDOW)
        m.d.comb += magnitude.eq(Mux(negative, pipe.opposite, pipe.total))
        significand, shifted = normalise_limited(
            m, pipe, Cat(pipe.lost, magnitude), pipe.limit, PRECISION + EXTRA_BITS
        )
        pipe.significand = significand
        pipe.exponent = (pipe.limit - shifted + 1)[:EXPONENT_BITS]
        pipe.cut("normalised")

        # A difference of nothing is +0, whatever the operands' signs.
        pipe.sign = pipe.sign & ~(pipe.subtract & ~pipe.significand.any())
        self._round(m, pipe, EXPONENT_BITS)
        return m
