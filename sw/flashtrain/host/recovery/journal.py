"""The journal: records from which recovery distinguishes valid data of streams from stale data.

The current generation of a stream, and whether it is committed, are only in the controller's registers.
Before a command changes them, the driver appends a *record* of the new values to the journal. It submits the
command when the record is acknowledged. If the power fails between the two, the command counts as executed:
its caller has received no other answer.

Each record is a snapshot, so the newest valid record is sufficient. With the entry of a stream it has the
*note* of the stream's user: bytes that become durable with a commit, in one append. It has the pins as well.

The journal has two zones and fills one of them. When that zone is full, the driver resets the other one,
whose records are all older, and appends the next record there. Until that record is acknowledged, the newest
one is still in the full zone.

If the other zone is retired, the journal accepts no more records, and the streams no such changes; no data
are lost.

A record also lists the zones that are out of service. The driver writes one when it finds another such zone.

Raw commands (`Device.submit_raw`) are not recorded.
"""

from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from dataclasses import replace

from flashtrain.host.errors import NoteTooLong
from flashtrain.host.queues.command_errors import CommandError
from flashtrain.host.queues.dispatcher import Dispatcher, Request
from flashtrain.host.queues.entries import Command
from flashtrain.host.queues.pending import Pending
from flashtrain.host.streams.stream import DeviceStream
from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import NodeTable, Opcode, Port, Stream, ZoneAction, ZoneState
from flashtrain.spec.errors import require
from flashtrain.spec.identity import GENERATION_LIMIT
from flashtrain.spec.registers import Register, StreamRegister, stream_register

from .allocation_times import Moment, noted
from .journal_record import Record, RecordFormat, StreamEntry, ZoneCopy

