"""Checks of NumPy arrays, and conversions between arrays and blocks."""

from math import prod

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flashtrain.host.errors import ArrayError


def element_type(dtype: DTypeLike) -> np.dtype:
    """`dtype` as a NumPy type of fixed size; :class:`ArrayError` for a type without bytes of its own."""
    try:
        kind = np.dtype("" if dtype is None else dtype)  # to NumPy None is float64
    except (TypeError, ValueError) as error:
        raise ArrayError(f"{dtype!r} is not a NumPy dtype") from error
    if kind.hasobject or kind.itemsize == 0:
        raise ArrayError(f"dtype {kind} has no fixed size in bytes; expected one that has")
    return kind


def nbytes_of(shape: tuple[int, ...], kind: np.dtype) -> int:
    """Bytes of an array of this shape; :class:`ArrayError` for an empty or impossible one."""
    if any(not _is_integer(length) or length < 1 for length in shape):
        raise ArrayError(f"shape {shape} has nothing to store; expected dimensions of at least 1")
    return prod(int(length) for length in shape) * kind.itemsize


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def blocks_of(nbytes: int, block_bytes: int) -> int:
    """Logical blocks that `nbytes` take."""
    return -(-nbytes // block_bytes)


def storable(array: object) -> NDArray:
    """`array` as an array with bytes to store; the :class:`ArrayError` names its actual type or shape."""
    if not isinstance(array, np.ndarray | np.generic):
        raise ArrayError(f"{type(array).__name__} is not a NumPy array")
    element_type(array.dtype)
    if array.size == 0:
        raise ArrayError(f"array of shape {array.shape} has nothing to store; expected at least one element")
    return np.asarray(array)


def contiguous(array: NDArray) -> NDArray:
    """The array in C order; the same array if it has that order already."""
    # ascontiguousarray turns zero dimensions into one.
    return np.ascontiguousarray(array).reshape(array.shape)


def as_bytes(array: NDArray) -> NDArray[np.uint8]:
    """The bytes of a C-contiguous array, without a copy."""
    return array.reshape(-1).view(np.uint8)


def check_target(out: object, shape: tuple[int, ...], kind: np.dtype) -> NDArray:
    """`out` as an array that data of this shape and type can be read into."""
    if not isinstance(out, np.ndarray):
        raise ArrayError(f"out is a {type(out).__name__}; expected a NumPy array")
    if out.shape != shape or out.dtype != kind:
        raise ArrayError(f"out is {out.dtype}{list(out.shape)}; expected {kind}{list(shape)}")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ArrayError("out is not a writable C-contiguous array")
    return out
