"""Basic indexing of an array that is not in memory: the bytes that a selection has."""

from dataclasses import dataclass
from operator import index
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from flashtrain.host.errors import ArrayError

Key = int | slice | EllipsisType | None | tuple[int | slice | EllipsisType | None, ...]


@dataclass(frozen=True)
class Selection:
    """The elements of an array in C order that a key selects.

    - begin, end: its first byte in the array, and that behind its last.
    - shape, strides: of the selection; its first element has byte `offset` of the array.
    - scalar: NumPy gives a scalar for the key.
    """

    begin: int
    end: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    scalar: bool

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: np.dtype, key: Any) -> "Selection":
        """IndexError as NumPy raises it, and :class:`ArrayError` for a key that is not of basic indexing."""
        keys = _basic(key)
        # NumPy applies the key to an array whose elements it never reads.
        whole = as_strided(np.empty(1, np.uint8), shape, _strides(shape, dtype.itemsize))
        open_keys = keys if Ellipsis in keys else (*keys, Ellipsis)
        part: NDArray[Any] = whole[open_keys]
        offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        back = sum((n - 1) * s for n, s in zip(part.shape, part.strides, strict=True) if s < 0)
        on = sum((n - 1) * s for n, s in zip(part.shape, part.strides, strict=True) if s > 0)
        scalar = Ellipsis not in keys and not part.ndim
        if not part.size:
            return cls(0, 0, 0, part.shape, part.strides, dtype.itemsize, scalar)
        end = offset + on + dtype.itemsize
        return cls(offset + back, end, offset, part.shape, part.strides, dtype.itemsize, scalar)

    def ranges(self, page_bytes: int) -> list[tuple[int, int]]:
        """Ranges of bytes of the array, sorted, that have the selection.

        They also have bytes between its elements, where the same pages have elements on both sides.
        """
        if self.begin == self.end:
            return []
        axes = sorted((abs(s), n) for n, s in zip(self.shape, self.strides, strict=True) if n > 1)
        length, outer = self.itemsize, []
        for stride, count in axes:
            if not outer and stride <= max(length, page_bytes):
                length += stride * (count - 1)
            else:
                outer.append((stride, count))
        starts = np.array([self.begin])
        for stride, count in outer:
            starts = (np.arange(count)[:, None] * stride + starts).reshape(-1)
        return [(int(start), int(start) + length) for start in np.sort(starts)]

    def take(self, data: NDArray[np.uint8], dtype: np.dtype) -> Any:
        """The selected elements from the bytes of the array from `begin` to `end`."""
        if self.begin == self.end:
            return np.empty(self.shape, dtype)
        items = np.ndarray(self.shape, dtype, data.data, self.offset - self.begin, self.strides)
        return items[()] if self.scalar else items.copy()


def _basic(key: Any) -> tuple[Any, ...]:
    keys = key if isinstance(key, tuple) else (key,)
    return tuple(_basic_part(part) for part in keys)


def _basic_part(part: Any) -> Any:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if not isinstance(part, bool | np.bool_ | np.ndarray):
        try:
            return index(part)
        except TypeError:
            pass
    raise ArrayError(
        f"an index of type {type(part).__name__}; expected an int, a slice, None or ..., since a view reads"
        " what basic indexing selects"
    )


def _strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in C order."""
    strides, length = [], itemsize
    for count in reversed(shape):
        strides.append(length)
        length *= max(1, count)
    return tuple(reversed(strides))
