"""Places of named arrays in one run of bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flashtrain.checkpoint.memory.errors import JobError
from flashtrain.training.arrays import Arrays, Shape

ALIGNMENT = 64
"""Bytes: a cache line, and a multiple of every element."""


@dataclass(frozen=True)
class ArrayPlace:
    offset: int
    shape: Shape
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


class ArrayLayout:
    """Lays out arrays one behind the other.

    Members
    -------
    nbytes: of all arrays with the gaps between them.
    """

    def __init__(self, arrays: Mapping[str, tuple[Shape, DTypeLike]]) -> None:
        self._places: dict[str, ArrayPlace] = {}
        self.nbytes = 0
        for name, (shape, dtype) in arrays.items():
            place = ArrayPlace(self.nbytes, shape, np.dtype(dtype))
            self._places[name] = place
            self.nbytes += -(-place.nbytes // ALIGNMENT) * ALIGNMENT

    def views(self, memory: NDArray[np.uint8]) -> Arrays:
        """The arrays as views of `memory`."""
        if memory.nbytes != self.nbytes:
            raise JobError(f"memory of {memory.nbytes} bytes for arrays; expected {self.nbytes}")
        return {
            name: memory[place.offset : place.offset + place.nbytes].view(place.dtype).reshape(place.shape)
            for name, place in self._places.items()
        }
