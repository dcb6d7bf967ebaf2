"""Conversions between single precision and the 16-bit formats."""

from amaranth import Cat, Const, Module, Mux, Signal, signed

from flashtrain.rtl.float.align import AlignRight
from flashtrain.rtl.float.formats import EXTRA_BITS, FLOAT32, SPECIAL, FloatFormat
from flashtrain.rtl.float.normalise import distances, normalise
from flashtrain.rtl.float.pipeline import Pipeline
from flashtrain.rtl.float.unit import ROUND_STEPS, FloatUnit
from flashtrain.rtl.float.unpack import Unpack


class Narrow(FloatUnit):
    """Single precision to FP16 or BF16, rounded.

    Numbers below the smallest normal number of the format are shifted down to their place. With BF16,
    whose exponent is that of single precision, nothing is shifted: its subnormal numbers are the same.

    Members
    -------
    a : In(32)
    enable, result : see `FloatUnit`; the result has 16 bits

    Latency: `stages` cycles. Throughput: one number per cycle with `enable`.
    Cost: FP16 159 LUT4, 20 CCU2C, 127 FF at 162 MHz with 5 stages; BF16 38 LUT4, 12 CCU2C, 20 FF at 113 MHz
    with 1.
    """

    STEPS = {"rebiased": 5.0, "placed": 5.0, "aligned": 5.0, **ROUND_STEPS}

    def __init__(self, format: FloatFormat, stages: int = 1):
        self.format = format
        super().__init__({"a": 32}, stages, format)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack = unpack = Unpack(FLOAT32)
        m.d.comb += unpack.bits.eq(self.a)
        a = unpack.number
        kept = self.format.precision + EXTRA_BITS

        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        special = Signal(SPECIAL)
        m.d.comb += [
            special.invalid.eq(a.signalling),
            special.nan.eq(a.nan),
            special.infinite.eq(a.infinite),
        ]
        pipe.special, pipe.sign = special, a.sign
        tail = FLOAT32.precision - kept + 1
        pipe.significand = Cat(a.significand[:tail].any(), a.significand[tail:])
        # The biased exponent of the format; what is missing to 1 is shifted.
        exponent, missing = Signal(signed(FLOAT32.exponent_bits + 1)), Signal(FLOAT32.exponent_bits)
        m.d.comb += exponent.eq(a.exponent - (FLOAT32.bias - self.format.bias))
        pipe.rebiased = exponent
        pipe.cut("rebiased")

        normal = pipe.rebiased > 0 if self.format.bias != FLOAT32.bias else Const(1)
        farthest = (1 << kept.bit_length()) - 1
        m.d.comb += missing.eq(Mux(normal, 0, 1 - pipe.rebiased))
        pipe.exponent = Mux(normal, pipe.rebiased, 1)[: FLOAT32.exponent_bits]
        pipe.distance = Mux(missing > farthest, farthest, missing)[: kept.bit_length()]
        pipe.cut("placed")

        m.submodules.align = align = AlignRight(kept, kept, range(kept.bit_length()))
        m.d.comb += [align.value.eq(pipe.significand), align.amount.eq(pipe.distance)]
        pipe.significand = align.output | align.lost
        pipe.cut("aligned")
        self._round(m, pipe, FLOAT32.exponent_bits)
        return m


class Widen(FloatUnit):
    """FP16 or BF16 to single precision: exact, but for signalling NaNs, which are invalid.

    Subnormal FP16 numbers become normal.

    Members
    -------
    a : In(16)
    enable, result : see `FloatUnit`

    Latency: `stages` cycles. Throughput: one number per cycle with `enable`.
    Cost: FP16 96 LUT4, 7 CCU2C, 66 FF at 148 MHz with 3 stages; BF16 9 LUT4, 4 CCU2C, 18 FF at 249 MHz
    with 1.
    """

    STEPS = {"normalised": 6.0, **ROUND_STEPS}

    def __init__(self, format: FloatFormat, stages: int = 1):
        self.format = format
        super().__init__({"a": format.width}, stages)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack = unpack = Unpack(self.format)
        m.d.comb += unpack.bits.eq(self.a)
        a = unpack.number

        pipe = Pipeline(m, self.enable, self.stages, self.STEPS)
        special = Signal(SPECIAL)
        m.d.comb += [
            special.invalid.eq(a.signalling),
            special.nan.eq(a.nan),
            special.infinite.eq(a.infinite),
        ]
        pipe.special, pipe.sign = special, a.sign
        significand, exponent = a.significand, a.exponent
        precision = self.format.precision
        if self.format.bias != FLOAT32.bias:
            significand, shifted = normalise(m, a.significand, precision, "normalise", distances(precision))
            exponent = (a.exponent + (FLOAT32.bias - self.format.bias) - shifted)[: FLOAT32.exponent_bits]
        below = FLOAT32.precision + EXTRA_BITS - precision
        pipe.significand, pipe.exponent = Cat(Const(0, below), significand), exponent
        pipe.cut("normalised")
        self._round(m, pipe, FLOAT32.exponent_bits)
        return m
