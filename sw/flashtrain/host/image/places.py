"""Blocks and pages of an image: where a block lies, pages as they are stored, and pages to program."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.image import PageRecord


class BlockPlace(NamedTuple):
    """A block of the device."""

    channel: int
    die: int
    plane: int
    block: int

    def __str__(self) -> str:
        return " ".join(f"{key} {at}" for key, at in self._asdict().items())


class PageRun(NamedTuple):
    """The cells of pages of a block, from number `page` on: uint8[pages, raw_page_bytes], contiguous."""

    number: int
    page: int
    cells: NDArray[np.uint8]

    @classmethod
    def of(cls, number: int, page: int, cells: bytes) -> "PageRun":
        """A run of one page."""
        return cls(number, page, np.frombuffer(cells, np.uint8)[np.newaxis])


class StoredPage(NamedTuple):
    """A programmed page of a block. damaged: its record has a wrong checksum."""

    number: int
    record: PageRecord
    damaged: bool
