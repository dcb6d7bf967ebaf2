"""Rounds a significand and puts the number together."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.formats import EXTRA_BITS, FLAGS, SPECIAL, FloatFormat


class RoundPack(wiring.Component):
    """Rounds to nearest, ties to even; overflows to infinity; reports underflow as tininess after rounding.

    Combinational.

    Members
    -------
    sign : In(1)
    exponent : In(exponent_bits)  biased, at least 1; of the first bit of the significand
    significand : In(format.precision + EXTRA_BITS)
        The first bit is the one that is not stored. It is 0 in subnormal numbers and zeros, where the
        exponent must be 1 or the whole significand 0. The last bit stands for everything below it.
    special : In(SPECIAL)  overrides them
    result : Out(format.width)
    flags : Out(FLAGS)
    """

    def __init__(self, format: FloatFormat, exponent_bits: int):
        self.format = format
        self.exponent_bits = exponent_bits
        super().__init__(
            {
                "sign": In(1),
                "exponent": In(exponent_bits),
                "significand": In(format.precision + EXTRA_BITS),
                "special": In(SPECIAL),
                "result": Out(format.width),
                "flags": Out(FLAGS),
            }
        )

    def elaborate(self, platform):
        m = Module()
        special, flags = self.special, self.flags
        below, half = self.significand[: EXTRA_BITS - 1], self.significand[EXTRA_BITS - 1]
        quarter = below[-1]
        fraction, hidden = self.significand[EXTRA_BITS:-1], self.significand[-1]

        # A carry out of the fraction belongs into the exponent: rounded up to the next power of two.
        up = half & (below.any() | fraction[0])
        exact = Cat(fraction, Mux(hidden, self.exponent, 0))
        rounded = Signal(len(exact))
        m.d.comb += rounded.eq(exact + up)
        fraction_bits = self.format.fraction_bits
        exponent = rounded[fraction_bits:]

        # With an exponent of any range, a subnormal number would have one bit more: it is tiny unless it
        # rounds up to the smallest normal number with that bit too.
        tiny = ~hidden & ~(exponent[0] & quarter)
        inexact = half | below.any()
        rounds = ~(special.nan | special.infinite | special.zero)
        overflow = Signal()
        m.d.comb += [
            overflow.eq(rounds & (exponent >= self.format.special_exponent)),
            flags.invalid.eq(special.invalid),
            flags.division_by_zero.eq(special.division_by_zero),
            flags.overflow.eq(overflow),
            flags.underflow.eq(rounds & tiny & inexact),
            flags.inexact.eq(rounds & inexact | overflow),
        ]

        infinite_or_nan = special.nan | special.infinite | overflow
        field = Signal(self.format.exponent_bits)
        m.d.comb += [
            field.eq(Mux(infinite_or_nan, self.format.special_exponent, Mux(special.zero, 0, exponent))),
            self.result.eq(
                Cat(
                    Mux(
                        rounds & ~overflow, rounded[:fraction_bits], special.nan.shift_left(fraction_bits - 1)
                    ),
                    field,
                    self.sign & ~special.nan,
                )
            ),
        ]
        return m
