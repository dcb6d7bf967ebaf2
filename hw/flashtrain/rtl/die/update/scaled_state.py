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
_KEPT_BITS = 21
_OUT_BITS = 8
_STEP_BITS = 5


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

    Stages: the distance of the exponents; a shifter of 29 bits; an adder of 21, which rounds; the code.

    Latency: `latency` cycles with `enable`. Throughput: one per cycle.

    Members
    -------
    enable : In(1)
    rounding : In(Rounding)   stable
    variance : In(1)   the number is of v and not of m
    random : In(16)    of this number
    a : In(32), scale : In(8)
    code : Out(8)
    """

    latency = 4

    def __init__(self):
        super().__init__({
            "enable": In(1), "rounding": In(Rounding), "variance": In(1), "random": In(RANDOM_BITS),
            "a": In(32), "scale": In(8), "code": Out(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()

        def stage(number: int, **values: Value) -> list[Signal]:
            """Registers of the values."""
            registers = []
            for name, value in values.items():
                registers.append(Signal(len(value), name=f"{name}_{number}", reset_less=True))
                with m.If(self.enable):
                    m.d.sync += registers[-1].eq(value)
            return registers

        # `lowest` is the exponent of the smallest numbers: their codes count units.
        lowest = (self.scale + 1 - Mux(self.variance, E5M2.bias, E4M3.bias))[:8]
        a, random, variance, lowest = stage(
            1, a=self.a, random=self.random, variance=self.variance, lowest=lowest
        )

        field = Cat(a[23] | ~a[23:31].any(), a[24:31])  # that of a subnormal number is 1
        above, below = Signal(9), Signal(9)
        m.d.comb += [above.eq(field - lowest), below.eq(lowest - field)]
        small = above[8]
        by = Mux(small, below[:_STEP_BITS] | below[_STEP_BITS:8].any().replicate(_STEP_BITS), 0)
        wide = Cat(a[:23], a[23:31].any())
        largest, nan = a[23:31].all(), a[:23].any()
        wide, random, steps, by, special, sign, variance, least = stage(
            2, wide=Mux(variance, wide, wide << 1), random=random, steps=Mux(small, 0, above[:_STEP_BITS]),
            by=by, special=Cat(largest, variance & ~nan), sign=a[31], variance=variance,
            least=variance & a[:31].any(),
        )  # fmt: skip

        # 4 bits of units and 17 behind the point; what is shifted out counts where ties are possible, up to
        # a shift by 4.
        shifted = Cat(Const(0, _OUT_BITS + _KEPT_BITS - len(wide)), wide) >> by
        shifted, random, steps, special, sign, variance, least = stage(
            3, shifted=shifted, random=random, steps=steps, special=special, sign=sign, variance=variance,
            least=least,
        )  # fmt: skip

        # Added behind the point: half a unit less one, and one more to be even or past a tie; or random bits,
        # half a unit of theirs ahead.
        out, kept = shifted[:_OUT_BITS], shifted[_OUT_BITS:]
        up = kept[RANDOM_BITS + 1] | out.any()
        nearest = Cat((~up).replicate(RANDOM_BITS), up)
        chance = Mux(self.rounding == Rounding.STOCHASTIC, Cat(Const(1, 1), random), nearest)
        units = (kept + chance)[RANDOM_BITS + 1 :]
        units, steps, special, sign, variance, least = stage(
            4, units=units, steps=steps, special=special, sign=sign, variance=variance, least=least
        )
        lower, magnitude = Signal(7), Signal(7)
        m.d.comb += [
            lower.eq(Mux(variance, steps << E5M2.mantissa_bits, steps << E4M3.mantissa_bits) + units),
            magnitude.eq(lower | (least & ~lower.any())),
            self.code.eq(Cat(magnitude, sign)),
        ]
        with m.If(special[0]):
            m.d.comb += self.code.eq(Mux(special[1], Cat(Const(E5M2.infinity, 7), sign), SCALED_NAN))
        return m
