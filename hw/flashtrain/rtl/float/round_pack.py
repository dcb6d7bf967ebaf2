"""Rounds a significand and assembles the number, in two parts with space for a register between them."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.formats import EXTRA_BITS, FLAGS, SPECIAL, FloatFormat


class Rounded(data.StructLayout):
    """A rounded number of any magnitude, and the facts about its rounding that the flags need.

    A subnormal number has the exponent 0, as in the format; `exponent_bits` are enough for overflowing ones.
    """

    def __init__(self, format: FloatFormat, exponent_bits: int):
        super().__init__(
            {"fraction": format.fraction_bits, "exponent": exponent_bits, "tiny": 1, "inexact": 1}
        )


class Round(wiring.Component):
    """Rounds to nearest, ties to even. Combinational.

    Members
    -------
    exponent : In(exponent_bits)  biased, at least 1; of the first bit of the significand
    significand : In(format.precision + EXTRA_BITS)
        The first bit is the one that is not stored. It is 0 in subnormal numbers and zeros, where the
        exponent must be 1 or the whole significand 0. The last bit stands for everything below it.
    rounded : Out(Rounded)
    """

    def __init__(self, format: FloatFormat, exponent_bits: int):
        super().__init__(
            {
                "exponent": In(exponent_bits),
                "significand": In(format.precision + EXTRA_BITS),
                "rounded": Out(Rounded(format, exponent_bits)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        below, half = self.significand[: EXTRA_BITS - 1], self.significand[EXTRA_BITS - 1]
        quarter = below[-1]
        fraction, hidden = self.significand[EXTRA_BITS:-1], self.significand[-1]

        # A carry out of the fraction belongs into the exponent: rounded up to the next power of two.
        up = half & (below.any() | fraction[0])
        number = Signal(len(fraction) + len(self.exponent))
        exponent = number[len(fraction) :]
        # With an exponent of any range, a subnormal number would have one bit more: it is tiny unless it
        # rounds up to the smallest normal number with that bit too.
        m.d.comb += [
            number.eq(Cat(fraction, Mux(hidden, self.exponent, 0)) + up),
            self.rounded.fraction.eq(number),
            self.rounded.exponent.eq(exponent),
            self.rounded.tiny.eq(~hidden & ~(exponent[0] & quarter)),
            self.rounded.inexact.eq(half | below.any()),
        ]
        return m


class Pack(wiring.Component):
    """Overflow to infinity, special results, flags; underflow is tininess after rounding. Combinational.

    Members
    -------
    sign : In(1)
    rounded : In(Rounded)
    special : In(SPECIAL)  overrides it
    result : Out(format.width)

    Attributes
    ----------
    flags : Signal(FLAGS)   of the result
    """

    def __init__(self, format: FloatFormat, exponent_bits: int):
        self.format = format
        super().__init__(
            {
                "sign": In(1),
                "rounded": In(Rounded(format, exponent_bits)),
                "special": In(SPECIAL),
                "result": Out(format.width),
            }
        )
        self.flags = Signal(FLAGS)

    def elaborate(self, platform):
        m = Module()
        special, flags, rounded = self.special, self.flags, self.rounded
        is_rounded, overflow = Signal(), Signal()
        m.d.comb += [
            is_rounded.eq(~(special.nan | special.infinite | special.zero)),
            overflow.eq(is_rounded & (rounded.exponent >= self.format.special_exponent)),
            flags.invalid.eq(special.invalid),
            flags.division_by_zero.eq(special.division_by_zero),
            flags.overflow.eq(overflow),
            flags.underflow.eq(is_rounded & rounded.tiny & rounded.inexact),
            flags.inexact.eq(is_rounded & rounded.inexact | overflow),
        ]
        fraction, exponent = Signal(self.format.fraction_bits), Signal(self.format.exponent_bits)
        with m.If(is_rounded & ~overflow):
            m.d.comb += [fraction.eq(rounded.fraction), exponent.eq(rounded.exponent)]
        with m.Else():
            m.d.comb += [
                fraction[-1].eq(special.nan),
                exponent.eq(Mux(special.zero, 0, self.format.special_exponent)),
            ]
        m.d.comb += self.result.eq(Cat(fraction, exponent, self.sign & ~special.nan))
        return m
