"""The zones of one stream: states, write pointers and resources. Check 9 of `flashtrain.spec.nvme`."""

from collections.abc import Callable
from dataclasses import dataclass

from flashtrain.spec import FmsConfig, Status, ZoneAction, ZoneState
from flashtrain.spec.nvme import RETIRED, ZoneDescriptor

from .streams import StreamSettings

OPEN = frozenset({ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN})
ACTIVE = OPEN | {ZoneState.CLOSED}

_REFUSES_DATA = {
    ZoneState.READ_ONLY: Status.ZONE_IS_READ_ONLY,
    ZoneState.OFFLINE: Status.ZONE_IS_OFFLINE,
    ZoneState.FULL: Status.ZONE_IS_FULL,
}


_TIMES = 1 << ZoneDescriptor.time.width


@dataclass
class Zone:
    """One zone.

    - written: blocks from its start to its write pointer.
    - time, sequence: of the first append, and of its allocation.
    - unsure: blocks behind the write pointer may have been written and lost.
    """

    state: ZoneState = ZoneState.EMPTY
    written: int = 0
    time: int = 0
    sequence: int = 0
    unsure: bool = False

    def is_old(self, now: int, age: int | None) -> bool:
        """Whether the zone has data of at least this age (None: never); data from the future are fresh."""
        return age is not None and self.written > 0 and (now - self.time - age) % _TIMES < _TIMES // 2


