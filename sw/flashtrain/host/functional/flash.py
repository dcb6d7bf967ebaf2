"""The flash: what stays when the power fails. Sparse, so that a large device costs what was written to it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.spec import Geometry
from flashtrain.spec.identity import PageIdentity, identity_record

_ERASED = 0xFF


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
    superpage. bad: blocks, by number and column, that cannot be erased; randomizer: what was never
    programmed is read as its key says (`spec.randomizer`).
    """

    def __init__(self, geometry: Geometry, randomizer: bool = False) -> None:
        self.geometry = geometry
        self.randomizer = randomizer
        self._blanks: dict[tuple[int, int], NDArray[np.uint8]] = {}
        self.zones = [PhysicalZone() for _ in range(geometry.blocks)]
        self.bad: set[tuple[int, int]] = set()

    def erase(self, zone: int) -> set[int]:
        """All columns of a zone; which ones have failed, and keep what they hold."""
        failed = {column for block, column in self.bad if block == zone}
        pages = self.zones[zone].pages
        kept = [page if i % self.geometry.superpage in failed else None for i, page in enumerate(pages)]
        pages[:] = kept if failed else []
        return failed

    def erase_block(self, block: int, column: int) -> bool:
        """One column; whether that has passed."""
        if (block, column) in self.bad:
            return False
        pages = self.zones[block].pages
        for offset in range(column, len(pages), self.geometry.superpage):
            pages[offset] = None
        return True

    def inspect(self, zone: int, offset: int) -> NDArray[np.uint8]:
        """A page with its identity in the place of its last bytes."""
        size = self.geometry.page_bytes
        page = self.zones[zone].page(offset)
        if page is None:
            place = self.geometry.place(offset)
            return self._blank(place.row, place.plane)
        whole = np.frombuffer(page.data, np.uint8).copy()
        whole[size - PageIdentity.BYTES :] = np.frombuffer(self._record(page, offset), np.uint8)
        return whole

    def _blank(self, row: int, plane: int) -> NDArray[np.uint8]:
        """What an erased page looks like."""
        if not self.randomizer:
            return np.full(self.geometry.page_bytes, _ERASED, np.uint8)
        if (row, plane) not in self._blanks:
            whole = page_keys(self.geometry, row, plane) ^ np.uint8(_ERASED)
            data, record = np.split(whole, [self.geometry.page_bytes])
            data[-len(record) :] = record
            self._blanks[row, plane] = data
        return self._blanks[row, plane]

    def _record(self, page: Page, offset: int) -> bytes:
        if page.owner is None:
            return bytes(PageIdentity.BYTES)
        place = self.geometry.place(offset)
        return identity_record(
            stream=page.owner.nsid - 1, updated=page.updated, zone=page.owner.zone, row=place.row,
            channel=place.channel, die=place.die, plane=place.plane, generation=page.owner.generation,
            sequence=page.owner.sequence, wear=page.owner.wear,
        )  # fmt: skip
