"""IEEE-754 single-precision operations of the float units that NumPy lacks, bit for bit.

NumPy's own `+ - * /` and `sqrt` on float32 arrays round once, to nearest even, as the float units do. This
module adds the fused multiply-add, BF16, and the one NaN that the float units deliver.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import OperandError

Array = NDArray[Any]
Float32 = NDArray[np.float32]

CANONICAL_NAN = 0x7FC0_0000
"""Bits of the only NaN that the float units deliver: quiet, positive, no payload (RISC-V F, 11.3)."""


def fma(a: Float32 | np.float32, b: Float32 | np.float32, c: Float32 | np.float32) -> Float32:
    """``a * b + c`` rounded once, to nearest even; operands are broadcast against each other.

    Subnormal, infinite and zero results are those of IEEE 754; every NaN is the canonical one. The product of
    two float32 is exact in double precision. Its sum with `c` is rounded there *to odd*: the last bit keeps
    that something was cut off. The second rounding, to float32, then gives the same result as a single one.
    Two bits more than the result are enough for that; there are 29 here. The proof is in Boldo and Melquiond,
    "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
    Transactions on Computers 57, 2008.

    Raises `OperandError` for operands that are not float32.
    """
    for name, operand in (("a", a), ("b", b), ("c", c)):
        _check("fma", name, operand, np.float32)
    with np.errstate(all="ignore"):
        product = np.multiply(a, b, dtype=np.float64)
        total = np.add(product, c, dtype=np.float64)
        # Knuth's two-sum: what rounding has taken from `total`, exactly.
        c_part = total - product
        lost = (product - (total - c_part)) + (np.asarray(c, np.float64) - c_part)
        bits = np.asarray(total).view(np.int64)
        even = (bits & 1) == 0
        inexact = np.isfinite(total) & (lost != 0)
        outwards = np.where((lost > 0) == (total > 0), 1, -1)
        odd = np.where(inexact & even, bits + outwards, bits).view(np.float64)
        return canonical(odd.astype(np.float32))


def canonical(values: Float32) -> Float32:
    """The same values, with the canonical NaN in place of every NaN."""
    _check("canonical", "values", values, np.float32)
    nan = np.uint32(CANONICAL_NAN).view(np.float32)
    return np.where(np.isnan(values), nan, values)


def to_bfloat16(values: Float32) -> NDArray[np.uint16]:
    """BF16 bits: the upper half of a float32, rounded to nearest even; NaNs become the canonical 7FC0h."""
    _check("to_bfloat16", "values", values, np.float32)
    bits = np.asarray(values).view(np.uint32)
    # Half a unit less one, and one more where the last bit kept is odd: ties go to even. Carries run into the
    # exponent, up to infinity, as they should.
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), CANONICAL_NAN >> 16, rounded).astype(np.uint16)


def from_bfloat16(bits: NDArray[np.uint16]) -> Float32:
    """Float32 values of BF16 bits. Exact; NaNs become the canonical one."""
    _check("from_bfloat16", "bits", bits, np.uint16)
    return canonical((np.asarray(bits).astype(np.uint32) << 16).view(np.float32))


def to_float16(values: Float32) -> NDArray[np.float16]:
    """FP16 values, rounded to nearest even; NaNs become the canonical 7E00h."""
    _check("to_float16", "values", values, np.float32)
    with np.errstate(all="ignore"):
        return canonical(values).astype(np.float16)


def from_float16(values: NDArray[np.float16]) -> Float32:
    """Float32 of FP16 values. Exact; NaNs become the canonical one."""
    _check("from_float16", "values", values, np.float16)
    return canonical(np.asarray(values).astype(np.float32))


def _check(function: str, name: str, array: Array | np.generic, dtype: type[np.generic]) -> None:
    if getattr(array, "dtype", None) != dtype:
        got = getattr(array, "dtype", type(array).__name__)
        raise OperandError(f"{function}: {name} is {got}, expected {dtype.__name__}")