class StreamZones:
    """All zones of a stream. Methods return the status; a call that is refused changes nothing.

    - now: the time in seconds, by register TIME.
    - sequence: the number of the next allocation.
    - exhausted: whether no physical zone is free for another logical one.
    """

    def __init__(
        self,
        config: FmsConfig,
        settings: StreamSettings,
        now: Callable[[], int],
        sequence: Callable[[], int],
        exhausted: Callable[[], bool],
    ) -> None:
        self._exhausted = exhausted
        self._config = config
        self._settings = settings
        self._now = now
        self._sequence = sequence
        self._zone_size = config.geometry.zone_size
        self.zones = [Zone() for _ in range(settings.zones)]

    def append(self, index: int, offset: int | None, blocks: int) -> Status:
        """Add `blocks` to a zone, at `offset` from its start (write) or at its pointer (None: append)."""
        zone = self.zones[index]
        if status := self._refuses(zone, offset is None or offset == zone.written, blocks):
            return status
        return self._take(zone, blocks)

    def append_encoded(self, index: int, blocks: int, bound: int) -> Status:
        """Add to a zone `blocks`, for which the device has reserved `bound`."""
        zone = self.zones[index]
        if status := self._refuses(zone, True, bound):
            return status
        return self._take(zone, blocks, fills=False)

    def update(self, index: int, rows: int, source: Zone, source_offset: int, source_expired: bool) -> Status:
        """Add `rows` of tiles on all channels, updated from the tiles of `source` from this offset on."""
        zone, row = self.zones[index], self._config.geometry.channels * self._config.geometry.planes
        blocks = rows * row
        if status := self._no_place(zone, zone.written % row == 0, blocks):
            return status
        if source.state is ZoneState.OFFLINE:
            return Status.ZONE_IS_OFFLINE
        if source.written < source_offset + blocks:
            return Status.UNWRITTEN_BLOCK
        if source_expired:
            return Status.DATA_EXPIRED
        if status := self._resources_to_open(zone):
            return status
        return self._take(zone, blocks)

    def _refuses(self, zone: Zone, well_placed: bool, blocks: int) -> Status:
        """The reason why `zone` refuses `blocks` more, or success."""
        return self._no_place(zone, well_placed, blocks) or self._resources_to_open(zone)

    def _no_place(self, zone: Zone, well_placed: bool, blocks: int) -> Status:
        """The reason why `zone` has no place for `blocks` more, resources apart, or success."""
        if zone.state in _REFUSES_DATA:
            return _REFUSES_DATA[zone.state]
        if not well_placed:
            return Status.ZONE_INVALID_WRITE
        if zone.written + blocks > self._config.geometry.zone_capacity:
            return Status.ZONE_BOUNDARY_ERROR
        return Status.SUCCESS

    def _take(self, zone: Zone, blocks: int, fills: bool = True) -> Status:
        if not zone.written:
            if self._exhausted():
                return Status.INTERNAL_ERROR
            zone.time, zone.sequence = self._now(), self._sequence()
        zone.written += blocks
        if fills and zone.written == self._config.geometry.zone_capacity:
            zone.state = ZoneState.FULL
        elif zone.state is not ZoneState.EXPLICITLY_OPEN:
            zone.state = ZoneState.IMPLICITLY_OPEN
        return Status.SUCCESS

    def read(self, index: int, offset: int, blocks: int) -> Status:
        zone = self.zones[index]
        if zone.state is ZoneState.OFFLINE:
            return Status.ZONE_IS_OFFLINE
        if offset + blocks > self._zone_size:
            return Status.ZONE_BOUNDARY_ERROR
        if offset + blocks > zone.written:
            return Status.UNRECOVERED_READ_ERROR if zone.unsure else Status.UNWRITTEN_BLOCK
        return Status.DATA_EXPIRED if self.expired(index) else Status.SUCCESS

    def expired(self, index: int) -> bool:
        """Whether the zone's data are past the stream's retention class, so that reads are refused."""
        limit = self._settings.limit
        return limit is not None and self.zones[index].is_old(self._now(), limit)

    def due(self, index: int) -> bool:
        """Whether a report recommends a reset or the finish of the zone."""
        zone = self.zones[index]
        return zone.state not in RETIRED and zone.is_old(self._now(), self._settings.due)

    def manage(self, index: int, action: ZoneAction, unsure: bool = False) -> Status:
        """Zone management send of one zone; unsure: of a finish, blocks behind the pointer may be lost."""
        zone = self.zones[index]
        if action is ZoneAction.OPEN and zone.state in ACTIVE | {ZoneState.EMPTY}:
            if status := self._resources_to_open(zone):
                return status
        elif (action is ZoneAction.OFFLINE) != (zone.state in RETIRED) or action is ZoneAction.OPEN:
            return Status.INVALID_ZONE_TRANSITION
        elif action is ZoneAction.CLOSE and zone.state not in ACTIVE:
            return Status.INVALID_ZONE_TRANSITION
        _do(zone, action, unsure)
        return Status.SUCCESS

    def manage_all(self, action: ZoneAction, unsure: bool = False) -> Status:
        """Zone management send with all zones selected."""
        if action is ZoneAction.OPEN and self._count(ACTIVE) > self._config.max_open:
            return Status.TOO_MANY_OPEN_ZONES
        selected = {
            ZoneAction.CLOSE: OPEN,
            ZoneAction.FINISH: ACTIVE,
            ZoneAction.OPEN: {ZoneState.CLOSED},
            ZoneAction.RESET: ACTIVE | {ZoneState.FULL},
            ZoneAction.OFFLINE: {ZoneState.READ_ONLY},
        }[action]
        for zone in self.zones:
            if zone.state in selected:
                _do(zone, action, unsure)
        return Status.SUCCESS

    def restore(self, index: int, restored: Zone) -> Status:
        """Restore a zone as it was before the power failed."""
        if self.zones[index].state is not ZoneState.EMPTY:
            return Status.INVALID_ZONE_TRANSITION
        if restored.written > self._config.geometry.zone_capacity:
            return Status.ZONE_BOUNDARY_ERROR
        if restored.state is ZoneState.CLOSED and self._count(ACTIVE) >= self._config.max_active:
            return Status.TOO_MANY_ACTIVE_ZONES
        self.zones[index] = restored
        return Status.SUCCESS

    def retire(self, index: int, state: ZoneState) -> Status:
        zone = self.zones[index]
        if zone.state in (ZoneState.OFFLINE, state):
            return Status.INVALID_ZONE_TRANSITION
        zone.state = state
        return Status.SUCCESS

    def _count(self, states: frozenset[ZoneState]) -> int:
        return sum(zone.state in states for zone in self.zones)

    def _resources_to_open(self, zone: Zone) -> Status:
        """Whether the stream has the resources that `zone` needs to be open; closes another zone for it."""
        if zone.state is ZoneState.EMPTY and self._count(ACTIVE) >= self._config.max_active:
            return Status.TOO_MANY_ACTIVE_ZONES
        if zone.state in OPEN or self._count(OPEN) < self._config.max_open:
            return Status.SUCCESS
        for other in self.zones:
            if other.state is ZoneState.IMPLICITLY_OPEN:
                other.state = ZoneState.CLOSED
                return Status.SUCCESS
        return Status.TOO_MANY_OPEN_ZONES


def _do(zone: Zone, action: ZoneAction, unsure: bool) -> None:
    zone.state = {
        ZoneAction.CLOSE: ZoneState.CLOSED,
        ZoneAction.FINISH: ZoneState.FULL,
        ZoneAction.OPEN: ZoneState.EXPLICITLY_OPEN,
        ZoneAction.RESET: ZoneState.EMPTY,
        ZoneAction.OFFLINE: ZoneState.OFFLINE,
    }[action]
    if action is ZoneAction.FINISH and unsure:
        zone.unsure = zone.written > 0
    if action is ZoneAction.RESET:
        zone.written, zone.unsure = 0, False
