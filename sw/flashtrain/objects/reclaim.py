"""Room from what is gone: zones without live data are reset, and sparse ones are emptied before."""

from collections.abc import Iterable

from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import ZoneState

from .leases import Leases
from .names import Names
from .session import Session
from .space import NoRoom, Space, full
from .state import Change, State, ZoneKey
from .stream import WRITABLE, Stream, joined
from .url import stream_of

_LEAST_GAIN = 64
"""A zone is worth emptying if the gain is one block in so many."""

_PIECE_BYTES = 8 << 20


class Reclaim:
    """Appends data, and makes room when there is none."""

    def __init__(self, session: Session, names: Names, leases: Leases, space: Space) -> None:
        self._session = session
        self._names = names
        self._leases = leases
        self._space = space

    def append(self, stream: Stream, data: memoryview) -> list[Extent]:
        """Append whole blocks; ENOSPC if no room can be made."""
        placed: list[Extent] = []
        while data:
            try:
                found, length = self._space.append(stream, data)
            except NoRoom:
                if not (self._make(stream) or self._space.await_missed(stream)):
                    raise self._full(stream, len(data) // stream.block_bytes) from None
            else:
                placed, data = placed + found, data[length:]
        return placed

    def _full(self, stream: Stream, blocks: int) -> OSError:
        state = self._names.state
        claimed = sum(
            bool(note.owner) and note.owner != self._leases.owner and not self._space.may_claim(state, key)
            for key, note in state.zones.items()
            if key.nsid == stream.nsid
        )
        return full(stream, blocks, claimed, self._leases.seconds)

    def _make(self, stream: Stream) -> bool:
        """Gain room; False if there is none to gain."""
        connection = self._session.number
        dead: list[ZoneKey] = []

        def free_dead(state: State) -> Change:
            live, report = live_blocks(stream, state), stream.report()
            dead[:] = [key for key in self._free(stream, state, report) if not live.get(key.zone)]
            return self._freeing(state, dead)

        self._names.commit(free_dead)
        if dead:
            self._reset(stream, dead, connection)
            return True
        return self._empty_one(stream)

    def _free(self, stream: Stream, state: State, report: list[ZoneInfo]) -> list[ZoneKey]:
        """The zones with data of objects which no client has claimed and which a reset would empty."""
        return [
            key
            for zone, info in enumerate(report)
            if (key := ZoneKey(stream.nsid, zone)) in state.zones
            and (info.state is ZoneState.FULL or info.state in WRITABLE)
            and info.state is not ZoneState.EMPTY
            and self._space.may_claim(state, key)
        ]

    def _freeing(self, state: State, keys: Iterable[ZoneKey]) -> Change:
        """Claims of zones, whose data no longer count."""
        following = state.sequence + 1
        return Change(
            zones={key: self._leases.claimed(state.note(key))._replace(freed=following) for key in keys}
        )

    def _reset(self, stream: Stream, keys: list[ZoneKey], connection: int) -> None:
        for key in keys:
            stream.reset(key.zone, connection)
        self._names.commit(lambda state: Change(zones=state.released(keys, self._leases.owner)))

    # Moves.

    def _empty_one(self, stream: Stream) -> bool:
        """Move the data of the sparsest zone to others; False if no zone is worth it."""
        state = self._names.sync()
        report, live = stream.report(), live_blocks(stream, state)
        free = self._free(stream, state, report)
        gains = {key: _used(report[key.zone]) - live[key.zone] for key in free}
        for key in sorted(free, key=lambda key: -gains[key]):
            if gains[key] < max(1, report[key.zone].capacity // _LEAST_GAIN):
                break
            room = sum(
                info.room
                for zone, info in enumerate(report)
                if zone != key.zone and info.state in WRITABLE
                and (info.state is ZoneState.EMPTY or ZoneKey(stream.nsid, zone) in state.zones)
                and self._space.may_claim(state, ZoneKey(stream.nsid, zone))
            )  # fmt: skip
            if room >= live[key.zone] and self._move(stream, state, key):
                return True
        return False

    def _move(self, stream: Stream, state: State, key: ZoneKey) -> bool:
        connection = self._session.number
        moved: dict[Extent, tuple[Extent, ...]] = {}
        try:
            for extent in _extents(stream, state, key.zone):
                moved[extent] = tuple(self._copy(stream, extent, key))
        except NoRoom:
            return False
        stream.flush()

        def build(state: State) -> Change:
            if not self._space.may_claim(state, key) or not self._space.owns(
                state, stream, [extent for extents in moved.values() for extent in extents]
            ):
                raise NoRoom
            if any(extent not in moved for extent in _extents(stream, state, key.zone)):
                raise NoRoom
            entries = {
                path: entry._replace(extents=_mapped(entry.extents, moved))
                for path, entry in state.entries.items()
                if stream_of(path) == stream.name and any(extent in moved for extent in entry.extents)
            }
            return Change(dict(entries), self._freeing(state, [key]).zones)

        try:
            self._names.commit(build)
        except NoRoom:
            return False
        self._reset(stream, [key], connection)
        return True

    def _copy(self, stream: Stream, extent: Extent, key: ZoneKey) -> list[Extent]:
        placed: list[Extent] = []
        step = max(1, _PIECE_BYTES // stream.block_bytes)
        for first in range(0, extent.blocks, step):
            data = memoryview(stream.read([Extent(extent.lba + first, min(step, extent.blocks - first))]))
            while data:
                found, length = self._space.append(stream, data, reserve=True, without=key)
                placed, data = placed + found, data[length:]
        return joined(placed, stream.zone_size)


def _used(info: ZoneInfo) -> int:
    return info.capacity - info.room


def _stream_extents(stream: Stream, state: State) -> set[Extent]:
    """All extents of the objects of a stream; those of copies are the same."""
    return {
        extent
        for path, entry in state.entries.items()
        if entry.extents and stream_of(path) == stream.name
        for extent in entry.extents
    }


def _extents(stream: Stream, state: State, zone: int) -> list[Extent]:
    return sorted(extent for extent in _stream_extents(stream, state) if stream.zone_of(extent) == zone)


def live_blocks(stream: Stream, state: State) -> dict[int, int]:
    """The number of blocks that objects need, by zone."""
    live: dict[int, int] = {}
    for extent in _stream_extents(stream, state):
        zone = stream.zone_of(extent)
        live[zone] = live.get(zone, 0) + extent.blocks
    return live


def _mapped(extents: Iterable[Extent], moved: dict[Extent, tuple[Extent, ...]]) -> tuple[Extent, ...]:
    return tuple(new for extent in extents for new in moved.get(extent, (extent,)))
