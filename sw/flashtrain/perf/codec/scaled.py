"""Sizes of MXFP8 in a window code: E4M3 or E5M2 in groups of 32 with a scale (OCP MX 1.0).

The code is that of `spec.codec` with elements of a byte. A slice is a group: planes of class bits, payloads
of sign and mantissa or of the whole element, and the scale as it is. No unit has this code.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.state_format import scaled_bits
from flashtrain.spec.codec import CHECK_BYTES, HEADER_BYTES, Mode
from flashtrain.spec.state_format import E4M3, E5M2, SCALE_GROUP, ScaledFormat

FORMATS: dict[str, ScaledFormat] = {"E4M3": E4M3, "E5M2": replace(E5M2, keeps_least=False)}
"""By name; small numbers of either become zero."""

ELEMENT_BITS = SCALE_BITS = 8


@dataclass(frozen=True)
class ScaledSizes:
    """A tensor in MXFP8, or several together.

    - `elements`, `zeros`: numbers, and those that are +0.0.
    - `bytes`: of numbers and scales as they are.
    - `window_bytes`: of whole pages of the window code, each with the best mode and base for it.
    - `bound_bytes`: the entropy of exponents, with a symbol for +0.0, and of scales; signs and mantissas as
      they are; a byte at least.
    """

    elements: int
    zeros: int
    bytes: int
    window_bytes: int
    bound_bytes: float

    def __add__(self, other: "ScaledSizes") -> "ScaledSizes":
        return ScaledSizes(
            self.elements + other.elements, self.zeros + other.zeros, self.bytes + other.bytes,
            self.window_bytes + other.window_bytes, self.bound_bytes + other.bound_bytes,
        )  # fmt: skip

    @property
    def ratio(self) -> float:
        return self.bytes / self.window_bytes

    @property
    def bound(self) -> float:
        return self.bytes / self.bound_bytes


def scaled_sizes(array: NDArray[np.float32], form: ScaledFormat, page_bytes: int) -> ScaledSizes:
    """The sizes of an array, rounded to nearest even; groups follow its elements, and zeros fill the last."""
    values = np.zeros(-(-array.size // SCALE_GROUP) * SCALE_GROUP, np.float32)
    values[: array.size] = array.reshape(-1)
    numbers, shared = scaled_bits(form, values)
    codes = numbers.reshape(-1, SCALE_GROUP)
    exponents, zeros = codes >> form.mantissa_bits & _exponent_mask(form), codes == 0
    bits = _entropy_bits(np.where(zeros, 256, exponents)) + _entropy_bits(shared)
    bits += int(np.count_nonzero(~zeros)) * (1 + form.mantissa_bits)
    return ScaledSizes(
        codes.size,
        int(np.count_nonzero(zeros)),
        codes.size + shared.size,
        page_bytes * _pages(exponents, zeros, form, page_bytes),
        max(1.0, bits / 8),
    )


def _exponent_mask(form: ScaledFormat) -> int:
    return (1 << ELEMENT_BITS - 1 - form.mantissa_bits) - 1


def _pages(exponents: NDArray, zeros: NDArray, form: ScaledFormat, page_bytes: int) -> int:
    """Pages, each of the mode and base with which it holds most groups."""
    room = 8 * (page_bytes - HEADER_BYTES - CHECK_BYTES)
    bits = (
        _group_bits(exponents, zeros, form, mode, base)
        for mode in Mode
        for base in (range(_exponent_mask(form) + 1) if mode.exponents else (0,))
    )
    ends = [np.concatenate([[0], np.cumsum(each)]) for each in bits]
    first = pages = 0
    while first < len(exponents):
        first = max(int(np.searchsorted(end, end[first] + room, side="right")) - 1 for end in ends)
        pages += 1
    return pages


def _group_bits(
    exponents: NDArray, zeros: NDArray, form: ScaledFormat, mode: Mode, base: int
) -> NDArray[np.integer]:
    """Bits of each group in a mode: planes, payloads and the scale."""
    distances = base - exponents.astype(np.int16)
    inside = (distances >= 0) & (distances < mode.exponents)
    payload = np.where(inside, 1 + form.mantissa_bits, ELEMENT_BITS)
    if mode.zero_class:
        payload[zeros] = 0
    return SCALE_GROUP * mode.plane_bits + payload.sum(axis=1) + SCALE_BITS


def _entropy_bits(symbols: NDArray[np.integer]) -> float:
    """Bits of all symbols together, each by its frequency."""
    counts = np.unique(symbols, return_counts=True)[1]
    return float(-(counts * np.log2(counts / symbols.size)).sum())


def dense_ratio(form: ScaledFormat) -> float:
    """The most that three class bits leave of numbers without zeros, all within the window."""
    bits = Mode.WINDOW7.plane_bits + 1 + form.mantissa_bits
    return (SCALE_GROUP * ELEMENT_BITS + SCALE_BITS) / (SCALE_GROUP * bits + SCALE_BITS)
