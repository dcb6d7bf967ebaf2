"""The flash: what stays when the power fails. Sparse, so that a large device costs what was written to it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.spec import FlashtrainError, Geometry
from flashtrain.spec.bad_blocks import MARK
from flashtrain.spec.identity import PageIdentity, identity_record

_ERASED = 0xFF


class MarkedBlockTouched(FlashtrainError):
    """A block was programmed or erased that its maker has marked as bad."""


class Owner(NamedTuple):
    """Whose the pages of a physical zone are, as their identities say: `zone` is counted device-wide."""

    nsid: int
    zone: int
    generation: int  # as far as the identity has bits for it
    sequence: int
    wear: int


class Page(NamedTuple):
    """A programmed page. Its program was interrupted: no `owner`."""

    data: bytes
    owner: Owner | None
    updated: bool


@dataclass
class PhysicalZone:
    """Its pages in the order of LBAs; None where none was programmed."""

    pages: list[Page | None] = field(default_factory=list)

    def page(self, offset: int) -> Page | None:
        return self.pages[offset] if offset < len(self.pages) else None

    def program(self, offset: int, page: Page) -> None:
        self.pages.extend([None] * (offset + 1 - len(self.pages)))
        self.pages[offset] = page


class Flash:
    """The blocks of a device: those of one number on all planes are a physical zone, or the last ones spares.

    A *column* of a zone is the block of one plane: the pages whose offset has this remainder by the
    superpage. bad: blocks, by number and column, that cannot be erased; marked: those that are bad from the
    factory, the row of the page with the mark, and whether that is all over the page; randomizer: what was
    never programmed is read as its key says (`spec.randomizer`); coded: a page with nothing but a byte of
    zeros is read as erased, and where all are zeros none is corrected.
    """

    def __init__(self, geometry: Geometry, randomizer: bool = False, coded: bool = False) -> None:
        self.geometry = geometry
        self.randomizer = randomizer
        self.coded = coded
        self._keys: dict[tuple[int, int], NDArray[np.uint8]] = {}
        self.zones = [PhysicalZone() for _ in range(geometry.blocks)]
        self.bad: set[tuple[int, int]] = set()
        self.marked: dict[tuple[int, int], tuple[int, bool]] = {}

    def erase(self, zone: int, but: set[int]) -> set[int]:
        """All columns of a zone but these; which ones have failed, and keep what they hold."""
        for block, column in self.marked:
            if block == zone and column not in but:
                self._touch(block, column)
        failed = {column for block, column in self.bad if block == zone} - but
        pages, stay = self.zones[zone].pages, failed | but
        kept = [page if i % self.geometry.superpage in stay else None for i, page in enumerate(pages)]
        pages[:] = kept if stay else []
        return failed

    def program(self, block: int, offset: int, page: Page) -> None:
        self._touch(block, offset % self.geometry.superpage)
        self.zones[block].program(offset, page)

    def _touch(self, block: int, column: int) -> None:
        if (block, column) in self.marked:
            raise MarkedBlockTouched(f"block {block} of column {column}")

    def erase_block(self, block: int, column: int) -> bool:
        """One column; whether that has passed."""
        self._touch(block, column)
        if (block, column) in self.bad:
            return False
        pages = self.zones[block].pages
        for offset in range(column, len(pages), self.geometry.superpage):
            pages[offset] = None
        return True

    def inspect(self, zone: int, offset: int, raw: bool = False) -> NDArray[np.uint8]:
        """A page with its identity in the place of its last bytes; raw: as the cells hold them."""
        identity = slice(self.geometry.page_bytes - PageIdentity.BYTES, None)
        place, page = self.geometry.place(offset), self.zones[zone].page(offset)
        key = self._key(place.row, place.plane)
        marked, all_over = self.marked.get((zone, offset % self.geometry.superpage), (None, False))
        if marked == place.row and all_over:
            whole = key ^ np.uint8(MARK)
            if self.coded and not raw:
                whole[identity] = 0
        elif marked == place.row:
            whole = key ^ np.uint8(_ERASED)
            if raw or not self.coded:
                whole[identity.start] = key[identity.start] ^ MARK
        elif page is None:
            whole = key ^ np.uint8(_ERASED)
        else:
            whole = np.frombuffer(page.data, np.uint8).copy()
            whole[identity] = np.frombuffer(self._record(page, offset), np.uint8)
            if page.owner is None and raw:
                whole[identity] = key[identity] ^ _ERASED
        return whole ^ key if raw else whole

    def _key(self, row: int, plane: int) -> NDArray[np.uint8]:
        """Of a page as it is inspected."""
        if (row, plane) not in self._keys:
            data = np.zeros(self.geometry.page_bytes, np.uint8)
            if self.randomizer:
                data, record = np.split(page_keys(self.geometry, row, plane), [len(data)])
                data[-len(record) :] = record
            self._keys[row, plane] = data
        return self._keys[row, plane]

    def _record(self, page: Page, offset: int) -> bytes:
        if page.owner is None:
            return bytes(PageIdentity.BYTES)
        place = self.geometry.place(offset)
        return identity_record(
            stream=page.owner.nsid - 1, updated=page.updated, zone=page.owner.zone, row=place.row,
            channel=place.channel, die=place.die, plane=place.plane, generation=page.owner.generation,
            sequence=page.owner.sequence, wear=page.owner.wear,
        )  # fmt: skip
