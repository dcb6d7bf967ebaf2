"""Numbers of a tile's moments in FP8, and back (`flashtrain.spec.state_format`)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.state_format import (
    E4M3,
    E5M2,
    NAN_SCALE,
    RANDOM_BITS,
    SCALED_NAN,
    Rounding,
    ScaledFormat,
)

_NAN, _INFINITY = 0x7FC00000, 0x7F800000
_FIELD = signed(11)
"""Of sums of exponents."""


class LoadScaled(wiring.Component):
    """A number of FP8 with its scale, in binary32.

    Latency: none.

    Members
    -------
    variance : In(1)   the number is of v and not of m
    code, scale : In(8)
    result : Out(32)
    """

    def __init__(self):
        super().__init__({"variance": In(1), "code": In(8), "scale": In(8), "result": Out(32)})

    def elaborate(self, platform):
        m = Module()
        numbers = [self._number(m, form, name) for form, name in ((E4M3, "mean"), (E5M2, "variance"))]
        m.d.comb += self.result.eq(Mux(self.variance, numbers[1], numbers[0]))
        with m.If(self.scale == NAN_SCALE):
            m.d.comb += self.result.eq(_NAN)
        return m

    def _number(self, m: Module, form: ScaledFormat, name: str) -> Value:
        bits, top = form.mantissa_bits, 23 - form.mantissa_bits
        magnitude, sign = self.code[:7], self.code[7]
        exponent, mantissa = magnitude[bits:], magnitude[:bits]
        scale = Signal(8, name=f"scale_of_{name}")
        m.d.comb += scale.eq(Mux(self.scale < form.least_scale, form.least_scale, self.scale))
        field, fraction = Signal(_FIELD, name=f"field_of_{name}"), Signal(23, name=f"fraction_of_{name}")
        m.d.comb += [field.eq(exponent + scale - form.bias), fraction.eq(Cat(Const(0, top), mantissa))]
        with m.If(exponent == 0):
            m.d.comb += field.eq(0)  # of zero
            # The leading one of a subnormal number is hidden in binary32.
            for place in range(bits):
                with m.If(mantissa[place:] == 1):
                    m.d.comb += [
                        field.eq(scale + place + 1 - form.bias - bits),
                        fraction.eq(Cat(Const(0, 23 - place), mantissa[:place])),
                    ]
        number = Signal(32, name=f"number_of_{name}")
        m.d.comb += number.eq(Cat(fraction, field[:8], sign))
        with m.If(field >= 255):
            m.d.comb += number.eq(Cat(Const(_INFINITY, 31), sign))
        if form.infinity != SCALED_NAN:
            with m.If(magnitude == form.infinity):
                m.d.comb += number.eq(Cat(Const(_INFINITY, 31), sign))
        with m.If((magnitude > form.infinity) | (magnitude == SCALED_NAN)):
            m.d.comb += number.eq(_NAN)
        return number


class StoreScaled(wiring.Component):
    """A binary32 result in FP8, for a scale with which it does not overflow.

    Latency: none. Cost: a shifter of 25 bits and an adder.

    Members
    -------
    rounding : In(Rounding)
    variance : In(1)   the number is of v and not of m
    random : In(16)    of this number
    a : In(32), scale : In(8)
    code : Out(8)
    """

    def __init__(self):
        super().__init__({
            "rounding": In(Rounding), "variance": In(1), "random": In(RANDOM_BITS), "a": In(32),
            "scale": In(8), "code": Out(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        variance, field, sign = self.variance, self.a[23:31], self.a[31]
        wide = Cat(self.a[:23], field.any())
        own, exponent, below = Signal(_FIELD), Signal(_FIELD), Signal(_FIELD)
        m.d.comb += [
            own.eq(Mux(field == 0, 1, field) + Mux(variance, E5M2.bias, E4M3.bias) - self.scale),
            exponent.eq(Mux(own < 1, 1, own)),
            below.eq(exponent - own),
        ]
        # 4 bits of units, 17 behind the point; what is shifted out counts when ties are found.
        shifted, kept, out = Signal(50), Signal(21), Signal(29)
        by = Signal(5)
        m.d.comb += [
            by.eq(Mux(below > 25, 25, below)),
            shifted.eq(Cat(Const(0, 25), Mux(variance, wide, wide << 1)) >> by),
            Cat(out, kept).eq(shifted),
        ]
        nearest, chance, units = Signal(5), Signal(21), Signal(5)
        m.d.comb += [
            nearest.eq(kept[17:] + (kept[16] & (kept[:16].any() | out.any() | kept[17]))),
            chance.eq(((kept + 1) >> 1) + self.random),
            units.eq(Mux(self.rounding == Rounding.STOCHASTIC, chance[RANDOM_BITS:], nearest)),
        ]
        lower, magnitude = Signal(7), Signal(7)
        m.d.comb += [
            lower.eq(
                Mux(variance, (exponent - 1) << E5M2.mantissa_bits, (exponent - 1) << E4M3.mantissa_bits)
                + units
            ),
            magnitude.eq(Mux(variance & ~lower.any() & self.a[:31].any(), 1, lower)),
            self.code.eq(Cat(magnitude, sign)),
        ]
        with m.If(field == 255):
            infinite = Cat(Const(E5M2.infinity, 7), sign)
            m.d.comb += self.code.eq(Mux(variance & ~self.a[:23].any(), infinite, SCALED_NAN))
        return m
