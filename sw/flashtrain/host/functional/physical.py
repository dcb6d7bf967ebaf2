"""The controller's tables of physical zones and their blocks. They do not outlast the controller's enable."""

from flashtrain.spec.identity import MOST_WEAR

from .flash import Flash, Page


class PhysicalZones:
    """Which physical zones are free, how often each was erased, and the number of the next allocation.

    After an enable that keeps the content none is free, until it is restored that nobody needs it. A block
    that fails to erase is replaced by a spare; without one its zone is never free again.
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
        """The least worn of the free zones."""
        zone = min(self._free, key=lambda zone: (self.wear[zone], zone))
        self._free.remove(zone)
        self.sequence += 1
        return zone

    def use(self, zone: int, wear: int) -> None:
        """It is restored what is on it."""
        if zone in self._geometry.spares:
            return
        self.wear[zone] = wear
        self._free.discard(zone)

    def use_spare(self, zone: int, column: int, block: int) -> None:
        """A spare lies in a column of the zone."""
        self._replaced[zone, column] = block
        self._in_use.add((block, column))

    def release(self, zone: int) -> None:
        """Nobody needs it any more: erase it."""
        if zone in self._geometry.spares:
            self._erase_spares(zone)
        elif self._erase(zone):
            self.wear[zone] = min(self.wear[zone] + 1, MOST_WEAR)
            self._free.add(zone)

    def page(self, zone: int, offset: int) -> Page | None:
        return self.flash.zones[self.block_of(zone, offset)].page(offset)

    def program(self, zone: int, offset: int, page: Page) -> None:
        self.flash.program(self.block_of(zone, offset), offset, page)

    def block_of(self, zone: int, offset: int) -> int:
        """The block, which is that of a zone or a spare, that a page of a zone lies in."""
        if not self._replaced:
            return zone
        return self._replaced.get((zone, offset % self._geometry.superpage), zone)

    def _erase(self, zone: int) -> bool:
        """Whether all of it could be erased, with the help of spares."""
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
        """Those of this number that are not in use; one that fails never will be."""
        for column in range(self._geometry.superpage):
            if (block, column) in self._in_use:
                continue
            if not self.flash.erase_block(self.block_of(block, column), column):
                self._in_use.add((block, column))
