"""The names of objects: a log in a stream of its own, in which each change is one record.

A zone of the stream has the whole log: a snapshot, and the changes after it. When it is full, a writer
finishes it, appends a snapshot with the next epoch to the next clean zone, and resets the others.
"""

import errno
import secrets
import time
from collections.abc import Callable
from contextlib import suppress

from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import ZoneState

from .errors import NamesDamaged, StreamRefused
from .leases import Leases
from .names_zone import NamesZone
from .record import Kind, Record, packed
from .session import Session
from .state import Change, State, ZoneKey
from .stream import WRITABLE, Stream

MOST_LOG_BYTES = 16 << 20
"""A longer log is compacted although its zone has room, as each client reads all of it at its start."""

_MOST_GROWTH = 4
"""But one of many names may be so many times as long as its snapshot."""

_MOST_ATTEMPTS = 200
_IN_FLIGHT_SECONDS = 2.0
_FRESH_SECONDS = 1.0


class Names:
    """The names as this client has read them, and its changes to them.

    - leases: the claims to zones.
    """

    def __init__(self, session: Session, find: Callable[[], Stream], leases: Leases) -> None:
        self._session = session
        self._find = find
        self._leases = leases
        self._synced = 0.0
        self._number = 0  # of the connection by which the log was read
        self._stream: Stream
        self._log: NamesZone | None = None
        self._report: list[ZoneInfo] = []
        self._empty = State()

    @property
    def state(self) -> State:
        """The names as of the last :meth:`sync`."""
        found = None if self._log is None else self._log.state
        return self._empty if found is None else found

    @property
    def epoch(self) -> int:
        """The number of snapshots that the stream has had."""
        return 0 if self._log is None else self._log.epoch

    # Reads.

    def sync(self) -> State:
        """Take in what other clients have done until now."""
        with self._session.lock:
            was_open = self._session.is_open
            try:
                self._take_in()
            except ConnectionError:
                if not was_open:
                    raise
                self._take_in()  # the connection had ended while it was idle
            self._synced = time.monotonic()
            return self.state

    @property
    def _fresh(self) -> bool:
        """Whether the connection answered a moment ago; whether the names are old shows in the log."""
        known = self._log is not None and self._number == self._session.number
        return known and time.monotonic() - self._synced < _FRESH_SECONDS

    def _take_in(self) -> None:
        """Read what is new, and look which clients live."""
        self._sync()
        self._leases.observe(self.state)

    def _sync(self) -> None:
        stream = self._find()
        if self._number != self._session.number:
            self._stream, self._log, self._report = stream, None, []
            self._number = self._session.number
        deadline = time.monotonic() + _IN_FLIGHT_SECONDS
        while True:
            report = self._stream.report()
            if report == self._report:
                return
            late = time.monotonic() > deadline
            if self._read(report, late):
                self._report = report
                return
            time.sleep(0.001)

    def _read(self, report: list[ZoneInfo], late: bool) -> bool:
        """Read what is new; False if a record is in flight or the zones have changed meanwhile."""
        log = self._log
        if log is not None and not log.sealed:
            info = report[log.zone]
            pointer = info.write_pointer
            if (pointer is None or pointer >= log.pointer) and info.state is not ZoneState.EMPTY:
                log.read(info, late)
                if log.hole:
                    return False
                if log.same and not log.sealed:
                    return True
        return self._load(report, late)

    def _load(self, report: list[ZoneInfo], late: bool) -> bool:
        """Find the zone with the last whole snapshot, and read it."""
        best, foreign = None, None
        for number, info in enumerate(report):
            if info.state in (ZoneState.EMPTY, ZoneState.OFFLINE):
                continue
            log = NamesZone(self._stream, number)
            log.read(info, late)
            if log.foreign:
                foreign = number
            elif log.hole:
                return False
            if log.state is not None and (best is None or log.epoch > best.epoch):
                best = log
        if best is not None and not best.check():
            return False
        if best is None and foreign is not None:
            raise NamesDamaged(
                f"stream {self._stream.name!r} has data in zone {foreign} that are no names; expected none"
            )
        if best is None and self._log is not None and not late:
            return False  # the log went on elsewhere between the report and the reads
        self._log = best
        return True

    # Changes.

    def commit(self, build: Callable[[State], Change]) -> State:
        """Make one change, whole or not at all; the names after it.

        `build` makes the change from the names at this moment, and raises what forbids it. It is called again
        when another client was faster.
        """
        with self._session.lock:
            # A change of names that are a moment old counts only if they are the last; a refusal needs them.
            change = Change()
            if self._fresh:
                with suppress(Exception):
                    change = build(self.state)
            if change and self._attempt(change):
                return self.state
            for _ in range(_MOST_ATTEMPTS):
                change = build(self.sync())
                if not change or self._attempt(change):
                    return self.state
        raise OSError(errno.EBUSY, f"stream {self._stream.name!r}: other clients change it all the time")

    def _attempt(self, change: Change) -> bool:
        """Try a change of the present state; whether it counts."""
        token, log = secrets.randbits(64), self._log
        if log is not None and not log.sealed:
            record = Record(Kind.CHANGE, log.epoch, self.state.sequence + 1, token, change.packed())
            parts = packed(record, self._stream.block_bytes, self._most_bytes)
            if self._fits(log, parts):
                if not self._append(log.zone, parts):
                    return False
                if token not in self.sync().recent:
                    return False
                # A zone that was finished meanwhile may have a successor without the record.
                assert self._log is not None
                return not self._log.sealed or self._roll(Change(), secrets.randbits(64), token)
        return self._roll(change, token, token)

    @property
    def _most_bytes(self) -> int:
        return self._stream.shape.most * self._stream.block_bytes

    def _fits(self, log: NamesZone, parts: list[bytes]) -> bool:
        info = self._report[log.zone]
        size = self._stream.block_bytes
        used = log.pointer - info.start
        blocks = sum(len(part) for part in parts) // size
        short = used * size < MOST_LOG_BYTES or used < _MOST_GROWTH * log.snapshot_blocks
        # A block stays free, so that a zone is full only when somebody has finished it.
        return info.state in WRITABLE and used + blocks < info.capacity and short

    def _append(self, zone: int, parts: list[bytes]) -> bool:
        try:
            for part in parts:
                self._stream.append(zone, memoryview(part))
        except StreamRefused:
            return False  # the zone is full or out of service
        return True

    # Compaction.

    def _roll(self, change: Change, token: int, wanted: int) -> bool:
        """Begin the log anew in another zone, with a change; whether the record `wanted` counts then."""
        log = self._log
        if log is not None and not log.sealed:
            self._finish(log.zone)
            return False  # the change is made from what the finished zone has
        document, epoch = self.state.packed(), 1 if log is None else log.epoch + 1
        after = State.unpack(document, self.state.sequence)
        after.apply(change, token)
        zone = self._successor()
        if zone is None:
            return False
        connection, dirty = self._session.number, self._dirty(zone)
        after.zones.pop(self._key(zone), None)
        after.zones.update({key: self._leases.claimed(after.note(key)) for key in dirty})
        record = Record(Kind.SNAPSHOT, epoch, after.sequence, token, after.packed())
        parts = packed(record, self._stream.block_bytes, self._most_bytes)
        self._require_room(parts, change, self._report[zone].capacity)
        info = self._report[zone]
        if sum(map(len, parts)) // self._stream.block_bytes + 1 > info.room:
            self._finish(zone)  # it has the rest of somebody's attempt
            return False
        if not self._append(zone, parts) or wanted not in self.sync().recent:
            return False
        self._clean(dirty, connection)
        return True

    def _require_room(self, parts: list[bytes], change: Change, capacity: int) -> None:
        """A change that adds names leaves a quarter of the zone for changes that delete some."""
        blocks = sum(map(len, parts)) // self._stream.block_bytes
        grows = any(path not in self.state.entries for path, entry in change.entries.items() if entry)
        if blocks > (capacity * 3 // 4 if grows else capacity - 2):
            raise OSError(errno.ENOSPC, f"stream {self._stream.name!r} has no room for more names")

    def _successor(self) -> int | None:
        """The zone for the next snapshot, the same for all clients with the same state.

        None if that has changed something, and the names have to be read again.
        """
        zones = len(self._report)
        last = -1 if self._log is None else self._log.zone
        order = [(last + 1 + step) % zones for step in range(zones)]
        for zone in order:
            if zone != last and not self.state.note(self._key(zone)).owner:
                if self._report[zone].state in WRITABLE:
                    return zone
        # All are full or claimed: by writers whose power has failed, or by clients that are gone.
        for zone in order:
            if zone != last and self._is_ours(self._key(zone)):
                if self._report[zone].state in WRITABLE:
                    return zone
                if self._report[zone].state is ZoneState.FULL:
                    self._stream.reset(zone, self._session.number)
                    return None
        raise OSError(
            errno.EBUSY,
            f"stream {self._stream.name!r}: no zone is clean; those of a client that is gone are free after"
            f" {self._leases.seconds:g} s",
        )

    def _key(self, zone: int) -> ZoneKey:
        return ZoneKey(self._stream.nsid, zone)

    def _finish(self, zone: int) -> None:
        with suppress(StreamRefused):  # somebody else was faster
            self._stream.finish(zone)

    def _dirty(self, successor: int) -> list[ZoneKey]:
        """The zones to reset after a snapshot, but for those that another client resets."""
        keys = []
        for zone, info in enumerate(self._report):
            key = self._key(zone)
            used = info.state in WRITABLE or info.state is ZoneState.FULL
            if zone != successor and used and info.state is not ZoneState.EMPTY and self._is_ours(key):
                keys.append(key)
        return keys

    def _is_ours(self, key: ZoneKey) -> bool:
        """Whether no other client has a claim; one of this client is from a clean-up that was cut short."""
        return self._leases.free(self.state, key) or self.state.note(key).owner == self._leases.owner

    def _clean(self, keys: list[ZoneKey], connection: int) -> None:
        """Reset zones that this client has claimed by this connection, and release them."""
        with suppress(OSError):  # the change is made; the next snapshot takes care of what is left
            for key in keys:
                self._stream.reset(key.zone, connection)
            self.commit(lambda state: Change(zones=state.released(keys, self._leases.owner)))
