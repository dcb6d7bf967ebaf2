"""A record of the journal: its fields, and its bytes."""

import struct
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Geometry, ZoneState
from flashtrain.spec.identity import GENERATION_LIMIT
from flashtrain.spec.journal import (
    FIRST_PIN,
    MOMENTS,
    RecordCopy,
    RecordFlag,
    RecordMoment,
    RecordStream,
    RecordWritten,
    packing,
)
from flashtrain.spec.nvme import RETIRED
from flashtrain.spec.registers import MAX_STREAMS

from .allocation_times import Moment
from .record_blocks import Place, RecordBlocks

_FLAGS = struct.Struct("<I")
_STREAM, _COPY, _MOMENT = packing(RecordStream), packing(RecordCopy), packing(RecordMoment)
_NEVER = Moment((1 << 32) - 1, 0)


@dataclass(frozen=True)
class StreamEntry:
    """A stream's generation, modulo the range of identities, and whether it was committed.

    - commit: the number of the record that committed it; 0: not committed.
    - updates: the number of updates that led to the committed generation.
    - pinned: the generation is kept until its release.
    - note: what the user has recorded with the generation.
    - page: of the stream's first zone, where the committed generation begins.
    """

    generation: int = 0
    commit: int = 0
    updates: int = 0
    pinned: bool = False
    note: bytes = b""
    page: int = 0

    @property
    def next(self) -> "StreamEntry":
        """The entry after a reset."""
        return StreamEntry((self.generation + 1) % GENERATION_LIMIT)


@dataclass(frozen=True)
class ZoneCopy:
    """A zone in refresh, and the spare zone of its stream that receives its content; both count device-wide.

    whole: the spare zone has all the content, which is being copied back. Otherwise the zone has it, and the
    content of the spare zone is not needed.
    """

    zone: int
    spare: int
    whole: bool = False


@dataclass(frozen=True)
class Record:
    """A snapshot of all that the journal holds.

    - number: records are numbered from 1.
    - streams: entries by NSID.
    - floors: by logical zone of the device, the lowest sequence number that is not stale.
    - wear: erase counts by physical zone, as of the last time they were read.
    - pointers: in a clean record, the written blocks by logical zone; 0: none, or an unknown number.
    - full: the logical zones among these that take no more.
    - clean: the controller was shut down after this record.
    - replaced: spares may be in use; in a clean record they are.
    - moments: allocation times.
    - copy: a refresh that has not ended.
    - retired: states by logical zone, of zones out of service.
    """

    number: int
    streams: dict[int, StreamEntry] = field(default_factory=dict)
    floors: tuple[int, ...] = ()
    wear: tuple[int, ...] = ()
    pointers: tuple[int, ...] = ()
    full: frozenset[int] = frozenset()
    clean: bool = False
    replaced: bool = True
    moments: tuple[Moment, ...] = ()
    copy: ZoneCopy | None = None
    retired: dict[int, ZoneState] = field(default_factory=dict)

    def stream(self, nsid: int) -> StreamEntry:
        return self.streams.get(nsid, StreamEntry())


