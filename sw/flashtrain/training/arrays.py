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

from flashtrain.training.errors import ShapeError

Array = NDArray[Any]
FloatArray = NDArray[np.floating]
Arrays = dict[str, Array]
Shape = tuple[int, ...]

FLOAT32 = "float32"
UINT8 = "uint8"
DTYPES = (FLOAT32, UINT8)
"""The element types that a stored tensor may have, by NumPy's names."""


@dataclass(frozen=True)
class ArraySpec:
    """Shape and element type of an array that does not exist yet.

    Raises `ShapeError` for an empty or negative dimension and for an element type that is not in `DTYPES`.
    """

    shape: Shape
    dtype: str = FLOAT32

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ShapeError(f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}")
        if any(size < 1 for size in self.shape):
            raise ShapeError(f"shape {self.shape} has a dimension below 1")

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * np.dtype(self.dtype).itemsize

    def check(self, name: str, array: Array) -> None:
        """Raise `ShapeError` unless `array` has this shape and dtype; `name` is for the message."""
        if array.shape != self.shape or array.dtype != np.dtype(self.dtype):
            raise ShapeError(f"{name}: expected {self}, got {array.dtype.name}{list(array.shape)}")

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


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
