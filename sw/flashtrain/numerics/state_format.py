"""Rounding of optimizer state into the formats that the dies store (`flashtrain.spec.state_format`)."""

from dataclasses import dataclass
from hashlib import blake2b
from struct import pack

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.state_format import (
    HALF_BITS,
    KEY_BITS,
    NAN_SCALE,
    RANDOM_BITS,
    ROUND_CONSTANTS,
    SCALE_GROUP,
    SCALED,
    SCALED_NAN,
    Rounding,
    ScaledFormat,
    StateFormat,
)

from .float32 import CANONICAL_NAN, Array, Float32, canonical, from_bfloat16, to_bfloat16

Bits48 = NDArray[np.uint64]

_INFINITY = np.uint32(0x7F800000)
_HALF = np.uint64((1 << HALF_BITS) - 1)


@dataclass(frozen=True)
class StepRounding:
    """The rounding of a step, and the key of its random bits (`step_key`)."""

    rounding: Rounding = Rounding.NEAREST
    key: int = 0


NEAREST = StepRounding()


def step_key(seed: int, update: int, group: int) -> int:
    """The key of an update, counted from 1, of a group of tensors: equal for a repeated one."""
    digest = blake2b(pack("<QQI", seed, update, group), digest_size=KEY_BITS // 8).digest()
    return int.from_bytes(digest, "little")


def permute(values: Bits48) -> Bits48:
    """`spec.state_format.permute` of each value."""
    left, right = values >> np.uint64(HALF_BITS), values & _HALF
    for constant in ROUND_CONSTANTS:
        mixed = (_rotated(left, 1) & _rotated(left, 8)) ^ _rotated(left, 2)
        left, right = right ^ mixed ^ np.uint64(constant), left
    return left << np.uint64(HALF_BITS) | right


def random_bits(key: int, places: Bits48, parameters: int) -> Bits48:
    """48 random bits of the first parameters of tiles at these places, uint64[..., parameters]."""
    tiles = permute(np.asarray(places, np.uint64) ^ np.uint64(key))
    return permute(tiles[..., np.newaxis] ^ np.arange(parameters, dtype=np.uint64) << np.uint64(HALF_BITS))


def random_halves(bits: Bits48, array: int) -> NDArray[np.uint32]:
    """The 16 bits of each of 48 that are of array 0 (w), 1 (m) or 2 (v)."""
    return (bits >> np.uint64(RANDOM_BITS * array)).astype(np.uint32) & np.uint32(0xFFFF)


def stochastic_bfloat16(values: Float32, random: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """BF16 bits, rounded away from zero where the part cut off and 16 random bits have a carry."""
    rounded = (np.asarray(values).view(np.uint32) + random) >> 16
    return np.where(np.isnan(values), CANONICAL_NAN >> 16, rounded).astype(np.uint16)


def stored_bits(
    form: StateFormat, values: Float32, random: NDArray[np.uint32] | None = None
) -> NDArray[np.uint32] | NDArray[np.uint16]:
    """The numbers as the dies store them: rounded by 16 random bits each, or else to nearest even.

    SPLIT has all upper halves, then all lower ones. FP8 has scales beside its numbers: `scaled_bits`.
    """
    if form is StateFormat.SPLIT:
        bits = canonical(values).view(np.uint32)
        return np.concatenate([upper_halves(values), bits.astype(np.uint16)], axis=-1)
    if form is StateFormat.FP32:
        return np.asarray(values).view(np.uint32)
    return to_bfloat16(values) if random is None else stochastic_bfloat16(values, random)


def upper_halves(values: Float32) -> NDArray[np.uint16]:
    """The upper halves of SPLIT: BF16 bits, rounded to nearest, ties away from zero."""
    return (canonical(values).view(np.uint32) + np.uint32(0x8000) >> 16).astype(np.uint16)


def loaded(form: StateFormat, bits: Array) -> Float32:
    """The inverse of `stored_bits`, exact: float32 of uint32 or uint16."""
    if form is StateFormat.SPLIT:
        upper, lower = np.split(bits.astype(np.uint32), 2, axis=-1)
        return ((upper - (lower >> 15) << 16) + lower).view(np.float32)
    return bits.view(np.float32) if form is StateFormat.FP32 else from_bfloat16(bits)


def rounded(
    form: StateFormat, values: Float32, random: NDArray[np.uint32] | None = None, array: int = 0
) -> Float32:
    """Float32 numbers of array 0 (w), 1 (m) or 2 (v) after they were stored and loaded; groups of FP8."""
    if form is StateFormat.FP8:
        return from_scaled(SCALED[array], *scaled_bits(SCALED[array], values, random))
    return values if form is StateFormat.FP32 else loaded(form, stored_bits(form, values, random))


def scales(form: ScaledFormat, values: Float32) -> NDArray[np.uint8]:
    """The scale of each group of numbers, uint8[..., numbers / SCALE_GROUP]."""
    magnitudes = _magnitudes(values)
    finite = np.where(magnitudes < _INFINITY, magnitudes, 0).reshape(*values.shape[:-1], -1, SCALE_GROUP)
    # A mantissa above 1.75, that of the largest number, is one of the next power of two.
    exponents = (finite.max(axis=-1).astype(np.int64) + (1 << 21) - 1) >> 23
    return np.maximum(exponents - form.largest_exponent, form.least_scale).astype(np.uint8)


def scaled_bits(
    form: ScaledFormat, values: Float32, random: NDArray[np.uint32] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Numbers and their scales as the dies store them, uint8[..., numbers] and [..., numbers / SCALE_GROUP].

    values: float32[..., numbers], whole groups. The rounding is that of `stored_bits`.
    """
    shared = scales(form, values)
    magnitudes = _magnitudes(values).astype(np.int64)
    fields = magnitudes >> 23
    wide = np.where(fields > 0, magnitudes & 0x7FFFFF | 0x800000, magnitudes)
    # The exponent field in the format; numbers of the lowest one and subnormal ones have the same unit.
    own = np.maximum(fields, 1) - _of_numbers(shared) + form.bias
    exponents = np.maximum(own, 1)
    cut = np.minimum(23 - form.mantissa_bits + exponents - own, 48)
    if random is None:
        units = (wide + (1 << (cut - 1)) - 1 + (wide >> cut & 1)) >> cut
    else:
        units = (((wide >> (cut - RANDOM_BITS - 1)) + 1 >> 1) + random) >> RANDOM_BITS
    codes = (exponents - 1 << form.mantissa_bits) + units
    if form.keeps_least:
        codes[(codes == 0) & (magnitudes > 0)] = 1
    codes[magnitudes == _INFINITY] = form.infinity
    codes[magnitudes > _INFINITY] = SCALED_NAN
    codes[np.signbit(values) & (codes != SCALED_NAN)] |= 0x80
    return codes.astype(np.uint8), shared


def from_scaled(form: ScaledFormat, codes: NDArray[np.uint8], shared: NDArray[np.uint8]) -> Float32:
    """The inverse of `scaled_bits`, float32[..., numbers]."""
    scale = np.maximum(_of_numbers(shared), form.least_scale)
    magnitudes = codes.astype(np.int32) & 0x7F
    exponents = magnitudes >> form.mantissa_bits
    hidden = np.where(exponents > 0, 1 << form.mantissa_bits, 0)
    units = (magnitudes - (exponents << form.mantissa_bits) + hidden).astype(np.float32)
    with np.errstate(over="ignore"):
        values = np.ldexp(units, np.maximum(exponents, 1) - form.bias - form.mantissa_bits + scale - 127)
    values[magnitudes == form.infinity] = np.inf
    values = np.where(codes & 0x80, -values, values)
    values[(magnitudes > form.infinity) | (magnitudes == SCALED_NAN)] = np.nan
    values[_of_numbers(shared) == NAN_SCALE] = np.nan
    return canonical(values)


def _of_numbers(shared: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The scale of each number."""
    return np.repeat(shared, SCALE_GROUP, axis=-1).astype(np.int32)


def _magnitudes(values: Float32) -> NDArray[np.uint32]:
    return np.ascontiguousarray(values).view(np.uint32) & np.uint32(0x7FFFFFFF)


def _rotated(half: Bits48, bits: int) -> Bits48:
    return (half << np.uint64(bits) | half >> np.uint64(HALF_BITS - bits)) & _HALF
