"""An array of a catalogue: what it is, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import ArrayError
from flashtrain.host.memory.arrays import as_bytes, contiguous, element_type

from . import dtype_code
from .run import Run


@dataclass(frozen=True)
class Entry:
    """An array of a catalogue.

    - number: of its assignment; later ones have higher numbers.
    - runs: the place of its bytes, in C order; none of an empty array.
    - crc: CRC-32 of its bytes.
    - generation: of the stream when the bytes were appended, or when the catalogue was opened.
    """

    number: int
    dtype: np.dtype
    shape: tuple[int, ...]
    crc: int
    runs: tuple[Run, ...] = ()
    generation: int = field(default=0, compare=False)

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def at(self, runs: Sequence[Run], generation: int) -> "Entry":
        """The same array in another place."""
        return replace(self, runs=tuple(runs), generation=generation)

    def pack(self) -> list[Any]:
        flat = [number for run in self.runs for number in run]
        return [self.number, dtype_code.encode(self.dtype), list(self.shape), self.crc, flat]

    @classmethod
    def unpack(cls, fields: list[Any]) -> "Entry":
        number, described, shape, crc, flat = fields
        runs = tuple(Run(*pair) for pair in zip(flat[::2], flat[1::2], strict=True))
        return cls(number, dtype_code.decode(described), tuple(shape), crc, runs)


def content_of(name: str, array: object) -> NDArray[Any]:
    """The array in C order; :class:`ArrayError` for an object that cannot be stored."""
    if not isinstance(array, np.ndarray | np.generic):
        raise ArrayError(f"array {name!r} is a {type(array).__name__}; expected a NumPy array")
    element_type(array.dtype)
    dtype_code.encode(array.dtype)
    return contiguous(np.asarray(array))


def bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array in C order, which may be empty."""
    return as_bytes(array) if array.size else np.empty(0, np.uint8)


def entry_of(number: int, array: NDArray[Any]) -> Entry:
    """The entry of an array that has no place yet."""
    return Entry(number, array.dtype, array.shape, crc32(bytes_of(array).data))
