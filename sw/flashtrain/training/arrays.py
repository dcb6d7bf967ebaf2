"""Named arrays, and the description of one: what is known of a tensor before it exists.

Layers, optimizers and streams pass tensors on as plain dictionaries ``{name: array}``. Sizes have to be known
before any training runs, because the training command sequence is made from them: `ArraySpec` is such a size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.errors import SeedError, ShapeError

Array = NDArray[Any]
FloatArray = NDArray[np.floating]
Arrays = dict[str, Array]
Shape = tuple[int, ...]

FLOAT32 = "float32"
FLOAT16 = "float16"
BFLOAT16 = "bfloat16"
UINT8 = "uint8"
UINT16 = "uint16"
INT32 = "int32"
DTYPES = {
    FLOAT32: np.dtype(np.float32),
    FLOAT16: np.dtype(np.float16),
    BFLOAT16: np.dtype(np.uint16),
    UINT8: np.dtype(np.uint8),
    UINT16: np.dtype(np.uint16),
    INT32: np.dtype(np.int32),
}
"""The element types of stored tensors, and those of their arrays: NumPy has no BF16, so its bits."""

MOST_BYTES = 1 << 40
"""Of a tensor: more than any device holds, and less than what NumPy counts in 64 bits."""

MOST_DIMENSIONS = 64
"""As many as NumPy has."""


@dataclass(frozen=True)
class ArraySpec:
    """Shape and element type of an array that does not exist yet.

    Raises `ShapeError` for an empty or negative dimension, for more than `MOST_BYTES` bytes, and for an
    element type that is not in `DTYPES`.
    """

    shape: Shape
    dtype: str = FLOAT32

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ShapeError(f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}")
        if any(size < 1 for size in self.shape):
            raise ShapeError(f"shape {self.shape} has a dimension below 1")
        if len(self.shape) > MOST_DIMENSIONS:
            raise ShapeError(f"a shape has {len(self.shape)} dimensions; expected at most {MOST_DIMENSIONS}")
        if self.bytes > MOST_BYTES:
            raise ShapeError(f"shape {self.shape} has more than the {MOST_BYTES} bytes of the largest tensor")

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def numpy(self) -> np.dtype:
        """The element type of the array."""
        return DTYPES[self.dtype]

    @property
    def bytes(self) -> int:
        return self.elements * self.numpy.itemsize

    def check(self, name: str, array: Array) -> None:
        """Raise `ShapeError` unless `array` has this shape and dtype; `name` is for the message."""
        if array.shape != self.shape or array.dtype != self.numpy:
            raise ShapeError(f"{name}: expected {self}, got {array.dtype.name}{list(array.shape)}")

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def integer_dtype(values: int) -> str:
    """The smallest element type for the integers from 0 to `values` - 1."""
    return UINT8 if values <= 1 << 8 else UINT16 if values <= 1 << 16 else INT32


def check_seed(seed: int) -> int:
    """The seed; `SeedError` unless it is an integer that NumPy's generators take."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise SeedError(f"seed is {seed!r}; expected an integer, 0 or more")
    return int(seed)


def pack(arrays: Mapping[str, Array], shapes: Mapping[str, Shape]) -> FloatArray:
    """Lay the arrays that `shapes` names end to end, in its order, as one float32 vector."""
    return np.concatenate([arrays[name].reshape(-1) for name in shapes])


def unpack(vector: FloatArray, shapes: Mapping[str, Shape]) -> Arrays:
    """Undo `pack`: named views into `vector`, which must hold exactly the elements of `shapes`."""
    expected = sum(prod(shape) for shape in shapes.values())
    if vector.shape != (expected,):
        raise ShapeError(f"packed vector: expected shape {(expected,)}, got {vector.shape}")
    arrays, start = {}, 0
    for name, shape in shapes.items():
        stop = start + prod(shape)
        arrays[name] = vector[start:stop].reshape(shape)
        start = stop
    return arrays
