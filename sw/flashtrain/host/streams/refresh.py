"""Refresh: zones with old data are rewritten in place, so that handles of their data stay valid.

The driver copies a zone to a spare zone, which is an empty zone of its stream, resets it, and copies the
content back. The blocks keep their addresses. At any time the zone or the spare zone has the whole content,
and the journal shows which (`ZoneCopy`). After a loss of power, `Device.recover` continues from there. The
data pass through the tensor buffer, and so through error correction.

A pinned stream is released for the time of the copies. Its pin stays in the journal, so that it is pinned
again after a loss of power, too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

from flashtrain.host.queues.command_errors import CommandError, StreamPinned, TooManyZones
from flashtrain.host.recovery.journal import Journal
from flashtrain.host.recovery.journal_record import ZoneCopy
from flashtrain.spec import Access, Port, Stream, ZoneState
from flashtrain.spec.streams import Codec, Expired

from .stream import DeviceStream
from .zone_info import ZoneInfo

_BLOCKS_AT_ONCE = 1024


class Obstacle(Enum):
    """The reason why a zone with old data was not refreshed; its data are unchanged and in place."""

    NO_ROOM = "no zone of the stream is empty, or too many are open"
    NO_ACCESS = "no port may read the stream, or none may append to it"
    NO_JOURNAL = "the stream is non-volatile, and the node has no journal"
    PINNED = "the stream is pinned, and the journal does not know it"
    CODED = "the stream has a codec, and its zones no blocks that can be copied one by one"
    UNREADABLE = "the device failed to read or to write some of it, or the stream is uncommitted"


@dataclass(frozen=True)
class OldZone:
    """A zone whose data were old, with the number of refreshed blocks or the obstacle."""

    stream: str
    zone: int
    blocks: int = 0
    obstacle: Obstacle | None = None


@dataclass(frozen=True)
class RefreshReport:
    """The result for each zone whose data were old; journal: the journal was refreshed, too."""

    zones: tuple[OldZone, ...]
    journal: bool

    @property
    def left(self) -> tuple[OldZone, ...]:
        """The zones that were not refreshed."""
        return tuple(zone for zone in self.zones if zone.obstacle is not None)


class _Refused(Exception):
    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.value)
        self.obstacle = obstacle


class StreamRefresh:
    """Refreshes zones of one stream.

    - use: returns the stream for a port, without records of its resets.
    - set_pin: pins the stream or releases it, without a record.
    """

    def __init__(
        self,
        table: Stream,
        use: Callable[[Port], DeviceStream],
        set_pin: Callable[[bool], None],
        first_zone: int,
        journal: Journal | None,
    ) -> None:
        self._table = table
        self._set_pin = set_pin
        self._first_zone = first_zone
        self._journal = journal if table.persistency else None
        self._unrecorded = bool(table.persistency) and journal is None
        self._able = {
            access: next((use(port) for port in Port if access in table.access(port)), None)
            for access in (Access.READ, Access.APPEND)
        }

    def refresh(self) -> list[OldZone]:
        """Refresh all zones whose data are old."""
        anybody = self._able[Access.READ] or self._able[Access.APPEND]
        if anybody is None or self._table.expired is not Expired.REFRESH:
            return []
        old = [number for number, zone in enumerate(anybody.report()) if zone.is_old]
        return [self._refresh(number) for number in old]

    def go_on(self, copy: ZoneCopy) -> None:
        """Complete a refresh that a loss of power or a failure has interrupted; no command is in flight."""
        zone, spare = copy.zone - self._first_zone, copy.spare - self._first_zone
        with self._released():
            if copy.whole:
                self._empty(zone)
                self._copy_back(spare, zone, finish=True)
            else:
                self._drop(spare)

    @contextmanager
    def _released(self) -> Iterator[None]:
        """The stream without the pin that the journal records."""
        pinned = self._journal is not None and self._table.nsid in self._journal.pinned
        if pinned:
            self._set_pin(False)
        try:
            yield
        finally:
            if pinned:
                self._set_pin(True)

    def _refresh(self, number: int) -> OldZone:
        try:
            with self._released():
                blocks = self._renew(number)
        except _Refused as refused:
            return OldZone(self._table.name, number, obstacle=refused.obstacle)
        return OldZone(self._table.name, number, blocks)

    def _renew(self, number: int) -> int:
        if self._table.codec is not Codec.RAW:
            raise _Refused(Obstacle.CODED)
        if self._unrecorded:
            raise _Refused(Obstacle.NO_JOURNAL)
        report = self._appender.report()
        spare = next((n for n, zone in enumerate(report) if zone.state is ZoneState.EMPTY), None)
        if spare is None:
            raise _Refused(Obstacle.NO_ROOM)
        old = report[number]
        if self._journal is not None:
            self._journal.begin_copy(ZoneCopy(self._first_zone + number, self._first_zone + spare))
        try:
            self._copy(number, spare, old.written)
            self._finish(spare, old)
        except CommandError as error:
            self._drop(spare)
            raise _Refused(_obstacle(error)) from error
        if self._journal is not None:
            self._journal.end_copy()
        self._appender.reset_zone(number)
        self._copy_back(spare, number, finish=old.state is ZoneState.FULL)
        return old.written

    def _copy_back(self, spare: int, number: int, finish: bool) -> None:
        copy = self._info(spare)
        self._copy(spare, number, copy.written)
        if finish:
            self._finish(number, copy)
        if self._journal is not None:
            self._journal.end_copy()
        self._appender.reset_zone(spare)

    def _drop(self, spare: int) -> None:
        if self._journal is not None:
            self._journal.drop_copy()
        self._empty(spare)

    def _copy(self, source: int, target: int, blocks: int) -> None:
        """Copy the first blocks of a zone to an empty one; they are programmed when this returns."""
        reader, appender = self._reader, self._appender
        for offset in range(0, blocks, _BLOCKS_AT_ONCE):
            count = min(_BLOCKS_AT_ONCE, blocks - offset)
            data = reader.read_blocks(source * reader.zone_size + offset, count)
            appender.write(target * appender.zone_size + offset, data)
        appender.flush()

    def _empty(self, number: int) -> None:
        if self._info(number).state is not ZoneState.EMPTY:
            self._appender.reset_zone(number)

    def _finish(self, number: int, source: ZoneInfo) -> None:
        """Finish the copy of a zone; blocks that the source may have lost are as doubtful in the copy."""
        if source.unsure or self._info(number).state is not ZoneState.FULL:
            self._appender.finish_zone(number, source.unsure)

    def _info(self, number: int) -> ZoneInfo:
        return self._appender.report(number)[0]

    @property
    def _reader(self) -> DeviceStream:
        return self._who_may(Access.READ)

    @property
    def _appender(self) -> DeviceStream:
        return self._who_may(Access.APPEND)

    def _who_may(self, access: Access) -> DeviceStream:
        able = self._able[access]
        if able is None:
            raise _Refused(Obstacle.NO_ACCESS)
        return able


def _obstacle(error: CommandError) -> Obstacle:
    if isinstance(error, TooManyZones):
        return Obstacle.NO_ROOM
    return Obstacle.PINNED if isinstance(error, StreamPinned) else Obstacle.UNREADABLE
