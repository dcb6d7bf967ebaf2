"""The controller's table of physical zones. It does not outlast the controller's enable."""

from .flash import Flash


class PhysicalZones:
    """Which physical zones are free, how often each was erased, and the number of the next allocation.

    After an enable that keeps the content none is free, until it is restored that nobody needs it.
    """

    def __init__(self, flash: Flash, keep: bool) -> None:
        self.flash = flash
        self.wear = [0] * len(flash.zones)
        self.sequence = 0
        self._free = set() if keep else set(range(len(flash.zones)))
        for zone in self._free:
            flash.erase(zone)

    def take(self) -> int:
        """The least worn of the free zones. There are as many physical zones as logical ones."""
        zone = min(self._free, key=lambda zone: (self.wear[zone], zone))
        self._free.remove(zone)
        self.sequence += 1
        return zone

    def use(self, zone: int, wear: int) -> None:
        """It is restored what is on it."""
        self.wear[zone] = wear
        self._free.discard(zone)

    def release(self, zone: int) -> None:
        """Nobody needs it any more: erase it."""
        self.flash.erase(zone)
        self.wear[zone] += 1
        self._free.add(zone)
