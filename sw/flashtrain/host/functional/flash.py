"""The flash: what stays when the power fails. Sparse, so that a large device costs what was written to it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    """The physical zones of a device."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self.zones = [PhysicalZone() for _ in range(geometry.zones)]

    def erase(self, zone: int) -> None:
        self.zones[zone].pages.clear()

    def inspect(self, zone: int, offset: int) -> NDArray[np.uint8]:
        """A page with its identity in the place of its last bytes."""
        size = self._geometry.page_bytes
        page = self.zones[zone].page(offset)
        if page is None:
            return np.full(size, _ERASED, np.uint8)
        whole = np.frombuffer(page.data, np.uint8).copy()
        whole[size - PageIdentity.BYTES :] = np.frombuffer(self._record(page, offset), np.uint8)
        return whole

    def _record(self, page: Page, offset: int) -> bytes:
        if page.owner is None:
            return bytes(PageIdentity.BYTES)
        place = self._geometry.place(offset)
        return identity_record(
            stream=page.owner.nsid - 1, updated=page.updated, zone=page.owner.zone, row=place.row,
            channel=place.channel, die=place.die, plane=place.plane, generation=page.owner.generation,
            sequence=page.owner.sequence, wear=page.owner.wear,
        )  # fmt: skip
