"""A view of a stored array: a read of a part takes only the pages that have some of it."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .array_info import ArrayInfo
from .catalog_log import CatalogLog
from .errors import StaleView
from .selection import Key, Selection


class ArrayView:
    """An array of a catalogue that stays on the flash; `Catalog.view` makes it.

    An index reads the selected elements into a new array: integers, slices, `None` and `...`, as NumPy has
    them. The view follows its array when it is renamed, or moved by the catalogue. :class:`StaleView` once it
    was replaced or deleted. The checksum covers whole arrays, so only :meth:`read` checks it
    (`Catalog.__getitem__`).
    """

    def __init__(self, log: CatalogLog, info: ArrayInfo) -> None:
        self._log = log
        self._number = info.number
        self._name = info.name
        self.shape = info.shape
        self.dtype = info.dtype
        self.nbytes = info.nbytes

    def __repr__(self) -> str:
        return f"<view of {self._name!r}, {self.dtype}{list(self.shape)}>"

    @property
    def name(self) -> str:
        """The name that the array has now."""
        name = self._log.name_of(self._number)
        if name is None:
            raise StaleView(f"the array that {self._name!r} named was replaced or deleted")
        return name

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __getitem__(self, key: Key) -> Any:
        selection = Selection.of(self.shape, self.dtype, key)
        ranges = selection.ranges(self._log.stream.block_bytes)
        while True:
            read = self._log.begin_read(self.name, self._number, ranges, selection.begin, selection.end)
            if read is not None:  # else it was renamed meanwhile
                return selection.take(read.result(), self.dtype)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array on the flash; expected copy=None or True")
        return np.asarray(self[...], dtype)
