"""Use of a stream's zones by versions of tensors: which zones can be reset."""

from collections import Counter
from collections.abc import Collection, Iterable

from flashtrain.host import Extent


class ZoneUse:
    """Written blocks of each zone of a stream, and those of them that belong to current versions."""

    def __init__(self, zone_size: int, zone_capacity: int) -> None:
        self._zone_size = zone_size
        self._zone_capacity = zone_capacity
        self._written: Counter[int] = Counter()
        self._alive: Counter[int] = Counter()

    def fill(self, extents: Iterable[Extent]) -> None:
        """A version was appended to these blocks."""
        for extent in extents:
            self._written[self._zone(extent)] += extent.blocks
            self._alive[self._zone(extent)] += extent.blocks

    def kill(self, extents: Collection[Extent]) -> list[int]:
        """The version in these blocks was superseded; the full zones without a current version."""
        for extent in extents:
            self._alive[self._zone(extent)] -= extent.blocks
        zones = {self._zone(extent) for extent in extents}
        spent = [z for z in sorted(zones) if not self._alive[z] and self._written[z] == self._zone_capacity]
        for zone in spent:
            del self._written[zone]
        return spent

    def clear(self) -> None:
        """The stream was reset."""
        self._written.clear()
        self._alive.clear()

    def _zone(self, extent: Extent) -> int:
        return extent.lba // self._zone_size
