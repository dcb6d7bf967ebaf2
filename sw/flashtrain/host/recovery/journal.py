"""The journal: what a driver has to know of its streams to tell valid data from stale after a loss of power.

Which generation of a stream is meant, and which generation was committed, stands in the controller's
registers only. So before a command changes that, a *record* of what will be is appended to the journal, and
the command is submitted when the record is acknowledged. If the power fails between the two, the command
counts as carried out: nobody was told that it was not.

Each record is a snapshot, so that the newest valid one says all. The journal has two zones and fills one.
When that is full the other one, whose records are all older, is reset and takes the next record; until that
is acknowledged the newest one is still in the full zone. So if the other one cannot be written, as it was
retired, the journal takes no more records, and the streams no such changes; but nothing is lost.

Zones that are out of service stand in a record as well: it is written when the driver has seen them so.

Raw commands (`Device.submit_raw`) are not recorded.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from flashtrain.host.queues.command_errors import CommandError
from flashtrain.host.queues.dispatcher import Dispatcher, Request
from flashtrain.host.queues.entries import Command
from flashtrain.host.queues.pending import Pending
from flashtrain.host.streams.stream import DeviceStream
from flashtrain.spec import NodeTable, Opcode, Port, Stream, ZoneAction, ZoneState
from flashtrain.spec.errors import require
from flashtrain.spec.identity import GENERATION_LIMIT
from flashtrain.spec.registers import Register, StreamRegister, stream_register

from .allocation_times import Moment, noted
from .journal_record import Record, RecordFormat, StreamEntry, ZoneCopy


class Journal:
    """The journal `stream` of a node, whose zones have the ranges `zones` by NSID.

    Methods that are given a change write a record of it, and give the record's command: what the change needs
    is to come after it (`Request.after`).
    """

    def __init__(
        self, dispatcher: Dispatcher, node: NodeTable, stream: DeviceStream, zones: dict[int, range]
    ) -> None:
        config = dispatcher.link.config
        self._dispatcher = dispatcher
        self._stream = stream
        self._zones = zones
        self._recorded = [one for one in node.streams if is_recorded(node, one)]
        self._format = RecordFormat(config.geometry)
        room = min(stream.zone_capacity, config.max_blocks)
        require(
            self._format.blocks <= room, f"blocks of a zone of stream {stream.name!r}, or of a command", room,
            f"at least the {self._format.blocks} of a record",
        )  # fmt: skip
        region = dispatcher.buffer.take(self._format.blocks)
        if region is None:
            raise dispatcher.buffer.full(self._format.blocks)
        self._region = region
        self._last: Request | None = None
        self.start()

    def start(self, record: Record | None = None, zone: int = 0, offset: int | None = 0) -> None:
        """The controller was enabled; the newest record, if there is one, is in `zone`.

        The next one goes there to block `offset`, or to the other zone (None).
        """
        self._record = Record(0) if record is None else record
        self._note()
        self._zone, self._offset = zone, offset
        self._unknown = self._wrong = False
        self._last = None
        self.pinned: set[int] = set()

    def forget(self) -> None:
        """Raw commands may have changed something."""
        self._unknown = True

    def entry(self, nsid: int) -> StreamEntry:
        """What was recorded last of a stream."""
        return self._record.stream(nsid)

    # Changes.

    def reset(self, nsid: int) -> Request:
        """The stream will be reset."""
        return self._change({nsid: lambda entry: entry.next})

    def commit(self, nsid: int, source: int | None, updates: int) -> Request:
        """The stream's generation will be committed, the result of so many updates; `source` will be reset,
        unless it is pinned."""
        number = self._record.number + 1
        changes: dict[int, Callable[[StreamEntry], StreamEntry]] = {
            nsid: lambda entry: StreamEntry(entry.generation, number, updates)
        }
        if source is not None and source not in self.pinned:
            changes[source] = lambda entry: entry.next
        return self._change(changes)

    def reset_zone(self, nsid: int, zone: int) -> Request:
        """A zone will be reset that no append is under way to.

        What is allocated from now on has at least the sequence number that the controller tells now.
        """
        self._raise_floor(self._zones[nsid].start + zone)
        return self._append()

    @property
    def copy(self) -> ZoneCopy | None:
        """The refresh that has not ended."""
        return self._record.copy

    def begin_copy(self, copy: ZoneCopy) -> None:
        """The spare zone, which is empty, will be written."""
        self._record = replace(self._record, copy=copy)
        self.write()

    def end_copy(self) -> None:
        """The content is in the spare zone, and the zone will be reset; or the other way round."""
        copy = self._record.copy
        if copy is not None:
            self._raise_floor(copy.spare if copy.whole else copy.zone)
            after = None if copy.whole else replace(copy, whole=True)
            self._record = replace(self._record, copy=after)
            self.write()

    def drop_copy(self) -> None:
        """What is in the spare zone is not needed, which will be reset."""
        copy = self._record.copy
        if copy is not None:
            self._raise_floor(copy.spare)
            self._record = replace(self._record, copy=None)
            self.write()

    def retire(self, nsid: int, zones: dict[int, ZoneState]) -> None:
        """These zones of a stream are out of service, as was seen.

        If that cannot be recorded, as the journal takes no more records, it is not: the next change says so.
        """
        first = self._zones[nsid].start
        known = self._record.retired
        retired = known | {first + zone: state for zone, state in zones.items()}
        if retired != known:
            self._record = replace(self._record, retired=retired)
            with suppress(CommandError):
                self.write()

    def undo(self, nsid: int, before: StreamEntry) -> None:
        """The device refused what was recorded of a stream."""
        self._record = replace(self._record, streams=self._record.streams | {nsid: before})
        self._wrong = True

    def correct(self) -> None:
        """Write what is true, if the last record is not."""
        if self._wrong:
            self.wait_for(self._append())

    def end(self, pointers: dict[int, dict[int, int]], wear: list[int], replaced: bool) -> None:
        """Write a clean record: written blocks by NSID and zone, of zones that take more."""
        flat = [0] * self._dispatcher.link.config.geometry.zones
        for nsid, of_zones in pointers.items():
            for zone, pointer in of_zones.items():
                flat[self._zones[nsid].start + zone] = pointer
        zone, offset = self._place()
        if offset + 2 * self._format.blocks <= self._stream.zone_capacity:
            flat[self._zones[self._stream.nsid].start + zone] = offset + self._format.blocks
        self._record = replace(
            self._record, clean=True, pointers=tuple(flat), wear=tuple(wear), replaced=replaced
        )
        self.wait_for(self._append())

    def write(self) -> None:
        """Write a record without any change, and wait for it."""
        self.wait_for(self._append())

    def refresh(self) -> bool:
        """If the newest record is old: write it again, in the other zone. Whether it was."""
        old = self._stream.report()[self._zone].reset_recommended
        if old:
            self._learn()
            self._offset = None
            self.write()
        return old

    # How it is done.

    def _raise_floor(self, zone: int) -> None:
        """What is allocated for this zone from now on has at least the sequence number of now."""
        floors = list(self._record.floors or (0,) * self._dispatcher.link.config.geometry.zones)
        floors[zone] = self._dispatcher.link.read_register(Register.SEQUENCE)
        self._record = replace(self._record, floors=tuple(floors))

    def _note(self) -> None:
        """Which allocations are still to come."""
        read = self._dispatcher.link.read_register
        now = Moment(read(Register.SEQUENCE), read(Register.TIME))
        self._record = replace(self._record, moments=noted(self._record.moments, now))

    def _change(self, changes: dict[int, Callable[[StreamEntry], StreamEntry]]) -> Request:
        self._learn()
        streams = {nsid: change(self._record.stream(nsid)) for nsid, change in changes.items()}
        self._record = replace(self._record, streams=self._record.streams | streams)
        return self._append()

    def _append(self) -> Request:
        self._settle()
        newest, (zone, offset) = self._zone, self._place()

        def fail() -> None:
            self._zone, self._offset = newest, None

        if zone != newest:
            self._submit(Command(Opcode.ZONE_MANAGEMENT_SEND, self._stream.nsid, slba=self._start_of(zone),
                                 action=ZoneAction.RESET), fail)  # fmt: skip
        self._note()
        record = replace(self._record, number=self._record.number + 1)
        self._dispatcher.buffer.view(self._region)[:] = self._format.pack(record).reshape(-1)
        request = self._submit(
            Command(
                Opcode.ZONE_APPEND,
                self._stream.nsid,
                self._start_of(zone),
                self._format.blocks,
                self._region.address,
                self._format.blocks * self._stream.block_bytes,
            ),
            fail,
        )
        self._record = replace(record, clean=False, pointers=())
        self._zone, self._offset = zone, offset + self._format.blocks
        self._last, self._wrong = request, False
        return request

    def _place(self) -> tuple[int, int]:
        """Zone and block where the next record goes."""
        self._learn()
        if self._offset is None or self._offset + self._format.blocks > self._stream.zone_capacity:
            return 1 - self._zone, 0
        return self._zone, self._offset

    def _learn(self) -> None:
        """Look what raw commands have changed."""
        if not self._unknown:
            return
        self._unknown = False
        rooms = [zone.room for zone in self._stream.report()]
        written = self._stream.zone_capacity - rooms[self._zone]
        self._offset = written if written == self._offset else None
        for stream in self._recorded:
            register = stream_register(stream.nsid, StreamRegister.GENERATION)
            generation = self._dispatcher.link.read_register(register) % GENERATION_LIMIT
            if generation != self.entry(stream.nsid).generation:
                self._record = replace(
                    self._record, streams=self._record.streams | {stream.nsid: StreamEntry(generation)}
                )

    def _settle(self) -> None:
        """Wait until the record before has been fetched from the tensor buffer."""
        last = self._last
        if last is not None:
            self._dispatcher.wait(lambda: last.done)

    def _submit(self, command: Command, on_failure: Callable[[], None]) -> Request:
        request = Request(Port.HOST, command, on_failure=on_failure)
        self._dispatcher.submit([request])
        return request

    def wait_for(self, request: Request) -> None:
        """Wait until a record is acknowledged."""
        Pending(self._dispatcher, [request], self._stream.name, lambda _: None).result()

    def _start_of(self, zone: int) -> int:
        return zone * self._stream.zone_size


def is_recorded(node: NodeTable, stream: Stream) -> bool:
    """Whether changes of this stream are written to the journal."""
    return bool(stream.persistency) and node.journal is not None and stream is not node.journal
