"""The journal: records from which recovery distinguishes valid data of streams from stale data.

The current generation of a stream, and whether it is committed, are only in the controller's registers.
Before a command changes them, the driver appends a *record* of the new values to the journal. It submits the
command when the record is acknowledged. If the power fails between the two, the command counts as executed:
its caller has received no other answer.

Each record is a snapshot, so the newest valid record is sufficient. The journal has two zones and fills one
of them. When that zone is full, the driver resets the other one, whose records are all older, and appends the
next record there. Until that record is acknowledged, the newest one is still in the full zone.

If the other zone is retired, the journal accepts no more records, and the streams no such changes; no data
are lost.

A record also lists the zones that are out of service. The driver writes one when it finds another such zone.

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
    """The journal of a node, in `stream`; `zones` are the ranges of the node's zones by NSID.

    A method for a change appends a record of it, and returns the record's request. The command that makes
    the change comes after that request (`Request.after`).
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
        """Begin after an enable of the controller; `zone` holds the newest record, if there is one.

        The next record is appended there at block `offset`, or to the other zone (None).
        """
        self._record = Record(0) if record is None else record
        self._note()
        self._zone, self._offset = zone, offset
        self._unknown = self._wrong = False
        self._last = None
        self.pinned: set[int] = set()

    def forget(self) -> None:
        """Read the state again before the next record: raw commands may have changed it."""
        self._unknown = True

    def entry(self, nsid: int) -> StreamEntry:
        """The last recorded entry of a stream."""
        return self._record.stream(nsid)

    # Changes.

    def reset(self, nsid: int) -> Request:
        """Record that the stream will be reset."""
        return self._change({nsid: lambda entry: entry.next})

    def commit(self, nsid: int, source: int | None, updates: int) -> Request:
        """Record that the stream's generation, the result of `updates` updates, will be committed, and
        `source` reset unless it is pinned."""
        number = self._record.number + 1
        changes: dict[int, Callable[[StreamEntry], StreamEntry]] = {
            nsid: lambda entry: StreamEntry(entry.generation, number, updates)
        }
        if source is not None and source not in self.pinned:
            changes[source] = lambda entry: entry.next
        return self._change(changes)

    def reset_zone(self, nsid: int, zone: int) -> Request:
        """Record that a zone will be reset; no append to it is in flight.

        A later allocation for the zone has at least the sequence number that the controller reports now.
        """
        self._raise_floor(self._zones[nsid].start + zone)
        return self._append()

    @property
    def copy(self) -> ZoneCopy | None:
        """The refresh that has not ended, or None."""
        return self._record.copy

    def begin_copy(self, copy: ZoneCopy) -> None:
        """Record that a zone will be copied to its spare zone, which is empty."""
        self._record = replace(self._record, copy=copy)
        self.write()

    def end_copy(self) -> None:
        """Record that the copy is complete: in the spare zone, or on the second call back in the zone."""
        copy = self._record.copy
        if copy is not None:
            self._raise_floor(copy.spare if copy.whole else copy.zone)
            after = None if copy.whole else replace(copy, whole=True)
            self._record = replace(self._record, copy=after)
            self.write()

    def drop_copy(self) -> None:
        """Record that the content of the spare zone is not needed, and that it will be reset."""
        copy = self._record.copy
        if copy is not None:
            self._raise_floor(copy.spare)
            self._record = replace(self._record, copy=None)
            self.write()

    def retire(self, nsid: int, zones: dict[int, ZoneState]) -> None:
        """Record that these zones of a stream were found out of service.

        If the journal accepts no more records, nothing is recorded; the next change raises the error.
        """
        first = self._zones[nsid].start
        known = self._record.retired
        retired = known | {first + zone: state for zone, state in zones.items()}
        if retired != known:
            self._record = replace(self._record, retired=retired)
            with suppress(CommandError):
                self.write()

    def undo(self, nsid: int, before: StreamEntry) -> None:
        """Restore a stream's entry: the device refused the recorded change."""
        self._record = replace(self._record, streams=self._record.streams | {nsid: before})
        self._wrong = True

    def correct(self) -> None:
        """Write a true record, if the last one is not."""
        if self._wrong:
            self.wait_for(self._append())

    def end(self, pointers: dict[int, dict[int, int]], wear: list[int], replaced: bool) -> None:
        """Write a clean record. pointers: written blocks by NSID and zone, of zones that are not full."""
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
        """Set the floor of a zone: later allocations for it have at least the present sequence number."""
        floors = list(self._record.floors or (0,) * self._dispatcher.link.config.geometry.zones)
        floors[zone] = self._dispatcher.link.read_register(Register.SEQUENCE)
        self._record = replace(self._record, floors=tuple(floors))

    def _note(self) -> None:
        """Note the present time and the sequence number of the next allocation."""
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
        """The zone and the block of the next record."""
        self._learn()
        if self._offset is None or self._offset + self._format.blocks > self._stream.zone_capacity:
            return 1 - self._zone, 0
        return self._zone, self._offset

    def _learn(self) -> None:
        """Read what raw commands may have changed."""
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
        """Wait until the previous record is done, so that its place in the tensor buffer is free."""
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
