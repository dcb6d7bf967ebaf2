"""The controller's tables of physical zones and their blocks, which each enable of the controller clears."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.identity import MOST_WEAR

from .flash import Flash
from .pages import Bytes, Owner, Stamp


class PhysicalZones:
    """The free physical zones, the erase count of each, and the sequence number of the next allocation.

    After an enable that keeps the content no zone is free until a restore releases it. A spare replaces a
    block whose erase fails; without a spare its zone is never free again.
    """

    def __init__(self, flash: Flash, keep: bool) -> None:
        g = flash.geometry
        self.flash = flash
        self.wear = [0] * g.zones
        self.sequence = 0
        self._geometry = g
        self._replaced: dict[tuple[int, int], int] = {}  # spare block by zone and column
        self.replaced_in = [0] * g.channels  # blocks, since the controller was enabled
        self._in_use: set[tuple[int, int]] = set()  # spare blocks and their columns
        self._free = set() if keep else {zone for zone in range(g.zones) if self._erase(zone)}
        for block in () if keep else g.spares:
            self._erase_spares(block)

    @property
    def exhausted(self) -> bool:
        return not self._free

    def take(self) -> int:
        """Allocate the free zone with the fewest erases."""
        zone = min(self._free, key=lambda zone: (self.wear[zone], zone))
        self._free.remove(zone)
        self.sequence += 1
        return zone

    def use(self, zone: int, wear: int) -> None:
        """Restore a zone as used, with its erase count."""
        if zone in self._geometry.spares:
            return
        self.wear[zone] = wear
        self._free.discard(zone)

    def use_spare(self, zone: int, column: int, block: int) -> None:
        """Put spare `block` in the place of a column of the zone."""
        self._replaced[zone, column] = block
        self._in_use.add((block, column))

    def release(self, zone: int) -> None:
        """Erase a zone or a spare that is no longer in use, and free it."""
        if zone in self._geometry.spares:
            self._erase_spares(zone)
        elif self._erase(zone):
            self.wear[zone] = min(self.wear[zone] + 1, MOST_WEAR)
            self._free.add(zone)

    def read(self, zone: int, offset: int, out: Bytes, owner: Owner) -> NDArray[np.bool_]:
        """Copy pages of a zone to `out`; returns which are lost. See `ZonePages.read`."""
        if not self._replaced:
            return self.flash.pages(zone, offset, len(out)).read(offset, out, owner)
        lost = []
        for block, part in self._parts(zone, offset, len(out)):
            pages = self.flash.pages(block, offset + part.start, part.stop - part.start)
            lost.append(pages.read(offset + part.start, out[part], owner))
        return np.concatenate(lost)

    def program(self, zone: int, offset: int, data: Bytes, stamp: Stamp) -> None:
        """Program pages of a zone from `offset` on, uint8[pages, page_bytes]."""
        for block, part in self._parts(zone, offset, len(data)):
            self.flash.program(block, offset + part.start, data[part], stamp)

    def _parts(self, zone: int, offset: int, count: int) -> Iterator[tuple[int, slice]]:
        """Consecutive pages in blocks of one number, of `count` pages from `offset` on."""
        if not any(of == zone for of, _ in self._replaced):
            yield zone, slice(0, count)
            return
        for number in range(count):
            yield self.block_of(zone, offset + number), slice(number, number + 1)

    def block_of(self, zone: int, offset: int) -> int:
        """The block that holds a page of a zone: the zone's own or a spare."""
        if not self._replaced:
            return zone
        return self._replaced.get((zone, offset % self._geometry.superpage), zone)

    def _erase(self, zone: int) -> bool:
        """Erase a zone, with spares for blocks that fail; returns whether every column is erased."""
        spares = {column: block for (of, column), block in self._replaced.items() if of == zone}
        failed = self.flash.erase(zone, but=set(spares))
        failed |= {column for column, block in spares.items() if not self.flash.erase_block(block, column)}
        return all(self._replace(zone, column) for column in sorted(failed))

    def _replace(self, zone: int, column: int) -> bool:
        for block in self._geometry.spares:
            if (block, column) not in self._in_use:
                self.use_spare(zone, column, block)
                if self.flash.erase_block(block, column):
                    self.replaced_in[column % self._geometry.channels] += 1
                    return True
        return False

    def _erase_spares(self, block: int) -> None:
        """Erase the spares of this number that are not in use; one that fails is never used."""
        for column in range(self._geometry.superpage):
            if (block, column) in self._in_use:
                continue
            if not self.flash.erase_block(self.block_of(block, column), column):
                self._in_use.add((block, column))