class RecordFormat:
    """The format of records (`flashtrain.spec.journal`) for a device of this geometry."""

    def __init__(self, geometry: Geometry) -> None:
        self._zones = geometry.zones
        self._blocks = RecordBlocks(geometry.page_bytes)
        self._map_bytes = -(-self._zones // 8)
        self._nbytes = (
            _FLAGS.size + MAX_STREAMS * _STREAM.size + 3 * 4 * self._zones + _COPY.size
            + MOMENTS * _MOMENT.size + len(RETIRED) * self._map_bytes
        )  # fmt: skip

    @property
    def least_blocks(self) -> int:
        """Logical blocks of a record without notes."""
        return self._blocks.count(self._nbytes)

    def blocks(self, record: Record) -> int:
        """Logical blocks of a record."""
        return self._blocks.count(self._nbytes + sum(len(entry.note) for entry in record.streams.values()))

    def note_bytes(self, blocks: int) -> int:
        """Bytes of all notes in a record of so many blocks."""
        return blocks * self._blocks.payload - self._nbytes

    def pack(self, record: Record) -> NDArray[np.uint8]:
        """The blocks of a record, uint8[blocks, block]."""
        entries = [record.stream(nsid) for nsid in range(1, MAX_STREAMS + 1)]
        copy = record.copy or ZoneCopy(0, 0)
        flags = record.clean * RecordFlag.CLEAN | record.replaced * RecordFlag.REPLACED
        flags |= (record.copy is not None) * RecordFlag.COPIED | copy.whole * RecordFlag.COPY_WHOLE
        flags |= sum(entry.pinned << FIRST_PIN + number for number, entry in enumerate(entries))
        data = _FLAGS.pack(flags)
        for entry in entries:
            data += _STREAM.pack(entry.generation, entry.page, entry.commit, entry.updates, len(entry.note))
        w = RecordWritten
        written = [
            w.blocks.put(blocks) | w.full.put(zone in record.full)
            for zone, blocks in enumerate(record.pointers)
        ]
        for numbers in (record.floors, record.wear, written):
            data += struct.pack(f"<{self._zones}I", *(numbers or (0,) * self._zones))
        data += _COPY.pack(copy.zone, copy.spare)
        for moment in (*record.moments, *(_NEVER,) * (MOMENTS - len(record.moments))):
            data += _MOMENT.pack(*moment)
        for state in RETIRED:
            zones = sum(1 << zone for zone, retired in record.retired.items() if retired is state)
            data += zones.to_bytes(self._map_bytes, "little")
        data += b"".join(entry.note for entry in entries)
        return self._blocks.split(record.number, data)

    def place(self, block: NDArray[np.uint8]) -> Place | None:
        """The place of a block, uint8[block], in its record; None if its head is damaged."""
        return self._blocks.place(block)

    def parse(self, blocks: NDArray[np.uint8]) -> Record | None:
        """The record that `pack` has put into the blocks; None if they are not a whole record."""
        found = self._blocks.join(blocks)
        if found is None:
            return None
        number, data = found
        (flags,) = _FLAGS.unpack_from(data)
        at = _FLAGS.size
        heads = [_STREAM.unpack_from(data, at + i * _STREAM.size) for i in range(MAX_STREAMS)]
        at += MAX_STREAMS * _STREAM.size
        each = struct.Struct(f"<{self._zones}I")
        floors, wear, written = (each.unpack_from(data, at + i * each.size) for i in range(3))
        pointers = tuple(RecordWritten.blocks.get(one) for one in written)
        full = frozenset(zone for zone, one in enumerate(written) if RecordWritten.full.get(one))
        at += 3 * each.size
        zone, spare = _COPY.unpack_from(data, at)
        copy = (
            ZoneCopy(zone, spare, bool(flags & RecordFlag.COPY_WHOLE)) if flags & RecordFlag.COPIED else None
        )
        at += _COPY.size
        stored = (Moment(*_MOMENT.unpack_from(data, at + i * _MOMENT.size)) for i in range(MOMENTS))
        moments = tuple(moment for moment in stored if moment != _NEVER)
        at += MOMENTS * _MOMENT.size
        retired = {}
        for i, state in enumerate(RETIRED):
            start = at + i * self._map_bytes
            zones = int.from_bytes(data[start : start + self._map_bytes], "little")
            retired |= {zone: state for zone in range(self._zones) if zones >> zone & 1}
        at += len(RETIRED) * self._map_bytes
        streams = {}
        for i, (generation, page, commit, updates, length) in enumerate(heads):
            pinned, note = bool(flags >> FIRST_PIN + i & 1), data[at : at + length]
            streams[i + 1] = StreamEntry(generation, commit, updates, pinned, note, page)
            at += length
        clean, replaced = bool(flags & RecordFlag.CLEAN), bool(flags & RecordFlag.REPLACED)
        return Record(number, streams, floors, wear, pointers, full, clean, replaced, moments, copy, retired)
