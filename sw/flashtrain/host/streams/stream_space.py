"""The room in a stream's zones, as the driver counts it, and the place of the next append."""

from enum import IntEnum

from flashtrain.host.errors import StreamFull
from flashtrain.spec import ZoneState
from flashtrain.spec.nvme import RETIRED

from .stored import Extent
from .zone_info import ZoneInfo


class _Rank(IntEnum):
    """The order in which zones are filled: zones with an open or active resource come first."""

    OPEN = 0
    CLOSED = 1
    EMPTY = 2
    UNUSABLE = 3  # full, or retired


_RANKS = {
    ZoneState.IMPLICITLY_OPEN: _Rank.OPEN,
    ZoneState.EXPLICITLY_OPEN: _Rank.OPEN,
    ZoneState.CLOSED: _Rank.CLOSED,
    ZoneState.EMPTY: _Rank.EMPTY,
}


class StreamSpace:
    """The room in the zones of one stream, counted so that an append needs no report.

    After a command whose effect is not tracked here, the room is *unknown* until :meth:`learn` gets a report.
    """

    def __init__(self, name: str, zones: int, zone_size: int, zone_capacity: int) -> None:
        self._name = name
        self._zone_size = zone_size
        self._zone_capacity = zone_capacity
        self._zones = zones
        self.reserved = 0
        """Blocks that were reserved so far."""
        self.clear()

    @property
    def room(self) -> int:
        """Blocks that can be appended to the whole stream."""
        return sum(self._rooms)

    @property
    def zones(self) -> int:
        return self._zones

    @property
    def zone_size(self) -> int:
        """Block addresses from the start of one zone to the next."""
        return self._zone_size

    @property
    def zone_capacity(self) -> int:
        """Blocks that can be appended to one zone."""
        return self._zone_capacity

    def room_in(self, zone: int) -> int:
        """Blocks that can be appended to a zone."""
        return self._rooms[zone]

    def written(self, zone: int) -> int:
        """Blocks of a zone that take no more data: all of a full or retired one."""
        return self._zone_capacity - self._rooms[zone]

    @property
    def partly_written(self) -> list[int]:
        """The zones with data and with room."""
        return [zone for zone, room in enumerate(self._rooms) if 0 < room < self._zone_capacity]

    def opened(self, zone: int) -> int | None:
        """The time of the first append to a zone that accepts more; None if that is not known."""
        return self._opened[zone]

    def in_service(self, zone: int) -> bool:
        return not self._retired[zone]

    def forget(self) -> None:
        """Mark the room as unknown."""
        self.known = False

    def clear(self) -> None:
        """Note that the device was formatted: every zone is empty and in service."""
        self._ranks = [_Rank.EMPTY] * self._zones
        self._rooms = [self._zone_capacity] * self._zones
        self._retired = [False] * self._zones
        self._opened: list[int | None] = [None] * self._zones
        self.known = True

    def reset(self) -> None:
        """Note a reset of the stream: every zone in service is empty."""
        if self.known:
            self._ranks = [_Rank.EMPTY] * self._zones
            self._rooms = [0 if retired else self._zone_capacity for retired in self._retired]
            self._opened = [None] * self._zones

    def empty(self, zone: int) -> None:
        """Note the reset of a zone in service."""
        self._ranks[zone], self._rooms[zone] = _Rank.EMPTY, self._zone_capacity
        self._opened[zone] = None

    def finish(self, zone: int) -> None:
        """Note that a zone was made full."""
        self._ranks[zone], self._rooms[zone] = _Rank.UNUSABLE, 0

    def learn(self, report: list[ZoneInfo]) -> None:
        """Take the state of all zones from a report."""
        self._rooms = [zone.room for zone in report]
        self._ranks = [_RANKS.get(zone.state, _Rank.UNUSABLE) for zone in report]
        self._retired = [zone.state in RETIRED for zone in report]
        self._opened = [zone.time for zone in report]
        self.known = True

    def is_open(self, zone: int) -> bool:
        """Whether blocks were appended to the zone, and more may follow."""
        return self._ranks[zone] is _Rank.OPEN

    def retire(self, zone: int) -> None:
        """Note that a zone is out of service."""
        self._ranks[zone], self._rooms[zone], self._retired[zone] = _Rank.UNUSABLE, 0, True

    def reserve_in_one(self, blocks: int) -> Extent | None:
        """As :meth:`reserve`, in one extent, by the last known room; None when no zone has enough."""
        for zone in self._in_order():
            if blocks <= self._rooms[zone]:
                return self._take(zone, blocks)
        return None

    def reserve(self, blocks: int, now: int | None = None) -> list[Extent]:
        """Extents that the next `blocks` blocks will lie in; :class:`StreamFull` when there is no room.

        now: the time, which zones are opened at.
        """
        if blocks > self.room:
            raise StreamFull(f"stream {self._name!r} has room for {self.room} blocks; {blocks} are needed")
        self.reserved += blocks
        extents = []
        for zone in self._in_order():
            part = min(blocks, self._rooms[zone])
            if part:
                if not self.written(zone):
                    self._opened[zone] = now
                extents.append(self._take(zone, part))
                blocks -= part
            if not blocks:
                break
        return extents

    def _in_order(self) -> list[int]:
        """The zones in the order of filling."""
        return sorted(range(len(self._rooms)), key=lambda zone: self._ranks[zone])

    def _take(self, zone: int, blocks: int) -> Extent:
        written = self._zone_capacity - self._rooms[zone]
        self._rooms[zone] -= blocks
        self._ranks[zone] = _Rank.OPEN
        return Extent(zone * self._zone_size + written, blocks)
