"""Room in the zones of streams: claims of zones, and appends to them."""

import errno
import time

from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import Status, ZoneState

from .errors import StreamRefused
from .leases import Leases
from .names import Names
from .state import Change, State, ZoneKey, ZoneNote
from .stream import WRITABLE, Stream

_TOO_MANY = (Status.TOO_MANY_ACTIVE_ZONES, Status.TOO_MANY_OPEN_ZONES)


class NoRoom(Exception):
    """No zone can be claimed as things are."""


class Space:
    """Appends data to zones that this client has claimed, so that no other client resets them before the data
    have a name. It keeps its claim to a zone with room for the next object.
    """

    def __init__(self, names: Names, leases: Leases) -> None:
        self._names = names
        self._leases = leases
        self._current: dict[int, ZoneKey] = {}
        self._rooms: dict[ZoneKey, int] = {}
        self._claimed: set[ZoneKey] = set()
        self._beat, self._shown = 0.0, -1  # the last sign of life: its time and its controller

    def append(
        self, stream: Stream, data: memoryview, reserve: bool = False, without: ZoneKey | None = None
    ) -> tuple[list[Extent], int]:
        """Append the first of these blocks; their places, and how many bytes they are.

        :class:`NoRoom` if there is no zone for any.

        reserve: the last empty zone may be taken, as for moves of data. without: a zone that is not.
        """
        self.settle(self._names.state)
        self._show_life()
        while True:
            key = self._zone(stream, reserve, without)
            part = data[: self._rooms[key] * stream.block_bytes]
            try:
                placed = stream.append(key.zone, part)
            except StreamRefused as refused:
                self._current.pop(stream.nsid)  # full, out of service, or taken by another client
                if refused.status in _TOO_MANY:
                    self._give_back(key)
                    if not self.await_missed(stream):
                        raise
                continue
            self._rooms[key] -= len(part) // stream.block_bytes
            if not self._rooms[key]:
                self._current.pop(stream.nsid)
            return placed, len(part)

    def may_claim(self, state: State, key: ZoneKey) -> bool:
        """Whether nobody uses a zone; a claim of this client may be from an operation that was cut short."""
        forgotten = state.note(key).owner == self._leases.owner and key not in self._claimed
        return forgotten or self._leases.free(state, key)

    def done(self, state: State, all_of_them: bool = False) -> dict[ZoneKey, ZoneNote]:
        """The notes of zones without this client's claims; all but for those of zones with room."""
        kept = set() if all_of_them else set(self._current.values())
        return state.released(self._claimed - kept, self._leases.owner)

    def settle(self, state: State) -> None:
        """Take in that claims have ended."""
        self._claimed = {key for key in self._claimed if state.note(key).owner == self._leases.owner}
        self._current = {nsid: key for nsid, key in self._current.items() if key in self._claimed}
        self._rooms = {key: room for key, room in self._rooms.items() if key in self._claimed}

    def owns(self, state: State, stream: Stream, extents: list[Extent]) -> bool:
        """Whether the zones of all these extents are still claimed by this client."""
        keys = {ZoneKey(stream.nsid, stream.zone_of(extent)) for extent in extents}
        return all(state.note(key).owner == self._leases.owner for key in keys)

    def _give_back(self, key: ZoneKey) -> None:
        """End the claim to a zone that has no data of this client."""
        self._claimed.discard(key)
        self._names.commit(lambda state: Change(zones=state.released([key], self._leases.owner)))

    def await_missed(self, stream: Stream) -> bool:
        """Wait for the end of claims whose owners are gone; False if there are none."""
        if not self._leases.missed(self._names.sync(), stream.nsid):
            return False
        while self._leases.missed(self._names.sync(), stream.nsid):
            time.sleep(self._leases.grace / 8)
        return True

    def _show_life(self) -> None:
        """Renew the claims in time, and when there is another connection."""
        silent = time.monotonic() - self._beat
        if self._claimed and (silent > self._leases.seconds / 3 or self._shown != self._leases.controller):
            self._names.commit(
                lambda state: Change(
                    zones={
                        key: self._leases.claimed(state.note(key))
                        for key in self._claimed
                        if state.note(key).owner == self._leases.owner
                    }
                )
            )
            self._note_beat()

    def _note_beat(self) -> None:
        self._beat, self._shown = time.monotonic(), self._leases.controller

    def _zone(self, stream: Stream, reserve: bool, without: ZoneKey | None) -> ZoneKey:
        """The zone to append to."""
        key = self._current.get(stream.nsid)
        if key is None:
            key = self._current[stream.nsid] = self._claim(stream, reserve, without)
        return key

    def _claim(self, stream: Stream, reserve: bool, without: ZoneKey | None) -> ZoneKey:
        chosen: list[tuple[ZoneKey, int]] = []

        def build(state: State) -> Change:
            key, room = self._choose(stream, state, stream.report(), reserve, without)
            chosen[:] = [(key, room)]
            return Change(zones={key: self._leases.claimed(state.note(key))})

        self._names.commit(build)
        key, room = chosen[0]
        self._rooms[key] = room
        self._claimed.add(key)
        self._note_beat()
        return key

    def _choose(
        self, stream: Stream, state: State, report: list[ZoneInfo], reserve: bool, without: ZoneKey | None
    ) -> tuple[ZoneKey, int]:
        """A zone that has been begun, or the empty one that was reset the longest time ago."""
        begun, empty = [], []
        for zone, info in enumerate(report):
            key = ZoneKey(stream.nsid, zone)
            if key == without or info.state not in WRITABLE or not self.may_claim(state, key):
                continue
            if info.state is ZoneState.EMPTY:
                empty.append((state.note(key).freed, zone))
            elif info.room and key in state.zones:  # else its data are not of this client's kind
                begun.append((info.room, zone))
        if begun:
            room, zone = max(begun)
            return ZoneKey(stream.nsid, zone), room
        if len(empty) > (0 if reserve else 1):
            _, zone = min(empty)
            return ZoneKey(stream.nsid, zone), report[zone].capacity
        raise NoRoom


def full(stream: Stream, blocks: int, claimed: int, lease: float) -> OSError:
    """The error of a stream that is full. `claimed` zones are those of other clients."""
    text = f"stream {stream.name!r} is full: no room for {blocks * stream.block_bytes} more bytes"
    if claimed:
        text += f"; other clients have {claimed} zones, until {lease:g} s after their last sign of life"
    return OSError(errno.ENOSPC, text)
