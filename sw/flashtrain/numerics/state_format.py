"""Rounding of optimizer state into the formats that the dies store (`flashtrain.spec.state_format`)."""

from dataclasses import dataclass
from hashlib import blake2b
from struct import pack

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.state_format import (
    HALF_BITS,
    KEY_BITS,
    RANDOM_BITS,
    ROUND_CONSTANTS,
    Rounding,
    StateFormat,
)

from .float32 import CANONICAL_NAN, Array, Float32, from_bfloat16, to_bfloat16

Bits48 = NDArray[np.uint64]

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
    """The numbers as the dies store them: rounded by 16 random bits each, or else to nearest even."""
    if form is StateFormat.FP32:
        return np.asarray(values).view(np.uint32)
    return to_bfloat16(values) if random is None else stochastic_bfloat16(values, random)


def loaded(form: StateFormat, bits: Array) -> Float32:
    """The inverse of `stored_bits`, exact: float32 of uint32 or uint16."""
    return bits.view(np.float32) if form is StateFormat.FP32 else from_bfloat16(bits)


def rounded(form: StateFormat, values: Float32, random: NDArray[np.uint32] | None = None) -> Float32:
    """Float32 numbers after they were stored and loaded."""
    return values if form is StateFormat.FP32 else loaded(form, stored_bits(form, values, random))


def _rotated(half: Bits48, bits: int) -> Bits48:
    return (half << np.uint64(bits) | half >> np.uint64(HALF_BITS - bits)) & _HALF
