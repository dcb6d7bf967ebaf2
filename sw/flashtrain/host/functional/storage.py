"""The mapping of one stream's zones to the flash."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.identity import GENERATION_LIMIT

from .flash import Owner, Page
from .physical import PhysicalZones


@dataclass(frozen=True)
class Mapping:
    """The physical zone of a logical one, and the owner that the identities of its pages must name."""

    physical: int
    owner: Owner


class Storage:
    """The pages of stream `nsid`, whose zones begin at the device's logical zone `first_zone`."""

    def __init__(self, page_bytes: int, nsid: int, first_zone: int, physical: PhysicalZones) -> None:
        self._page_bytes = page_bytes
        self._nsid = nsid
        self._first_zone = first_zone
        self._physical = physical
        self._zones: dict[int, Mapping] = {}

    def append(self, zone: int, offset: int, data: NDArray[np.uint8], generation: int) -> None:
        """Program whole pages of `zone` from its page `offset` on; these pages are empty before."""
        pages = data.reshape(-1, self._page_bytes)
        self._program(zone, offset, pages, generation, [False] * len(pages), updated=False)

    def append_tiles(
        self, zone: int, offset: int, data: NDArray[np.uint8], generation: int, damaged: list[bool]
    ) -> None:
        """As :meth:`append`, for the result of an update: `damaged` pages get no identity."""
        self._program(zone, offset, data.reshape(-1, self._page_bytes), generation, damaged, updated=True)

    def _program(
        self,
        zone: int,
        offset: int,
        pages: NDArray[np.uint8],
        generation: int,
        damaged: list[bool],
        updated: bool,
    ) -> None:
        if zone not in self._zones:
            sequence, physical = self._physical.sequence, self._physical.take()
            self.restore(zone, generation, physical, sequence, self._physical.wear[physical])
        mapping = self._zones[zone]
        for number, (page, lost) in enumerate(zip(pages, damaged, strict=True), offset):
            owner = None if lost else mapping.owner
            self._physical.program(mapping.physical, number, Page(page.tobytes(), owner, updated))

    def read(self, zone: int, offset: int, count: int) -> list[bytes | None]:
        """`count` pages of `zone` from its page `offset` on; None for a page without the zone's owner."""
        mapping = self._zones[zone]
        pages = (self._physical.page(mapping.physical, number) for number in range(offset, offset + count))
        return [None if page is None or page.owner != mapping.owner else page.data for page in pages]

    def restore(self, zone: int, generation: int, physical: int, sequence: int, wear: int) -> None:
        """Map `zone` to zone `physical`."""
        generation %= GENERATION_LIMIT
        owner = Owner(self._nsid, self._first_zone + zone, generation, sequence, wear)
        self._zones[zone] = Mapping(physical, owner)

    def drop(self, zone: int) -> None:
        """Release the physical zone of `zone`, if it has one."""
        mapping = self._zones.pop(zone, None)
        if mapping is not None:
            self._physical.release(mapping.physical)
