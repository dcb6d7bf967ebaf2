"""The log of names in one zone: it begins with a snapshot, and changes follow."""

from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import Status

from .errors import NamesDamaged, StreamRefused
from .record import MAGIC, Assembly, Kind, Record, blocks_at, is_cut, part_at
from .state import Change, State
from .stream import WRITABLE, Stream

_HOLE_BYTES = 1 << 20
"""A full zone may end early. So many bytes without a record are its end."""


class NamesZone:
    """Reads the log of a zone, and goes on from where it was.

    A record counts if its number follows that of the last one that counts. A writer that did not know the one
    before has lost a race, and repeats its change. So all readers agree on the names.

    Members
    -------
    zone: its number. state: the names; None without a whole snapshot. epoch: of the snapshot, which ends
    after `snapshot_blocks`.
    pointer: the block from which on nothing has been read.
    sealed: the zone accepts no more data, and all of it has been read.
    hole: a block in front of the write pointer has no record, since an append may be in flight.
    same: the zone had the log when it was read last, and was not reset meanwhile.
    """

    def __init__(self, stream: Stream, zone: int) -> None:
        self._stream = stream
        self._assembly = Assembly()
        self._first = b""
        self._lost: set[int] = set()  # blocks whose pages are lost
        self.zone = zone
        self.state: State | None = None
        self.epoch = self.snapshot_blocks = 0
        self.pointer = zone * stream.zone_size
        self.sealed = self.hole = False
        self.same = True

    def read(self, info: ZoneInfo, skip_holes: bool = False) -> None:
        """Read what has been appended since. `info` is the zone's descriptor, from a report after that."""
        self.hole = False
        if info.write_pointer is not None and info.state in WRITABLE:
            self._read_to(info.write_pointer, skip_holes)
            return
        size = self._stream.block_bytes
        most = min(self._stream.shape.most, max(1, _HOLE_BYTES // size))
        end, last = info.start + info.capacity, self.pointer
        while self.pointer < end and (self.pointer - last) * size < _HOLE_BYTES and self.same:
            last = self._read_to(min(end, self.pointer + most), skip_holes=True) or last
        self.sealed = True

    def check(self) -> bool:
        """Look whether the zone still has this log, and was not reset meanwhile."""
        self.same = self._blocks([Extent(self.zone * self._stream.zone_size, 1)]) == self._first
        return self.same

    @property
    def foreign(self) -> bool:
        """Whether the zone has data that are none of a log."""
        return bool(self._first.strip(b"\0")) and not self._first.startswith(MAGIC)

    def _read_to(self, end: int, skip_holes: bool) -> int | None:
        """Read to a block; the end of the last part that was found, or None."""
        size, start, last = self._stream.block_bytes, self.pointer, None
        if start >= end:
            return None
        head = Extent(self.zone * self._stream.zone_size, 1)
        raw = self._blocks([head, Extent(start, end - start)])
        self._first, first = self._first or raw[:size], raw[:size]
        self.same = self._first == first
        if not self.same:
            return None
        data = memoryview(raw)[size:]
        while self.pointer < end:
            rest = data[(self.pointer - start) * size :]
            if blocks := self._read_part(rest):
                self.pointer += blocks
                last = self.pointer
            elif self.pointer > start and is_cut(rest):
                break
            elif skip_holes:
                self.pointer += 1
            elif not self._lost.isdisjoint(range(self.pointer, self.pointer + blocks_at(rest, size))):
                self.pointer = min(end, self.pointer + blocks_at(rest, size))  # the copy follows
            else:
                self.hole = True
                break
        return last

    def _read_part(self, data: memoryview) -> int:
        """Take in the part that begins here; its blocks, or 0 if there is none.

        :class:`NamesDamaged` for a part with a right checksum that no client of this version has written.
        """
        try:
            part = part_at(data, self._stream.block_bytes)
            if part is None:
                return 0
            for record in self._assembly.add(part):
                self._take(record, self.pointer + 2 * part.blocks)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise NamesDamaged(
                f"stream {self._stream.name!r} has a record in block {self.pointer} that is none of names"
                f" ({error})"
            ) from error
        return part.blocks

    def _take(self, record: Record, end: int) -> None:
        """Apply a record, whose last part has its copy up to block `end`."""
        if self.state is None:
            if record.kind is Kind.SNAPSHOT:
                self.state, self.epoch = State.unpack(record.document, record.sequence), record.epoch
                self.snapshot_blocks = end - self.zone * self._stream.zone_size
        elif (
            record.kind is Kind.CHANGE
            and record.epoch == self.epoch
            and record.sequence == self.state.sequence + 1
        ):
            self.state.apply(Change.unpack(record.document), record.token)

    def _blocks(self, extents: list[Extent]) -> bytes:
        """Blocks, with zeros in the place of those that cannot be read."""
        try:
            return bytes(self._stream.read(extents))
        except StreamRefused as refused:
            single = [Extent(lba + block, 1) for lba, blocks in extents for block in range(blocks)]
            if len(single) == 1:
                if refused.status == Status.UNRECOVERED_READ_ERROR:
                    self._lost.add(single[0].lba)
                return bytes(self._stream.block_bytes)
            return b"".join(self._blocks([one]) for one in single)
