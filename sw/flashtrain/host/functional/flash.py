"""The flash, whose content survives a loss of power. It is sparse: only written pages take memory."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.checksums import crc16_rows
from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.spec import FlashtrainError, Geometry
from flashtrain.spec.bad_blocks import MARK
from flashtrain.spec.identity import PageIdentity, identity_record

from .pages import Bytes, Chunks, Owner, Page, Stamp, ZonePages

_ERASED = 0xFF


class MarkedBlockTouched(FlashtrainError):
    """A program or an erase has accessed a block with a factory mark."""


class Flash:
    """The blocks of a device: the blocks of one number on all planes form a physical zone or are spares.

    A page belongs to the column that is the remainder of its offset by the superpage.

    - bad: blocks, by number and column, whose erases fail.
    - marked: blocks with a factory mark, by number and column, with the number of the marked page; and
      whether the mark fills the page or one byte.
    - randomizer: an unprogrammed page is read as ones XOR its key (`spec.randomizer`).
    - coded: the code reads a page with a single byte of zeros as erased, and corrects nothing in a page of
      zeros.
    """

    def __init__(self, geometry: Geometry, randomizer: bool = False, coded: bool = False) -> None:
        self.geometry = geometry
        self.randomizer = randomizer
        self.coded = coded
        self._keys: dict[tuple[int, int], NDArray[np.uint8]] = {}
        chunks = Chunks(geometry)
        self.zones = [ZonePages(chunks) for _ in range(geometry.blocks)]
        self.bad: set[tuple[int, int]] = set()
        self.marked: dict[tuple[int, int], tuple[int, bool]] = {}

    def break_block(self, block: int, column: int) -> None:
        """Make all further erases of a block fail."""
        self.bad.add((block, column))

    def mark(self, block: int, column: int, page: int, whole: bool) -> None:
        """Put a factory mark on a page of a block."""
        self.marked[block, column] = page, whole

    def pages(self, block: int, offset: int, count: int) -> ZonePages:
        """The pages of the blocks of a number, of which `count` from `offset` on are to be read."""
        return self.zones[block]

    def page(self, block: int, offset: int) -> Page | None:
        """A page by the number of its block and its offset in a zone; None if it was not programmed."""
        pages = self.pages(block, offset, 1)
        return pages[offset] if offset < len(pages) else None

    def erase(self, zone: int, but: set[int]) -> set[int]:
        """Erase all columns of a zone except `but`; returns those that fail and keep their content."""
        for block, column in self.marked:
            if block == zone and column not in but:
                self._touch(block, column)
        failed = {column for block, column in self.bad if block == zone} - but
        self.zones[zone].erase(failed | but)
        return failed

    def program(self, block: int, offset: int, data: Bytes, stamp: Stamp) -> None:
        """Program pages of blocks of a number from `offset` on, uint8[pages, page_bytes]."""
        if self.marked:
            for number in range(offset, offset + len(data)):
                self._touch(block, number % self.geometry.superpage)
        self.zones[block].program(offset, data, stamp)

    def _touch(self, block: int, column: int) -> None:
        if (block, column) in self.marked:
            raise MarkedBlockTouched(f"block {block} of column {column}")

    def erase_block(self, block: int, column: int) -> bool:
        """Erase one column; returns whether the erase passed."""
        self._touch(block, column)
        if (block, column) in self.bad:
            return False
        self.zones[block].erase_column(column)
        return True

    def inspect(self, zone: int, offset: int, raw: bool = False) -> NDArray[np.uint8]:
        """A page with its identity in place of its last bytes; raw: as the cells hold it."""
        identity = slice(self.geometry.page_bytes - PageIdentity.BYTES, None)
        place, page = self.geometry.place(offset), self.page(zone, offset)
        key = self._key(place.page, place.plane)
        marked, all_over = self.marked.get((zone, offset % self.geometry.superpage), (None, False))
        if marked == place.page and all_over:
            whole = key ^ np.uint8(MARK)
            if self.coded and not raw:
                whole[identity] = 0
        elif marked == place.page:
            whole = key ^ np.uint8(_ERASED)
            if raw or not self.coded:
                whole[identity.start] = key[identity.start] ^ MARK
        elif page is None:
            whole = key ^ np.uint8(_ERASED)
        else:
            whole = np.frombuffer(page.data, np.uint8).copy()
            whole[identity] = np.frombuffer(self._record(page.owner, page.updated, offset), np.uint8)
            if page.owner is None and raw:
                whole[identity] = key[identity] ^ _ERASED
        return whole ^ key if raw else whole

    def _key(self, page: int, plane: int) -> NDArray[np.uint8]:
        """The key of a page, in the layout of an inspected page."""
        if (page, plane) not in self._keys:
            data = np.zeros(self.geometry.page_bytes, np.uint8)
            if self.randomizer:
                data, record = np.split(page_keys(self.geometry, page, plane), [len(data)])
                data[-len(record) :] = record
            self._keys[page, plane] = data
        return self._keys[page, plane]

    def _identities(self, owner: Owner, updated: bool, offset: int, count: int) -> Bytes:
        """The records of `count` pages from `offset` on, uint8[count, 16]."""
        p = PageIdentity
        first = int.from_bytes(self._record(owner, updated, offset), "little")
        own = (p.page, p.channel, p.die, p.plane)
        shared = first & ~sum(field.put((1 << field.width) - 1) for field in own)
        words = np.array([shared & (1 << 64) - 1, shared >> 64], "<u8")
        rows = np.repeat(words[np.newaxis], count, axis=0)
        left = np.arange(offset, offset + count, dtype=np.uint64)
        for field, size in zip((p.channel, p.plane, p.die, p.page), self._sizes, strict=True):
            left, number = np.divmod(left, size)
            rows[:, 0] |= number << np.uint64(field.low)
        records = rows.view(np.uint8)
        checked = records[:, : p.CHECKED_BYTES]
        records[:, p.CHECKED_BYTES :] = crc16_rows(checked).astype("<u2")[:, np.newaxis].view(np.uint8)
        return records

    @property
    def _sizes(self) -> tuple[np.uint64, ...]:
        """Channels, planes, dies and pages, by which an offset is divided in this order."""
        g = self.geometry
        return tuple(np.uint64(size) for size in (g.channels, g.planes, g.dies, 1 << g.page_bits))

    def _record(self, owner: Owner | None, updated: bool, offset: int) -> bytes:
        if owner is None:
            return bytes(PageIdentity.BYTES)
        place = self.geometry.place(offset)
        return identity_record(
            stream=owner.nsid - 1, updated=updated, zone=owner.zone, page=place.page,
            channel=place.channel, die=place.die, plane=place.plane, generation=owner.generation,
            sequence=owner.sequence, wear=owner.wear,
        )  # fmt: skip
