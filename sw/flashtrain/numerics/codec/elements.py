"""Elements of a coded stream: user data to elements as pages hold them, and back.

A page holds an element *rearranged*: exponent, sign, mantissa from high to low. So +0.0 is the number 0, and
the exponent is the highest byte.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.errors import OperandError
from flashtrain.spec.codec import CODED, element_bytes, slice_user_bytes
from flashtrain.spec.streams import Codec

Elements: TypeAlias = NDArray[np.integer]
"""Rearranged elements: uint16 of BF16, uint32 of FP32."""

_MANTISSA_BITS = {2: 7, 4: 23}
_QUIET = np.uint32(0x40)  # of the upper half of a NaN
_LEAST_NAN = np.uint32(0x7F80_0001)


def element_type(codec: Codec) -> np.dtype:
    """The type of `Elements`, little endian whatever the machine."""
    return np.dtype(f"<u{element_bytes(codec)}")


def elements_of(data: bytes | memoryview, codec: Codec) -> Elements:
    """The elements of user data, rounded if the codec says so."""
    stored_slices(memoryview(data).nbytes, codec)
    if codec is Codec.ROUND16:
        return _rearranged(rounded(np.frombuffer(data, "<u4")))
    return _rearranged(np.frombuffer(data, element_type(codec)))


def stored_slices(user_bytes: int, codec: Codec) -> int:
    """Slices of an append of so many bytes of user data."""
    if codec not in CODED:
        raise OperandError(f"codec is {codec.name}; expected one of {', '.join(each.name for each in CODED)}")
    slices, rest = divmod(user_bytes, slice_user_bytes(codec))
    if not slices or rest:
        raise OperandError(f"user data have {user_bytes} bytes; expected whole slices, one at least")
    return slices


def user_data(elements: Elements, codec: Codec) -> bytes:
    """The user data of elements."""
    bits = _mantissa_bits(elements)
    sign = elements >> bits & 1
    exponents = elements >> (bits + 1)
    words = sign << (bits + 8) | exponents << bits | elements & ((1 << bits) - 1)
    if codec is Codec.ROUND16:
        words = words.astype("<u4") << 16
    return words.astype(words.dtype.newbyteorder("<"), copy=False).tobytes()


def rounded(words: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """FP32 to BF16 bits, rounded to nearest even; a NaN stays one and becomes quiet."""
    upper = words >> 16
    nearest = (words + (0x7FFF + (upper & 1))) >> 16
    nan = words & 0x7FFF_FFFF >= _LEAST_NAN
    return np.where(nan, upper | _QUIET, nearest).astype(np.uint16)


def exponents_of(elements: Elements) -> NDArray[np.uint8]:
    """Their exponents."""
    return (elements >> (8 * elements.itemsize - 8)).astype(np.uint8)


def _rearranged(words: Elements) -> Elements:
    bits = _mantissa_bits(words)
    exponents = words >> bits & 0xFF
    return exponents << (bits + 1) | words >> (bits + 8) << bits | words & ((1 << bits) - 1)


def _mantissa_bits(words: Elements) -> int:
    return _MANTISSA_BITS[words.itemsize]
