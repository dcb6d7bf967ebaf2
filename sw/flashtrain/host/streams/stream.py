"""A stream for NumPy users: append arrays, read them back, reset."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import prod

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flashtrain.host.arguments import instance, listed, member, require_argument, whole
from flashtrain.host.errors import ArrayError, BufferFull, ForeignHandle, JournalMissing, StaleHandle
from flashtrain.host.memory.arrays import (
    as_bytes,
    blocks_of,
    check_target,
    contiguous,
    element_type,
    storable,
)
from flashtrain.host.memory.tensor_buffer import Region
from flashtrain.host.queues.command_errors import CommandError, command_error
from flashtrain.host.queues.dispatcher import Dispatcher, Request, serialised
from flashtrain.host.queues.entries import Command, CompletionEntry
from flashtrain.host.queues.pending import Pending
from flashtrain.spec import Access, FlashtrainError, Opcode, Port, Status, Stream, ZoneAction, ZoneState
from flashtrain.spec.nvme import RETIRED
from flashtrain.spec.registers import Register
from flashtrain.spec.streams import Expired

from .generations import DeviceGenerations
from .page_health import PageHealth, page_health
from .recorder import Recorder
from .stored import Extent, StoredArray, join
from .stream_ring import StreamRing
from .zone_info import ZoneInfo, parse_report, report_bytes

_MOST_ADDRESS = (1 << 48) - 1
UNCHANGED_BY_RESET = (ZoneState.EMPTY, *RETIRED)
_APPENDS = (Opcode.ZONE_APPEND, Opcode.WRITE)
_IN_ANY_ORDER = (Opcode.ZONE_APPEND, Opcode.READ, Opcode.ZONE_MANAGEMENT_RECEIVE)
_OUT_OF_SERVICE = (Status.WRITE_FAULT, Status.ZONE_IS_READ_ONLY, Status.ZONE_IS_OFFLINE)


class DeviceStream:
    """One stream of a device, used by one port.

    Arrays are stored in whole logical blocks, padded with zeros. Block addresses (LBAs) count from the
    stream's first block; zone i begins at `i * zone_size`. Every method raises :class:`CommandError` (see
    `command_errors`) with the device's status.

    Data that are no longer needed are dropped, an array at a time (:meth:`drop`) or all (:meth:`drop_all`).
    Later appends then go on behind them, and a zone is reset when it is full and all in it is dropped. So an
    erase is paid for each zone of data. :meth:`reset` empties all zones at once instead.

    journal: the record of zones out of service, and of resets if the stream is non-volatile, which survives a
    loss of power; None in a node without a journal.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        table: Stream,
        port: Port,
        zones: int,
        ring: StreamRing,
        generations: DeviceGenerations,
        journal: Recorder | None = None,
    ) -> None:
        self.table = table
        self.port = port
        self.zones = zones
        self._dispatcher = dispatcher
        self._ring = ring
        self._space = ring.space
        self._device = generations.device
        self._generations = generations.stream(table.nsid)
        self._journal = journal if table.persistency else None
        self._retirements = journal
        self._config = dispatcher.link.config
        self._block_bytes = self._config.geometry.page_bytes

    def __repr__(self) -> str:
        return f"<stream {self.name!r}, port {self.port.name}, {self.zones} zones>"

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def nsid(self) -> int:
        return self.table.nsid

    @property
    def block_bytes(self) -> int:
        """Bytes of a logical block."""
        return self._block_bytes

    @property
    def zone_size(self) -> int:
        """Block addresses from the start of one zone to the next."""
        return self._config.geometry.zone_size

    @property
    def zone_capacity(self) -> int:
        """Blocks that can be appended to one zone."""
        return self._config.geometry.zone_capacity

    # Data.

    def append(self, array: NDArray) -> StoredArray:
        """Append an array of any shape and any dtype of fixed size; returns its handle.

        Zones are filled one after the other, open ones first. :class:`StreamFull` when the array does not
        fit; nothing is appended then. :class:`ArrayError` for an object that is not such an array.

        :class:`MediaError` when a program has failed for good. Its zone is then read-only, and a journal
        keeps that over a loss of power. Other appends in flight to that zone go to another one. If no zone
        has room for a command's blocks, the command ends with :class:`ZoneReadOnly`.
        """
        return self.append_async(array).result()

    @serialised
    def append_async(self, array: NDArray) -> Pending[StoredArray]:
        """As :meth:`append`, without waiting for the device.

        The array may be changed or dropped at once, because its data are copied. An array in the tensor
        buffer (`Device.buffer`) is not copied, and must not change until the operation is done.
        """
        array = storable(array)
        self._dispatcher.admit()
        extents = self._reserve(blocks_of(array.nbytes, self._block_bytes))
        array = contiguous(array)
        pieces = [piece for extent in extents for piece in self._split(extent)]
        try:
            return self._write(Opcode.ZONE_APPEND, array, pieces)
        except FlashtrainError:
            self._space.forget()  # some pieces were appended, some were not
            raise

    @serialised
    def write(self, lba: int, array: NDArray) -> StoredArray:
        """Write an array at block `lba`, which must be the write pointer of its zone; returns its handle."""
        return self.write_async(lba, array).result()

    @serialised
    def write_async(self, lba: int, array: NDArray) -> Pending[StoredArray]:
        """As :meth:`write`, without waiting for the device; the next write of this port begins behind it."""
        array = contiguous(storable(array))
        self._dispatcher.admit()
        self._space.forget()
        extent = Extent(self._block_address(lba), blocks_of(array.nbytes, self._block_bytes))
        return self._write(Opcode.WRITE, array, self._split(extent))

    def read(self, stored: StoredArray, out: NDArray | None = None) -> NDArray:
        """Read an array back into a new array, or into `out`, which must have its shape and dtype.

        The device itself fills an `out` that lies in the tensor buffer (`Device.buffer`).
        """
        return self.read_async(stored, out).result()

    @serialised
    def read_async(self, stored: StoredArray, out: NDArray | None = None) -> Pending[NDArray]:
        """As :meth:`read`, without waiting for the device; `out` is undefined until the read is done."""
        self._check_stored(stored)
        if out is None:
            out = np.empty(stored.shape, stored.dtype)
        return self._read(stored.extents, check_target(out, stored.shape, stored.dtype))

    @serialised
    def read_blocks(self, lba: int, blocks: int) -> NDArray[np.uint8]:
        """The bytes of `blocks` logical blocks from block `lba` on: uint8[blocks * block_bytes]."""
        whole("blocks", blocks, 1, self.zones * self.zone_size)
        out = np.empty(blocks * self._block_bytes, np.uint8)
        return self._read((Extent(self._block_address(lba), blocks),), out).result()

    def read_part(
        self, stored: StoredArray, start: int, nbytes: int, out: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """Read `nbytes` of an array from byte `start` on, within one logical block: uint8[nbytes].

        Both numbers are multiples of `FmsConfig.part_bytes`. Only these bytes, and the identity of their
        page, cross the bus of a channel. The bytes behind the array, up to the end of its last block, are
        zeros. The device itself fills an `out` that lies in the tensor buffer (`Device.buffer`), at a
        multiple of `part_bytes`.

        :class:`ArgumentError` for other numbers, and on a device without parts.
        """
        return self.read_part_async(stored, start, nbytes, out).result()

    @serialised
    def read_part_async(
        self, stored: StoredArray, start: int, nbytes: int, out: NDArray[np.uint8] | None = None
    ) -> Pending[NDArray[np.uint8]]:
        """As :meth:`read_part`, without waiting for the device."""
        self._check_stored(stored)
        unit, block = self._config.part_bytes, self._block_bytes
        require_argument(unit > 0, "part_bytes", unit, "a configuration with part_bytes, to read a part")
        start = whole("start", start, 0, stored.blocks * block - unit)
        require_argument(start % unit == 0, "start", start, f"a multiple of {unit}, the bytes of a part")
        nbytes = whole("nbytes", nbytes, unit, block - start % block)
        require_argument(nbytes % unit == 0, "nbytes", nbytes, f"a multiple of {unit}, the bytes of a part")
        out = np.empty(nbytes, np.uint8) if out is None else out
        check_target(out, (nbytes,), np.dtype(np.uint8))
        lba, first = _block_of(stored.extents, start // block), start % block // unit
        address, region = self._dispatcher.buffer.address_of(out, unit), None
        if address is None:
            region = self._dispatcher.region(1)
            address = region.address
        command = Command(
            Opcode.READ, self.nsid, lba, 1, address, nbytes, first_part=first, parts=nbytes // unit
        )
        request = Request(
            self.port, command, region, None if region is None else out, keep=None if region else out
        )
        self._dispatcher.submit([request])
        return Pending(self._dispatcher, [request], self.name, lambda _: out)

    @serialised
    def health(self, stored: StoredArray) -> PageHealth:
        """Read an array page by page, and return the corrections of each page instead of the data.

        A lost page is reported and raises no error. A page that is still in the write buffer (:meth:`flush`)
        has no corrections.
        """
        self._check_stored(stored)
        requests = []
        for lba in (lba for extent in stored.extents for lba in range(extent.lba, sum(extent))):
            region = self._dispatcher.region(1)
            command = Command(Opcode.READ, self.nsid, lba, 1, region.address, self._block_bytes)
            requests.append(Request(self.port, command, region=region))
            self._dispatcher.submit(requests[-1:])
        return Pending(
            self._dispatcher, requests, self.name,
            lambda requests: page_health([request.completion for request in requests if request.completion]),
            expected=(Status.SUCCESS, Status.UNRECOVERED_READ_ERROR),
        ).result()  # fmt: skip

    def flush(self) -> None:
        """Wait until all earlier appends are programmed to the flash."""
        self.flush_async().result()

    @serialised
    def flush_async(self) -> Pending[None]:
        return self._command(Command(Opcode.FLUSH, self.nsid))

    @serialised
    def drop(self, stored: StoredArray) -> None:
        """Drop an array: its handle is stale from now on, and its blocks are dead.

        A zone is reset, without waiting, as soon as it is full and all in it is dead. Reads by this port that
        were begun before are served. :class:`AccessDenied` for a port that may not append, which may not
        reset zones either. After a recovery, dropped arrays stay dropped for this process only.
        """
        self._check_stored(stored)
        self._begin_ring()
        self._ring.drop(stored.extents)
        self._reset_spent(self._ring.spent())

    @serialised
    def drop_all(self) -> None:
        """Drop all arrays that were appended so far, those in flight included; see :meth:`drop`.

        It takes no command by itself. Zones that are not full are reset, too, if less room is left than was
        appended between two such calls. Data that fit into an empty stream thus fit again.
        """
        self._begin_ring()
        self._ring.release()
        self._reset_spent(self._ring.spent())

    @serialised
    def drop_all_but(self, kept: Iterable[StoredArray]) -> None:
        """Drop all blocks up to the write pointers except those of these arrays; see :meth:`drop`.

        After a recovery this frees blocks that were dropped before, or whose append was not completed.
        Appends of this stream in flight are completed first.
        """
        kept = listed("kept", kept, "arrays that the stream has stored")
        for stored in kept:
            self._check_stored(stored)
        self._wait_for_own()
        self._begin_ring()
        self._ring.drop_all_but(extent for stored in kept for extent in stored.extents)
        self._reset_spent(self._ring.spent())

    @property
    def zones_reset(self) -> int:
        """The number of zones that were reset because all in them was dropped."""
        return self._ring.resets

    # The note.

    @property
    def note(self) -> bytes:
        """The note that was recorded with the stream's present generation; empty without one."""
        self._dispatcher.link.require_own()
        return b"" if self._journal is None else self._journal.entry(self.nsid).note

    @property
    def takes_notes(self) -> bool:
        """Whether a journal records the stream's note."""
        return self._journal is not None

    def annotate(self, note: bytes) -> None:
        """Record a note in the journal, in place of the one before; it survives a loss of power.

        A reset of the stream drops the note. :class:`NoteTooLong`, :class:`JournalMissing`, or
        :class:`AccessDenied` for a port that may not append; nothing has changed then.
        """
        self.annotate_async(note).result()

    @serialised
    def annotate_async(self, note: bytes) -> Pending[None]:
        """As :meth:`annotate`, without waiting for the device; :attr:`note` has the note at once."""
        journal = self._required_journal()
        instance(bytes, "note", note, "bytes")
        self._require_append()
        record = journal.annotate(self.nsid, note)
        return Pending(self._dispatcher, [record], self.name, lambda _: None)

    # Zones.

    @serialised
    def reset(self) -> None:
        """Empty the whole stream, and begin a new generation.

        In a node without a journal, the content of a non-volatile stream may reappear after a loss of power,
        until the first append.
        """
        self._finish(self.reset_async())

    @serialised
    def reset_async(self) -> Pending[None]:
        """As :meth:`reset`, without waiting; later commands of this port find the stream empty.

        If the journal records the reset, the record comes first, and later commands of this port wait for it.
        """
        pending = self._reset(Command(Opcode.STREAM_RESET, self.nsid))
        self._space.reset()
        return pending

    def open_zone(self, zone: int) -> None:
        """Open a zone explicitly: it holds an open resource until it is closed, full or reset."""
        self._manage(ZoneAction.OPEN, zone)

    def close_zone(self, zone: int) -> None:
        """Close an open zone: it releases its open resource, and stays active."""
        self._manage(ZoneAction.CLOSE, zone)

    def finish_zone(self, zone: int, unsure: bool = False) -> None:
        """Make a zone full: it accepts no more data.

        unsure: blocks behind its write pointer may have been lost, so that their reads are media errors.
        """
        self._manage(ZoneAction.FINISH, zone, unsure)

    @serialised
    def reset_zone(self, zone: int) -> None:
        """Empty one zone.

        In a node without a journal, the content of a non-volatile zone may reappear after a loss of power,
        until the first append.
        """
        self._space.forget()
        command = self._zone_reset(zone)
        record, drop = self._record_zone_reset(zone), self._generations.drop(zone)
        self._finish(self._command(command, after=record, on_failure=lambda: self._generations.undo(drop)))

    @serialised
    def take_offline(self, zone: int) -> None:
        """Take a read-only zone offline, by the standard's action."""
        self._manage(ZoneAction.OFFLINE, zone)
        self.report(zone)  # which the journal is told of

    @serialised
    def manage_all(self, action: ZoneAction) -> None:
        """Apply `action` to all zones whose state allows it."""
        action = member(ZoneAction, "action", action)
        self._space.forget()
        command = Command(Opcode.ZONE_MANAGEMENT_SEND, self.nsid, action=action, select_all=True)
        self._finish(self._reset(command) if action is ZoneAction.RESET else self._command(command))
        if action is ZoneAction.OFFLINE:
            self.report()  # which the journal is told of

    @serialised
    def retire_zone(self, zone: int, state: ZoneState) -> None:
        """Take a zone out of service: `ZoneState.READ_ONLY` or `ZoneState.OFFLINE`."""
        state = member(ZoneState, "state", state)
        self._space.forget()
        command = Command(Opcode.ZONE_RETIRE, self.nsid, slba=self._zone_start(zone), action=state)
        self._command(command).result()
        self.report(zone)  # which the journal is told of

    @serialised
    def report(self, first_zone: int = 0) -> list[ZoneInfo]:
        """State and write pointer of the zones from `first_zone` on."""
        size = report_bytes(self.zones)
        region = self._dispatcher.region(blocks_of(size, self._block_bytes))
        target = np.zeros(size, np.uint8)
        command = Command(
            Opcode.ZONE_MANAGEMENT_RECEIVE, self.nsid, slba=self._zone_start(first_zone),
            address=region.address, length=size,
        )  # fmt: skip
        self._command(command, region=region, target=target).result()
        report = parse_report(target.tobytes())
        zones = enumerate(report, first_zone)
        self._note_retired({number: zone for number, zone in zones if zone.state in RETIRED})
        return report

    @serialised
    def rooms(self) -> list[int | None]:
        """Blocks that can be appended to each zone, None for one out of service; mostly without a command."""
        self._dispatcher.require_enabled()
        self._know_space()
        space = self._space
        return [space.room_in(zone) if space.in_service(zone) else None for zone in range(self.zones)]

    @serialised
    def stored_at(self, extents: Iterable[Extent], shape: tuple[int, ...], dtype: DTypeLike) -> StoredArray:
        """A handle of the present content of these blocks, as an array of this shape and dtype."""
        joined = join(listed("extents", extents, "extents"), self.zone_size)
        room = sum(extent.blocks for extent in joined) * self._block_bytes
        known = isinstance(shape, tuple) and all(isinstance(n, int | np.integer) and n >= 0 for n in shape)
        if not known or prod(map(int, shape)) * element_type(dtype).itemsize > room:
            raise ArrayError(
                f"shape is {shape!r} of {dtype!r}; expected that of an array of {room} bytes at most"
            )
        return StoredArray(
            self._device, self.nsid, self._generations.generation, joined, shape, np.dtype(dtype)
        )

    # Implementation.

    def _require_append(self) -> None:
        if Access.APPEND not in self.table.access(self.port):
            raise command_error(Status.ACCESS_DENIED, self._zone_reset(0), self.port, self.name)

    def _required_journal(self) -> Recorder:
        if self._journal is None:
            raise JournalMissing(
                f"a note for stream {self.name!r}, whose node does not record it in a journal"
            )
        return self._journal

    @property
    def _in_flight(self) -> list[Request]:
        """The commands of this stream that are in flight."""
        return [request for request in self._dispatcher.in_flight if request.command.nsid == self.nsid]

    def _wait_for_own(self) -> None:
        """Wait until the commands of this stream that are in flight are done."""
        own = self._in_flight
        self._dispatcher.wait(lambda: all(request.done for request in own))

    def _check_stored(self, stored: StoredArray) -> None:
        if not isinstance(stored, StoredArray):
            raise ArrayError(f"read of a {type(stored).__name__}; expected the StoredArray that append gave")
        if stored.device != self._device:
            raise ForeignHandle(f"the array is stored on device {stored.device!r}; this is {self._device!r}")
        if stored.nsid != self.nsid:
            raise ForeignHandle(
                f"the array is stored in stream {stored.nsid}, not in {self.name!r} ({self.nsid})"
            )
        size, dead = self.zone_size, {}
        for zone in dict.fromkeys(extent.lba // size for extent in stored.extents):
            if not self._generations.holds(zone, stored.generation):
                raise StaleHandle(
                    f"the array is of generation {stored.generation} of stream {self.name!r}; "
                    f"zone {zone} was dropped since, by a drop of all, a reset, a format or a loss of power, "
                    f"and the stream is at generation {self._generations.generation}"
                )
            dead[zone] = self._generations.dead(zone)
        for lba, blocks in stored.extents:
            zone, start = divmod(lba, size)
            if dead[zone].overlaps(start, start + blocks):
                raise StaleHandle(f"the array at block {lba} of stream {self.name!r} was dropped by its user")

    def _reserve(self, blocks: int) -> Sequence[Extent]:
        self._dispatcher.require_enabled()
        self._know_space()
        now = self._turn_ring(blocks) if self._ring.in_use else None
        return self._space.reserve(blocks, now)

    def _turn_ring(self, blocks: int) -> int | None:
        """Leave zones that are old, and make room for an append; returns the time, if zones get old."""
        now = None
        if self.table.expired is Expired.REFUSE:
            now = self._dispatcher.link.read_register(Register.TIME)
            for zone in self._ring.aged(now, self.table.retention.filling):
                self._leave_zone(zone)
        self._reset_spent(self._ring.spent_for(blocks))
        self._know_space()  # the records of resets wait for commands, of which one may have failed
        return now

    def _know_space(self) -> None:
        if not self._space.known:
            self._space.learn(self.report())

    def _begin_ring(self) -> None:
        """Make sure that dead zones can be reset, and that the room and the age of the zones are known."""
        self._dispatcher.require_enabled()
        self._require_append()
        if not self._ring.in_use and self.table.expired is Expired.REFUSE:
            self._space.forget()
        self._know_space()

    def _reset_spent(self, zones: Iterable[int]) -> None:
        """Reset zones in which all is dead, without waiting; the next drop repeats a reset that failed."""
        for zone in zones:
            record = self._record_spent(zone)
            drop = self._ring.empty(zone)
            self._command(
                self._zone_reset(zone), after=record,
                on_failure=lambda zone=zone, drop=drop: self._ring.undo(zone, drop),
            )  # fmt: skip

    def _record_spent(self, zone: int) -> Request | None:
        journal = self._recording
        if journal is None:
            return None
        appends = [
            request
            for request in self._dispatcher.in_flight
            if request.command.opcode in _APPENDS
            and (request.command.nsid, request.command.slba // self.zone_size) == (self.nsid, zone)
        ]
        self._dispatcher.wait(lambda: all(request.done for request in appends))
        return journal.reset_zone(self.nsid, zone)

    def _leave_zone(self, zone: int) -> None:
        """Append no more to a zone: later data would be refused as early as its oldest."""
        if self._ring.is_all_dead(zone):
            self._reset_spent([zone])
        else:
            self._make_full(zone)

    def _make_full(self, zone: int) -> None:
        """Finish a zone before its end, without waiting."""
        self._ring.finish(zone)
        start, action = self._zone_start(zone), ZoneAction.FINISH
        self._command(
            Command(Opcode.ZONE_MANAGEMENT_SEND, self.nsid, slba=start, action=action),
            on_failure=lambda: self._ring.undo_finish(zone),
        )

    def _zone_reset(self, zone: int) -> Command:
        return Command(
            Opcode.ZONE_MANAGEMENT_SEND, self.nsid, slba=self._zone_start(zone), action=ZoneAction.RESET
        )

    def _split(self, extent: Extent) -> list[Extent]:
        """The extent in pieces of one command each."""
        # A quarter of the tensor buffer at most, so that copies and transfers overlap in a small one.
        most = min(self._config.max_blocks, max(1, self._dispatcher.buffer.blocks // 4))
        if extent.blocks <= most:
            return [extent]
        return [
            Extent(extent.lba + start, min(most, extent.blocks - start))
            for start in range(0, extent.blocks, most)
        ]

    def _write(self, opcode: Opcode, array: NDArray, pieces: Sequence[Extent]) -> Pending[StoredArray]:
        requests: list[Request] = []
        generations: dict[int, int] = {}  # by zone
        start, shape, dtype = 0, array.shape, array.dtype

        def elsewhere(command: Command, refused: CompletionEntry) -> Command | None:
            """Redirect a piece, unless another piece is lost, and with it the array."""
            lost = any(request.completion is not None and not request.completion.ok for request in requests)
            moved = None if lost else self._elsewhere(command, refused)
            if moved is not None:
                generations[moved.slba // self.zone_size] = self._generations.generation
            return moved

        for piece in pieces:
            generations.setdefault(piece.lba // self.zone_size, self._generations.generation)
            nbytes = piece.blocks * self._block_bytes
            slba = piece.lba if opcode is Opcode.WRITE else piece.lba // self.zone_size * self.zone_size
            region, at, keep = self._source(array, start, piece.blocks)
            command = Command(opcode, self.nsid, slba, piece.blocks, at, nbytes)
            requests.append(
                Request(
                    self.port, command, region=region, keep=keep, on_failure=self._space.forget,
                    retry_as=elsewhere if opcode is Opcode.ZONE_APPEND else None,
                )
            )  # fmt: skip
            self._dispatcher.submit(requests[-1:])
            start += nbytes

        def stored(requests: Sequence[Request]) -> StoredArray:
            extents = join((_extent_written(request) for request in requests), self.zone_size)
            zones = {extent.lba // self.zone_size for extent in extents}
            generation = self._generations.common({zone: generations[zone] for zone in zones})
            return StoredArray(self._device, self.nsid, generation, extents, shape, dtype)

        return Pending(self._dispatcher, requests, self.name, stored, on_error=self._look_for_retired)

    def _source(self, array: NDArray, start: int, blocks: int) -> tuple[Region | None, int, object]:
        """A region with blocks of an array from byte `start` on, their address, and what must live meanwhile.

        An array in the tensor buffer needs no region.
        """
        address = self._dispatcher.buffer.address_of(array)
        if address is not None:
            return None, address + start, array
        region = self._dispatcher.region(blocks)
        self._dispatcher.buffer.fill(region, as_bytes(array)[start : start + blocks * self._block_bytes])
        return region, region.address, None

    def _target(
        self, out: NDArray, start: int, blocks: int
    ) -> tuple[Region | None, int, NDArray[np.uint8] | None, object]:
        """The results of `_source`, for blocks that are read into `out`.

        The third is the place to copy the region to.
        """
        address = self._dispatcher.buffer.address_of(out)
        if address is not None:
            return None, address + start, None, out
        region = self._dispatcher.region(blocks)
        return region, region.address, as_bytes(out)[start : start + blocks * self._block_bytes], None

    def _elsewhere(self, append: Command, refused: CompletionEntry) -> Command | None:
        """The same append to another zone, if its own was retired meanwhile and another has room.

        None if commands in flight depend on the order.
        """
        in_order = all(request.command.opcode in _IN_ANY_ORDER for request in self._in_flight)
        if refused.status != Status.ZONE_IS_READ_ONLY or not in_order:
            return None
        self._space.retire(append.slba // self.zone_size)
        place = self._space.reserve_in_one(append.blocks)
        self._space.forget()  # reports in flight do not include it
        return None if place is None else append._replace(slba=place.lba // self.zone_size * self.zone_size)

    def _read(self, extents: Sequence[Extent], out: NDArray) -> Pending[NDArray]:
        requests: list[Request] = []
        start, octets = 0, as_bytes(out)
        address = self._dispatcher.buffer.address_of(out)
        for lba, blocks in (piece for extent in extents for piece in self._split(extent)):
            nbytes = blocks * self._block_bytes
            if address is None:
                region = self._dispatcher.region(blocks)
                command = Command(Opcode.READ, self.nsid, lba, blocks, region.address, nbytes)
                request = Request(self.port, command, region, octets[start : start + nbytes])
            else:
                command = Command(Opcode.READ, self.nsid, lba, blocks, address + start, nbytes)
                request = Request(self.port, command, keep=out)
            requests.append(request)
            self._dispatcher.submit([request])
            start += nbytes
        return Pending(self._dispatcher, requests, self.name, lambda _: out)

    def _command(
        self,
        command: Command,
        region: Region | None = None,
        target: NDArray[np.uint8] | None = None,
        after: Request | None = None,
        on_failure: Callable[[], None] | None = None,
    ) -> Pending[None]:
        def fail() -> None:
            self._space.forget()
            if on_failure is not None:
                on_failure()

        request = Request(self.port, command, region, target, on_failure=fail, after=after)
        self._dispatcher.submit([request])
        return Pending(self._dispatcher, [request], self.name, lambda _: None)

    def _reset(self, command: Command) -> Pending[None]:
        """Submit a command that begins a new generation, after its record."""
        journal, drop = self._recording, self._generations.drop()
        if journal is None:
            return self._command(command, on_failure=lambda: self._generations.undo(drop))
        before = journal.entry(self.nsid)

        def undo() -> None:
            self._generations.undo(drop)
            journal.undo(self.nsid, before)

        return self._command(command, after=journal.reset(self.nsid), on_failure=undo)

    def _record_zone_reset(self, zone: int) -> Request | None:
        journal = self._recording
        if journal is None:
            return None
        self._dispatcher.wait(
            lambda: all(request.command.nsid != self.nsid for request in self._dispatcher.in_flight)
        )
        report = self.report()
        in_use = zone < self.zones and report[zone].state not in UNCHANGED_BY_RESET
        return journal.reset_zone(self.nsid, zone) if in_use else None

    def _look_for_retired(self, error: CommandError) -> None:
        """Note the new state of the zone of a failed append or write."""
        if error.status in _OUT_OF_SERVICE and self._retirements is not None and self._dispatcher.enabled:
            with suppress(CommandError, BufferFull):
                self.report(error.lba // self.zone_size)

    def _note_retired(self, zones: dict[int, ZoneInfo]) -> None:
        self._generations.retired.update(zones)
        if self._retirements is not None:
            self._retirements.retire(self.nsid, zones)

    @property
    def _recorder(self) -> Recorder | None:
        """The journal, if changes of the stream are recorded; None for a port whose changes are refused."""
        return self._journal if Access.APPEND in self.table.access(self.port) else None

    @property
    def _recording(self) -> Recorder | None:
        """The recorder of a change of generation, which is refused as well while the stream is pinned."""
        journal = self._recorder
        return None if journal is None or self.nsid in journal.pinned else journal

    def _finish(self, pending: Pending[None]) -> None:
        """Wait for a change; if the device refused it, correct the journal."""
        try:
            pending.result()
        except CommandError:
            if self._journal is not None:
                self._journal.correct()
            raise

    @serialised
    def _manage(self, action: ZoneAction, zone: int, unsure: bool = False) -> None:
        self._space.forget()
        command = Command(
            Opcode.ZONE_MANAGEMENT_SEND, self.nsid, slba=self._zone_start(zone), action=action, unsure=unsure
        )
        self._command(command).result()

    def _zone_start(self, zone: int) -> int:
        return whole("zone", zone, most=_MOST_ADDRESS) * self.zone_size

    def _block_address(self, lba: int) -> int:
        return whole("lba", lba, most=_MOST_ADDRESS)


def _block_of(extents: Sequence[Extent], number: int) -> int:
    """The address of a block of an array, by its number in the array."""
    for extent in extents:
        if number < extent.blocks:
            return extent.lba + number
        number -= extent.blocks
    raise ValueError(f"block {number} past the end of the array")


def _extent_written(request: Request) -> Extent:
    """The extent of a successful write or append; an append's address is in its completion."""
    command = request.command
    if command.opcode is Opcode.ZONE_APPEND and request.completion is not None:
        return Extent(request.completion.result, command.blocks)
    return Extent(command.slba, command.blocks)
