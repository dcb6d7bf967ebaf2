"""Number formats of IEEE 754, and the layouts of flags and unpacked numbers."""

from dataclasses import dataclass

from amaranth import unsigned
from amaranth.lib import data


@dataclass(frozen=True)
class FloatFormat:
    """A binary interchange format: sign, biased exponent, fraction (IEEE 754-2019, 3.4)."""

    exponent_bits: int
    fraction_bits: int

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def precision(self) -> int:
        """Bits of a significand, with the one that is not stored."""
        return self.fraction_bits + 1

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def special_exponent(self) -> int:
        """The exponent field of infinities and NaNs."""
        return (1 << self.exponent_bits) - 1


FLOAT32 = FloatFormat(exponent_bits=8, fraction_bits=23)
FLOAT16 = FloatFormat(exponent_bits=5, fraction_bits=10)
BFLOAT16 = FloatFormat(exponent_bits=8, fraction_bits=7)

EXTRA_BITS = 3
"""Bits below the last one of a significand that decide about rounding and underflow: a half of it, a quarter,
and whether anything is below."""


FLAGS = data.StructLayout(
    dict.fromkeys(("inexact", "underflow", "overflow", "division_by_zero", "invalid"), 1)
)
"""Exceptions of IEEE 754 (7.1), in the order of RISC-V's and SoftFloat's flag words."""

SPECIAL = data.StructLayout(dict.fromkeys(("nan", "infinite", "zero", "invalid", "division_by_zero"), 1))
"""A result that does not come from rounding, and why. All zero: there is none.
NaN comes before infinity; `zero` stands alone.

`invalid` and `division_by_zero` are flags; the first goes with `nan`, the second with `infinite`.
"""


class Unpacked(data.StructLayout):
    """The fields and the class of a number.

    The value of finite numbers is `significand` · 2^(`exponent` - bias - fraction bits). A subnormal number
    has the exponent 1 and a significand whose highest bit is 0.
    """

    def __init__(self, format: FloatFormat):
        super().__init__(
            {
                "sign": 1,
                "exponent": unsigned(format.exponent_bits),
                "significand": unsigned(format.precision),
                "zero": 1,
                "infinite": 1,
                "nan": 1,
                "signalling": 1,
            }
        )
