"""The place of each tensor in the zones of a device, in rows: a page on every channel."""

from collections import deque
from typing import NamedTuple

from flashtrain.platform.errors import PlatformError


class Extent(NamedTuple):
    """Rows of a zone, from `first` on."""

    zone: int
    first: int
    rows: int


class ZoneRing:
    """Zones that streams fill one after the other, and that are reset when all their data are dead.

    - zones, rows: of the device, and of a zone.

    A stream has one zone open at a time. Data are dead when their tensor has been placed again.
    """

    def __init__(self, zones: int, rows: int) -> None:
        self._rows = rows
        self._free = deque(range(zones))
        self._open: dict[str, tuple[int, int]] = {}
        self._live = [0] * zones
        self._places: dict[str, list[Extent]] = {}

    def find(self, tensor: str, rows: int) -> list[Extent]:
        """The first rows of a tensor; all that there are if it has fewer.

        Raises `PlatformError` if it was never placed.
        """
        if tensor not in self._places:
            raise PlatformError(f"a read of {tensor!r}; expected a tensor that was appended")
        found: list[Extent] = []
        for extent in self._places[tensor]:
            found.append(extent._replace(rows=min(extent.rows, rows)))
            rows -= found[-1].rows
            if not rows:
                break
        return found

    def place(self, stream: str, tensor: str, rows: int, whole: int = 1) -> tuple[list[Extent], list[int]]:
        """The place of new data of a stream, and the zones that must be reset ahead of it.

        `rows` and the rows of a zone are multiples of `whole`, and so is each first row. Raises
        `PlatformError` if all zones have live data.
        """
        extents: list[Extent] = []
        resets: list[int] = []
        while rows:
            zone, used = self._open.get(stream, (-1, self._rows))
            used = -(-used // whole) * whole
            if used == self._rows:
                zone, used = self._next_zone(stream, resets), 0
            part = min(rows, self._rows - used)
            extents.append(Extent(zone, used, part))
            self._open[stream] = zone, used + part
            self._live[zone] += part
            rows -= part
        for dead in self._places.get(tensor, ()):
            self._live[dead.zone] -= dead.rows
        self._places[tensor] = extents
        return extents, resets

    def _next_zone(self, stream: str, resets: list[int]) -> int:
        if not self._free:
            writing = {zone for zone, _ in self._open.values()}
            dead = [zone for zone, live in enumerate(self._live) if not live and zone not in writing]
            if not dead:
                raise PlatformError(
                    f"no zone is left for stream {stream!r}; expected a capacity for the old data and the new"
                )
            resets += dead
            self._free.extend(dead)
        return self._free.popleft()
