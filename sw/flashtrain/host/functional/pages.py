"""Pages of the flash in memory: arrays of many pages, and what each program has left beside the data."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Geometry

Bytes = NDArray[np.uint8]

CHUNK_BYTES = 1 << 20
"""Bytes of the arrays that zones consist of, unless a zone is smaller."""


class Owner(NamedTuple):
    """The owner of a physical zone's pages, from their identities; `zone` counts device-wide."""

    nsid: int
    zone: int
    generation: int  # as far as the identity has bits for it
    sequence: int
    wear: int


class Stamp(NamedTuple):
    """The trace of a program beside the data; without `owner` if it was interrupted."""

    owner: Owner | None
    updated: bool


class Page(NamedTuple):
    """A programmed page: its data and the fields of its `Stamp`."""

    data: bytes
    owner: Owner | None
    updated: bool


class Chunks:
    """The memory of a device's pages, in chunks of `pages` each.

    Chunks of erased zones are used again, because memory that is new to a process costs more than a copy.
    """

    def __init__(self, geometry: Geometry) -> None:
        self.zone_capacity = geometry.zone_capacity
        self.superpage = geometry.superpage
        self.page_bytes = geometry.page_bytes
        self.pages = min(geometry.zone_capacity, max(1, CHUNK_BYTES // geometry.page_bytes))
        self._unused: list[Bytes] = []

    def take(self) -> Bytes:
        """A chunk of undefined content, uint8[pages, page_bytes]."""
        return self._unused.pop() if self._unused else np.empty((self.pages, self.page_bytes), np.uint8)

    def give_back(self, chunks: Collection[Bytes]) -> None:
        """Take chunks that no zone needs."""
        self._unused.extend(chunks)


class ZonePages:
    """The pages of the blocks of one number, in the order of LBAs: a sequence of `Page`, or None.

    None stands for a page that is not programmed. The sequence ends with the last page that was programmed
    since the whole zone was erased. A *column* of a zone is its block on one plane.
    """

    def __init__(self, chunks: Chunks) -> None:
        self._memory = chunks
        self._chunks: dict[int, Bytes] = {}
        self._stamps: list[Stamp | None] = [None]
        self._numbers = np.zeros(0, np.int32)  # of the stamp of each page
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, offset: int) -> Page | None:
        place = offset + self._length if offset < 0 else offset
        if not 0 <= place < self._length:
            raise IndexError(f"page {offset} of {self._length}")
        stamp = self._stamps[self._numbers[place]]
        if stamp is None:
            return None
        ((number, part),) = self._parts(place, 1)
        return Page(self._chunks[number][part].tobytes(), *stamp)

    def __setitem__(self, offset: int, page: Page | None) -> None:
        """Set a page, also behind the last one."""
        place = offset + self._length if offset < 0 else offset
        if page is None:
            self._numbers[place] = 0
        else:
            self.program(place, np.frombuffer(page.data, np.uint8)[np.newaxis], Stamp(*page[1:]))

    def program(self, offset: int, data: Bytes, stamp: Stamp) -> None:
        """Program pages from `offset` on, uint8[pages, page_bytes]."""
        start = 0
        for number, place in self._parts(offset, len(data)):
            count = place.stop - place.start
            if number not in self._chunks:
                self._chunks[number] = self._memory.take()
            self._chunks[number][place] = data[start : start + count]
            start += count
        if not len(self._numbers):
            self._numbers = np.zeros(self._memory.zone_capacity, np.int32)
        if stamp not in self._stamps:
            self._stamps.append(stamp)
        self._length = max(self._length, offset + len(data))
        self._numbers[offset : offset + len(data)] = self._stamps.index(stamp)

    def read(self, offset: int, out: Bytes, owner: Owner) -> NDArray[np.bool_]:
        """Copy pages from `offset` on to `out`, uint8[pages, page_bytes].

        Returns which are lost, bool[pages]: those that are not programmed or not this owner's. Their rows of
        `out` stay as they are.
        """
        own = [number for number, stamp in enumerate(self._stamps) if stamp and stamp.owner == owner]
        numbers = self._numbers[offset : offset + len(out)]
        if not own:
            return np.ones(len(out), np.bool_)
        lost = numbers != own[0] if len(own) == 1 else ~np.isin(numbers, own)
        start, some_lost = 0, np.count_nonzero(lost)
        for number, place in self._parts(offset, len(out)) if some_lost < len(out) else ():
            end = start + place.stop - place.start
            if some_lost:
                kept = ~lost[start:end]
                out[start:end][kept] = self._chunks[number][place][kept]
            else:
                out[start:end] = self._chunks[number][place]
            start = end
        return lost

    def erase(self, but: Collection[int] = ()) -> None:
        """Erase all columns except `but`."""
        if but:
            for column in set(range(self._memory.superpage)) - set(but):
                self.erase_column(column)
            return
        self._numbers[: self._length] = 0
        self._length = 0
        self._stamps = [None]
        self._memory.give_back(self._chunks.values())
        self._chunks = {}

    def erase_column(self, column: int) -> None:
        """Erase the pages of one column."""
        self._numbers[column :: self._memory.superpage] = 0
        if not self._numbers.any():
            self._stamps = [None]

    def _parts(self, offset: int, count: int) -> Iterator[tuple[int, slice]]:
        """The chunks of `count` pages from `offset` on, and their pages in each."""
        while count > 0:
            number, first = divmod(offset, self._memory.pages)
            taken = min(count, self._memory.pages - first)
            yield number, slice(first, first + taken)
            offset, count = offset + taken, count - taken
