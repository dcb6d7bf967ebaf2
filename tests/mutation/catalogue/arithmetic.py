"""The update unit and its float units."""

from tests.mutation.fault import Fault

UNIT = "rtl/die/update_unit/test_update_unit.py"
MULTIPLY = "rtl/float/test_float_units.py::test_multiply"
ADD = "rtl/float/test_float_units.py::test_add"
MULTIPLY_ADD = "rtl/float/test_float_units.py::test_multiply_add"
NARROWING = "rtl/float/test_float_units.py::test_narrowing"

SIGN = "rtl/float/test_float_units.py::test_sign"

ARITHMETIC = (
    Fault(
        "sign-of-zero",
        "float/sign.py",
        "Mux(pipe.zero, 0, one)",
        "one",
        "a weight moves although its mean is zero",
        SIGN,
    ),
    Fault(
        "largest-is-a-nan",
        "die/update_unit/statistics.py",
        "(magnitude > self.largest) & ~nan",
        "magnitude > self.largest",
        "a NaN is the largest gradient",
        UNIT,
    ),
    Fault(
        "sums-not-begun-anew",
        "die/update_unit/statistics.py",
        "with m.Elif(self.restart):\n            m.d.sync += [to_take.eq(0), to_bring.eq(0)]",
        "with m.Elif(self.restart):\n            m.d.sync += to_bring.eq(0)",
        "the partial sums of a tile come back to the places of others",
        UNIT,
    ),
    Fault(
        "ties-away-from-zero",
        "float/round_pack.py",
        "up = half & (below.any() | fraction[0])",
        "up = half",
        "a tie is rounded away from zero, not to even",
        MULTIPLY,
    ),
    Fault(
        "tininess-before-rounding",
        "float/round_pack.py",
        "~hidden & ~(exponent[0] & quarter)",
        "~hidden & ~exponent[0]",
        "numbers that round up to the smallest normal one do not underflow",
        MULTIPLY,
    ),
    Fault(
        "borrow-of-lost-bits-forgotten",
        "float/add.py",
        "Cat(pipe.opposed & ~pipe.lost,",
        "Cat(pipe.opposed,",
        "what falls off a subtrahend is not subtracted",
        ADD,
    ),
    Fault(
        "minus-nothing",
        "float/multiply_add.py",
        "pipe.sign = pipe.sign & ~(pipe.subtract & ~pipe.significand.any())",
        "pipe.sign = pipe.sign",
        "a difference of nothing is -0",
        MULTIPLY_ADD,
    ),
    Fault(
        "sticky-bit-lost",
        "float/convert.py",
        "pipe.significand = align.output | align.lost",
        "pipe.significand = align.output",
        "subnormal numbers are rounded without what was shifted out",
        NARROWING,
    ),
)
