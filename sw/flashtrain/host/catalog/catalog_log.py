"""The index of a catalogue in memory and on the flash, and its changes."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import StreamFull
from flashtrain.host.queues.command_errors import MediaError, ZoneOffline, ZoneReadOnly
from flashtrain.host.streams.stored import StoredArray
from flashtrain.host.streams.stream import DeviceStream

from .entry import Entry
from .errors import CatalogDamaged, CatalogFull
from .live_blocks import LiveBlocks
from .page_layout import PageLayout
from .parity import mended, parity_of
from .ranges_read import RangesRead
from .run import Run, resolved, runs_in
from .segment import Rows, Segment, pack_root, pack_rows, unpack_root, unpack_rows

_FAULTS = (MediaError, ZoneReadOnly, ZoneOffline)


class Part(NamedTuple):
    """Bytes of an append, and their offset in it."""

    offset: int
    data: NDArray[np.uint8]


class CatalogLog:
    """The entries of a catalogue, by name.

    A change is one append of new data and of a segment of the index, and then one record of the root in the
    journal. A new segment takes in newer segments that have no more pages than itself. So of n entries there
    are about log n segments, and an entry is written again about log n times.

    Members
    -------
    changing: the lock of a change; one thread at a time holds it.
    entries: by name.
    following: the number of the next assignment.
    live: the blocks that the entries and the index need.
    """

    def __init__(self, stream: DeviceStream) -> None:
        self.stream = stream
        self.changing = RLock()
        self._reading = RLock()  # held for moments: the entries and the places of their data change at once
        self._note: bytes | None = None
        self._size = stream.block_bytes
        self._clear(0)

    # Reads.

    def find(self, name: str) -> Entry | None:
        """The entry of an array, or None without one."""
        self._load()
        with self._reading:
            return self.entries.get(name)

    def names(self) -> list[str]:
        """All names, in the order of their assignments."""
        self._load()
        with self._reading:
            return list(self.entries)

    def name_of(self, number: int) -> str | None:
        """The name of the array of this assignment, or None if it was replaced or deleted."""
        self._load()
        with self._reading:
            return self._names.get(number)

    def begin_read(
        self, name: str, number: int | None, ranges: Sequence[tuple[int, int]], begin: int, end: int
    ) -> RangesRead | None:
        """Begin a read of ranges of an array's bytes; None if the name is not that of this assignment."""
        self._load()
        with self._reading:
            entry = self.entries.get(name)
            if entry is None or number not in (None, entry.number):
                return None
            what = f"array {name!r}"
            return RangesRead(self.stream, entry.runs, entry.generation, ranges, begin, end, what)

    # Changes; the caller holds `changing`.

    def index_blocks(self, changes: Mapping[str, Entry | None]) -> int:
        """The most blocks of a segment with all rows, after these changes."""
        rows = len(pack_rows(changes)) + 16 * len(changes)  # places that are not yet known
        nbytes = sum(segment.nbytes for segment in self._segments) + rows
        return self._pages(nbytes) + 2  # a page begun, and that of the parity

    def append(self, data: NDArray[np.uint8]) -> StoredArray:
        """Append bytes; after a program that failed for good, again in other zones."""
        for _ in range(self.stream.zones):
            try:
                return self.stream.append(data)
            except _FAULTS:
                continue
            except StreamFull as error:
                raise CatalogFull(f"the catalogue of stream {self.stream.name!r} is full: {error}") from error
        raise CatalogFull(f"no zone of stream {self.stream.name!r} takes the data: its programs fail")

    def commit(
        self,
        changes: Mapping[str, Entry | None],
        layout: PageLayout,
        parts: Sequence[Part],
        whole: bool = False,
    ) -> None:
        """Make changes durable, all or none: one append of `parts` and the index, and one record.

        Entries that have relative runs are in `parts`, which `layout` has placed.
        whole: the index becomes one segment.
        """
        whole = whole or self._worn
        segments, rows = self._merged(changes, whole)
        placed: Rows = {}
        if rows:
            raw = np.frombuffer(pack_rows(rows), np.uint8)
            index, spare = Part(layout.place(len(raw)), raw), parity_of(raw, self._size)
            pages = range(index.offset // self._size, self._pages(index.offset + len(raw)))
            parity = Part(layout.place(len(spare), apart=pages), spare)
            data = np.zeros(layout.blocks * self._size, np.uint8)
            for part in (*parts, index, parity):
                data[part.offset : part.offset + len(part.data)] = part.data
            stored = self.append(data)
            placed = {name: self._placed(entry, stored) for name, entry in rows.items()}
            crc = crc32(raw.data)
            segments.append(Segment(stored.extents, index.offset, len(raw), crc, parity.offset, placed))
        following = max([self.following, *(entry.number + 1 for entry in changes.values() if entry)])
        note = pack_root(following, segments)
        self.stream.annotate(note)
        with self._reading:
            self.following = following
            self._exchange({name: placed.get(name) for name in changes}, segments)
            self._note = note
            self._worn = False

    def _merged(self, changes: Mapping[str, Entry | None], whole: bool) -> tuple[list[Segment], Rows]:
        """The segments that stay, and the rows of the new one."""
        if whole:
            return self._snapshot(changes)
        segments, taken = list(self._segments), [dict(changes)]
        nbytes = len(pack_rows(changes))
        while segments and self._pages(segments[-1].nbytes) <= self._pages(nbytes):
            nbytes += segments[-1].nbytes
            taken.append(segments.pop().rows)
        rows: Rows = {}
        for older in reversed(taken):
            rows.update(older)
        return (segments, rows) if segments and len(rows) < len(self.entries) else self._snapshot(changes)

    def _snapshot(self, changes: Mapping[str, Entry | None]) -> tuple[list[Segment], Rows]:
        rows = {**self.entries, **changes}
        return [], {name: entry for name, entry in rows.items() if entry is not None}

    def _placed(self, entry: Entry | None, stored: StoredArray) -> Entry | None:
        if entry is None or all(run.address >= 0 for run in entry.runs):
            return entry
        return entry.at(self._resolved(entry.runs, stored), stored.generation)

    def _resolved(self, runs: Iterable[Run], stored: StoredArray | Segment) -> list[Run]:
        return resolved(runs, stored.extents, self._size, self.stream.zone_size * self._size)

    def _exchange(self, changes: Mapping[str, Entry | None], segments: list[Segment]) -> None:
        for name, entry in changes.items():
            before = self.entries.pop(name, None)
            if before is not None:
                self.live.remove(before.runs)
                if self._names.get(before.number) == name:
                    del self._names[before.number]
            if entry is not None:
                self.live.add(entry.runs)
                self.entries[name], self._names[entry.number] = entry, name
        kept = {id(segment) for segment in segments}
        known = {id(segment) for segment in self._segments}
        for segment in self._segments:
            if id(segment) not in kept:
                self.live.remove(segment.all_runs(self._size))
        for segment in segments:
            if id(segment) not in known:
                self.live.add(segment.all_runs(self._size))
        self._segments = segments

    def live_runs(self) -> list[Run]:
        """All that the catalogue needs of the stream."""
        runs = [run for entry in self.entries.values() for run in entry.runs]
        return runs + [run for segment in self._segments for run in segment.all_runs(self._size)]

    # Opening.

    def _load(self) -> None:
        """Read the index, if the note of the stream is not the one of the entries in memory."""
        if self.stream.note == self._note:
            return
        with self.changing:
            note = self.stream.note
            if note == self._note:
                return
            following, segments = unpack_root(note)
            generation = self.stream.stored_at((), (0,), np.uint8).generation
            reads = [self._read(segment.runs(self._size), generation) for segment in segments]
            worn = False
            loaded: list[Segment] = []
            for segment, read in zip(segments, reads, strict=True):
                raw = self._result(read)
                if raw is None or crc32(raw.data) != segment.crc:
                    raw, worn = self._mended(segment, generation), True
                loaded.append(self._loaded(segment, raw.tobytes(), generation))
            rows: Rows = {}
            for segment in loaded:
                rows.update(segment.rows)
            with self._reading:
                self._clear(max(following, self.following))  # views of this process refer to numbers
                self._exchange({name: entry for name, entry in rows.items() if entry is not None}, loaded)
                self._note, self._worn = note, worn

    def _read(self, runs: Sequence[Run], generation: int) -> RangesRead:
        nbytes, what = sum(run.nbytes for run in runs), f"the index in stream {self.stream.name!r}"
        return RangesRead(self.stream, runs, generation, [(0, nbytes)], 0, nbytes, what)

    def _result(self, read: RangesRead) -> NDArray[np.uint8] | None:
        """The bytes of a read; None if a page is lost."""
        with suppress(CatalogDamaged):
            return read.result()
        return None

    def _mended(self, segment: Segment, generation: int) -> NDArray[np.uint8]:
        """The bytes of a segment of which a page is lost or wrong, by the parity of its pages."""
        pages = [
            self._result(self._read(runs_in(segment.extents, start, nbytes, self._size), generation))
            for start, nbytes in self._page_ranges(segment)
        ]
        parity = None
        if segment.parity is not None:
            parity = self._result(self._read(segment.parity_runs(self._size), generation))
        if parity is not None:
            raw = mended(pages, segment.nbytes, self._size, parity, segment.crc)
            if raw is not None:
                return raw
        lost = sum(page is None for page in pages) + (segment.parity is not None and parity is None)
        raise CatalogDamaged(
            f"{lost or 'some'} of the {len(pages)} pages of a segment of the index in stream"
            f" {self.stream.name!r} {'is' if lost == 1 else 'are'} lost, and no parity replaces"
            f" {'it' if lost == 1 else 'them'}"
        )

    def _page_ranges(self, segment: Segment) -> Iterable[tuple[int, int]]:
        """Place in the append, and length, of the bytes of a segment on each of its pages."""
        for start in range(0, segment.nbytes, self._size):
            yield segment.offset + start, min(self._size, segment.nbytes - start)

    def _loaded(self, segment: Segment, raw: bytes, generation: int) -> Segment:
        rows: Rows = {
            name: None if entry is None else entry.at(self._resolved(entry.runs, segment), generation)
            for name, entry in unpack_rows(raw).items()
        }
        return replace(segment, rows=rows)

    def _clear(self, following: int) -> None:
        self.entries: dict[str, Entry] = {}
        self.following = following
        self.live = LiveBlocks(self._size, self.stream.zone_size)
        self._names: dict[int, str] = {}
        self._segments: list[Segment] = []
        self._worn = False  # a segment has lost a page: the next change writes the index anew

    def _pages(self, nbytes: int) -> int:
        return -(-nbytes // self._size)