_Change = Callable[[StreamEntry], StreamEntry]


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
        least = self._format.least_blocks
        require(
            least <= room, f"blocks of a zone of stream {stream.name!r}, or of a command", room,
            f"at least the {least} of a record",
        )  # fmt: skip
        self.note_bytes = self._format.note_bytes(room)
        """Bytes of the notes of all streams, at most."""
        region = dispatcher.buffer.take(least)
        if region is None:
            raise dispatcher.buffer.full(least)
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

    def forget(self) -> None:
        """Read the state again before the next record: raw commands may have changed it."""
        self._unknown = True

    def entry(self, nsid: int) -> StreamEntry:
        """The last recorded entry of a stream."""
        return self._record.stream(nsid)

    @property
    def pinned(self) -> frozenset[int]:
        """The NSIDs of the pinned streams."""
        return frozenset(nsid for nsid, entry in self._record.streams.items() if entry.pinned)

    def require_room(self, note: bytes, dropped: Container[int]) -> None:
        """:class:`NoteTooLong` if a record has no room for the note in place of those of `dropped`, NSIDs."""
        kept = (entry for nsid, entry in self._record.streams.items() if nsid not in dropped)
        self._require_room((*kept, StreamEntry(note=note)))

    # Changes.

    def reset(self, nsid: int) -> Request:
        """Record that the stream will be reset."""
        return self._change({nsid: lambda entry: entry.next})

    def drop(self, nsid: int) -> Request:
        """Record that the stream's generation is neither pinned nor committed any more; it is not reset."""
        return self._change({nsid: _dropped})

    def commit(
        self,
        nsid: int,
        updates: int,
        note: bytes = b"",
        pin: bool = False,
        page: int = 0,
        reset: Iterable[int] = (),
        dropped: Iterable[int] = (),
    ) -> Request:
        """Record that the stream's generation, the result of `updates` updates, will be committed.

        - pin: it will be pinned.
        - page: of the stream's first zone, where the generation begins.
        - reset: NSIDs of streams that will be reset.
        - dropped: NSIDs of others whose generations are not committed any more.

        :class:`NoteTooLong` if the record has no room for the note; nothing is recorded then.
        """
        number = self._record.number + 1
        changes: dict[int, _Change] = dict.fromkeys(dropped, _dropped)
        changes |= {one: lambda entry: entry.next for one in reset}
        changes[nsid] = lambda entry: StreamEntry(entry.generation, number, updates, pin, note, page)
        return self._change(changes)

    def annotate(self, nsid: int, note: bytes) -> Request:
        """Record the note of a stream; :class:`NoteTooLong` as of :meth:`commit`."""
        return self._change({nsid: lambda entry: replace(entry, note=note)})

    def pin(self, nsid: int, pinned: bool, note: bytes | None = None) -> Request:
        """Record that the stream is pinned, or that it is not; with a note in place of the one before."""
        return self._change(
            {nsid: lambda entry: replace(entry, pinned=pinned, note=entry.note if note is None else note)}
        )

    def reset_zone(self, nsid: int, zone: int) -> Request:
        """Record that a zone will be reset; no append to it is in flight.

        A later allocation for the zone has at least the sequence number that the controller reports now.
        """
        self._set_floor(self._zones[nsid].start + zone)
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
            self._set_floor(copy.spare if copy.whole else copy.zone)
            after = None if copy.whole else replace(copy, whole=True)
            self._record = replace(self._record, copy=after)
            self.write()

    def drop_copy(self) -> None:
        """Record that the content of the spare zone is not needed, and that it will be reset."""
        copy = self._record.copy
        if copy is not None:
            self._set_floor(copy.spare)
            self._record = replace(self._record, copy=None)
            self.write()

    def retire(self, nsid: int, zones: dict[int, ZoneInfo]) -> None:
        """Record that these zones of a stream were found out of service, and the allocation of their data.

        If the journal accepts no more records, nothing is recorded; the next change raises the error.
        """
        first = self._zones[nsid].start
        known = self._record.retired
        found = {first + number: zone for number, zone in zones.items()}
        retired = known | {number: zone.state for number, zone in found.items()}
        if retired != known:
            for number in found.keys() - known.keys():
                self._set_floor(number, found[number].sequence)
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

    def end(self, reports: dict[int, list[ZoneInfo]], wear: list[int], replaced: bool) -> None:
        """Write a clean record. reports: the zones of streams by NSID; nothing is in flight to them."""
        flat = [0] * self._dispatcher.link.config.geometry.zones
        full = set()
        for nsid, report in reports.items():
            for number, zone in enumerate(report, self._zones[nsid].start):
                if not zone.unsure:
                    flat[number] = zone.written
                    full |= {number} if zone.state is ZoneState.FULL else set()
        zone, offset = self._place()
        end = offset + self._format.blocks(self._record)
        if end + self._format.least_blocks <= self._stream.zone_capacity:
            flat[self._zones[self._stream.nsid].start + zone] = end
        self._record = replace(
            self._record, clean=True, pointers=tuple(flat), full=frozenset(full), wear=tuple(wear),
            replaced=replaced,
        )  # fmt: skip
        self.wait_for(self._append())

    def go_on(self) -> None:
        """Write a record that is not clean: appends follow, which may replace blocks."""
        self._record = replace(self._record, replaced=True)
        self.write()

    def write(self) -> None:
        """Write a record without any change, and wait for it."""
        self.wait_for(self._append())

    def refresh(self) -> bool:
        """Write the newest record again, in the other zone, if it is old; whether it was."""
        old = self._stream.report()[self._zone].is_old
        if old:
            self._learn()
            self._offset = None
            self.write()
        return old

    # How it is done.

    def _set_floor(self, zone: int, sequence: int | None = None) -> None:
        """Set the floor of a zone to the number of an allocation; None: to that of the next one."""
        floors = list(self._record.floors or (0,) * self._dispatcher.link.config.geometry.zones)
        if sequence is None:
            sequence = self._dispatcher.link.read_register(Register.SEQUENCE)
        floors[zone] = sequence
        self._record = replace(self._record, floors=tuple(floors))

    def _note(self) -> None:
        """Note the present time and the sequence number of the next allocation."""
        read = self._dispatcher.link.read_register
        now = Moment(read(Register.SEQUENCE), read(Register.TIME))
        self._record = replace(self._record, moments=noted(self._record.moments, now))

    def _change(self, changes: dict[int, _Change]) -> Request:
        self._learn()
        streams = {nsid: change(self._record.stream(nsid)) for nsid, change in changes.items()}
        after = self._record.streams | streams
        self._require_room(after.values())
        record = replace(self._record, streams=after)
        self._grow(self._format.blocks(record))
        self._record = record
        return self._append()

    def _require_room(self, entries: Iterable[StreamEntry]) -> None:
        if (needed := sum(len(entry.note) for entry in entries)) > self.note_bytes:
            raise NoteTooLong(
                f"the notes of all streams have {needed} bytes; expected at most {self.note_bytes}, "
                "the room of a journal record"
            )

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
        blocks = self._format.pack(record)
        self._grow(len(blocks))
        self._dispatcher.buffer.view(self._region)[: blocks.nbytes] = blocks.reshape(-1)
        request = self._submit(
            Command(
                Opcode.ZONE_APPEND,
                self._stream.nsid,
                self._start_of(zone),
                len(blocks),
                self._region.address,
                blocks.nbytes,
            ),
            fail,
        )
        self._record = replace(record, clean=False, pointers=(), full=frozenset())
        self._zone, self._offset = zone, offset + len(blocks)
        self._last, self._wrong = request, False
        return request

    def _grow(self, blocks: int) -> None:
        """Make room for so many blocks in the tensor buffer."""
        if blocks > self._region.blocks:
            self._settle()
            larger = self._dispatcher.region(blocks)
            self._dispatcher.buffer.give_back(self._region)
            self._region = larger

    def _place(self) -> tuple[int, int]:
        """The zone and the block of the next record."""
        self._learn()
        blocks = self._format.blocks(self._record)
        if self._offset is None or self._offset + blocks > self._stream.zone_capacity:
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


def _dropped(entry: StreamEntry) -> StreamEntry:
    """The entry when nothing needs the generation, whose stream is not reset."""
    return StreamEntry(entry.generation)


def is_recorded(node: NodeTable, stream: Stream) -> bool:
    """Whether changes of this stream are written to the journal."""
    return bool(stream.persistency) and node.journal is not None and stream is not node.journal
