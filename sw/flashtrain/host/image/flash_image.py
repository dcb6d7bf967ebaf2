"""An open image: its records and cells."""

import ctypes
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.checksums import crc32_rows
from flashtrain.spec import ConfigError, Geometry, NodeTable
from flashtrain.spec.bad_blocks import is_mark, marked_pages
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.image import (
    BLOCK,
    BLOCKS_AT,
    CLOCK,
    CLOCK_AT,
    DIE,
    DIES_AT,
    NODE,
    NODE_AT,
    PAGE,
    STREAM,
    UNIT,
    ZONE,
    BlockFlag,
    BlockRecord,
    DieFlag,
    ImageLayout,
    PageRecord,
    PageState,
    StreamRecord,
    opened,
    sealed,
)
from flashtrain.spec.node_text import node_of, node_text
from flashtrain.spec.registers import MAX_STREAMS

from ..errors import ImageDamaged, ImageError, ImageMismatch
from ..process import ProcessOwned
from .fields import fault_of_block, fault_of_die, fault_of_drop, fault_of_page, fault_of_stream, fault_of_time
from .places import BlockPlace, PageRun, StoredPage

_PUNCH_HOLE = 3  # FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE
_AT_ONCE = 1 << 20
"""Bytes of a table that are read at once."""
_PAGES = np.dtype(
    [("erases", "<u4"), ("state", "<u4"), ("time", "<f8"), ("crc", "<u4"), ("unused", "<u8"), ("seal", "<u4")]
)
"""`PAGE` for arrays of records."""

RecordT = TypeVar("RecordT")


class FlashImage(ProcessOwned):
    """The arrays of a device in a file that this process has locked.

    Each change is one write to the page cache of the operating system, so an end of the process loses none.
    A page counts as programmed from the write of its record on, which follows that of its cells.

    - serial: a random number, different for each image.
    - new: the file was created for this device, and everything in it is erased.
    - clock: a time in seconds that nothing in the file is younger than.
    - damage: what was damaged when it was opened, each in one line; it and the clock are set by `repair`.
    """

    subject = "the image of a flash"
    _open = False

    def __init__(self, path: Path, descriptor: int, geometry: Geometry, serial: bytes, new: bool) -> None:
        self.path = path
        self.descriptor = descriptor
        self.geometry = geometry
        self.layout = ImageLayout(geometry)
        self.serial = serial
        self.new = new
        self.damage: tuple[str, ...] = ()
        self.clock = 0.0
        self._open = True  # from now on the descriptor is the image's to close

    def close(self) -> None:
        """Write everything to the disk and release the lock; once is enough."""
        if self._open:
            self._open = False
            try:
                os.fsync(self.descriptor)
            except OSError as error:
                raise self.failed(error.strerror) from error
            finally:
                os.close(self.descriptor)

    def forked(self) -> None:
        """Close the file: the lock ends with the process that opened the image."""
        super().forked()
        if self._open:
            self._open = False
            os.close(self.descriptor)

    # The clock.

    def keep_time(self, seconds: float) -> None:
        """Set the clock to at least this time, in whole seconds."""
        if seconds > self.clock:
            self.set_clock(float(math.ceil(seconds)))

    def set_clock(self, seconds: float) -> None:
        if fault := fault_of_time("seconds", seconds):
            raise ConfigError(fault)
        self.clock = seconds
        self._seal(CLOCK, CLOCK_AT, seconds)

    def read_clock(self) -> float:
        """The clock of the file; :class:`ImageDamaged` if it is none."""
        (clock,) = self._record(CLOCK, CLOCK_AT, "the clock")
        return self._checked(clock, fault_of_time("seconds", clock), "the clock")

    # Dies.

    def hung_dies(self) -> list[tuple[int, int]]:
        """Channel and die of those that hang."""
        g = self.geometry
        return [(c, d) for c in range(g.channels) for d in range(g.dies) if self.die(c, d) & DieFlag.HUNG]

    def die(self, channel: int, die: int) -> int:
        """`DieFlag`; :class:`ImageDamaged` for a record that is none."""
        what = f"channel {channel} die {die}"
        (flags,) = self._record(DIE, self._die_at(channel, die), what)
        return self._checked(flags, fault_of_die(flags), what)

    def set_die(self, channel: int, die: int, flags: int) -> None:
        self._seal(DIE, self._die_at(channel, die), flags)

    def _die_at(self, channel: int, die: int) -> int:
        return DIES_AT + (channel * self.geometry.dies + die) * DIE.size

    # The table of streams.

    @property
    def node(self) -> NodeTable | None:
        """The table of the last device that was enabled with this image; None before the first one."""
        (raw,) = self._record(NODE, NODE_AT, "the table of streams")
        text = raw.rstrip(b"\0")
        try:
            return node_of(text.decode()) if text else None
        except (ValueError, KeyError, TypeError) as error:
            raise ImageMismatch(
                f"{self.path}: table of streams {text[:60]!r}...; expected one that this program knows"
            ) from error

    def keep_node(self, node: NodeTable) -> None:
        """Note the table of the device that uses this image; :class:`ImageError` if it is too long."""
        text, room = node_text(node).encode(), NODE.size - 4
        if len(text) > room:
            raise ImageError(f"{self.path}: a table of streams of {len(text)} bytes; expected at most {room}")
        if sealed(NODE, NODE_AT, text) != self._read(NODE_AT, NODE.size):
            self._seal(NODE, NODE_AT, text)

    # Streams, for their handles.

    def stream(self, nsid: int) -> StreamRecord:
        record = StreamRecord._make(self._record(STREAM, self.layout.stream(nsid), f"stream {nsid}"))
        return self._checked(record, fault_of_stream(record), f"stream {nsid}")

    def set_stream(self, nsid: int, record: StreamRecord) -> None:
        self._seal(STREAM, self.layout.stream(nsid), *record)

    def zone_drop(self, nsid: int, zone: int) -> int:
        what = f"zone {zone} of stream {nsid}"
        (drop,) = self._record(ZONE, self.layout.zone(nsid, zone), what)
        return self._checked(drop, fault_of_drop(drop), what)

    def set_zone_drop(self, nsid: int, zone: int, drop: int) -> None:
        self._seal(ZONE, self.layout.zone(nsid, zone), drop)

    def written_zone_drops(self) -> Iterator[tuple[int, int]]:
        """NSID and zone of the records that are not zeros."""
        zones = self.geometry.zones
        rows = np.frombuffer(self._read(self.layout.zones_at, MAX_STREAMS * zones * ZONE.size), np.uint8)
        for number in np.flatnonzero(rows.reshape(-1, ZONE.size).any(axis=1)).tolist():
            stream, zone = divmod(number, zones)
            yield stream + 1, zone

    # Blocks, by their numbers of `ImageLayout.block`.

    def place(self, number: int) -> BlockPlace:
        g = self.geometry
        number, block = divmod(number, g.blocks)
        number, plane = divmod(number, g.planes)
        return BlockPlace(*divmod(number, g.dies), plane, block)

    def block(self, number: int) -> BlockRecord:
        at = BLOCKS_AT + number * BLOCK.size
        return self.block_of(number, self._read(at, BLOCK.size))

    def set_block(self, number: int, record: BlockRecord) -> None:
        self._seal(BLOCK, BLOCKS_AT + number * BLOCK.size, *record)

    def set_flag(self, number: int, flag: BlockFlag, on: bool = True) -> None:
        record = self.block(number)
        self.set_block(number, record._replace(flags=record.flags | flag if on else record.flags & ~flag))

    def erase(self, number: int) -> None:
        """Count an erase; the block's pages are then those of an earlier one, and their cells are freed."""
        before = self.block(number)
        self.set_block(number, BlockRecord(before.erases + 1, 0, before.flags & ~BlockFlag.CUT))
        self._free(self.layout.cells(number, 0), self.layout.cells_of_block)

    def flagged_blocks(self) -> Iterator[tuple[int, BlockRecord]]:
        """Blocks with any `BlockFlag`."""
        return ((number, record) for number, record in self.used_blocks() if record.flags)

    def used_blocks(self) -> Iterator[tuple[int, BlockRecord]]:
        """Blocks that were erased or flagged at least once."""
        for number, raw in self.written_blocks():
            yield number, self.block_of(number, raw)

    def written_blocks(self) -> Iterator[tuple[int, bytes]]:
        """The records of these blocks as the file has them."""
        table = self._read(BLOCKS_AT, self.layout.block_count * BLOCK.size)
        rows = np.frombuffer(table, np.uint8).reshape(-1, BLOCK.size)
        for number in np.flatnonzero(rows.any(axis=1)).tolist():
            yield number, rows[number].tobytes()

    def block_of(self, number: int, raw: bytes) -> BlockRecord:
        """The record of a block; :class:`ImageDamaged` if it is none."""
        fields = opened(BLOCK, BLOCKS_AT + number * BLOCK.size, raw)
        if fields is None:
            raise self._wrong_checksum(self.place(number))
        record = BlockRecord._make(fields)
        fault = fault_of_block(record)
        return record if fault is None else self._checked(record, fault, self.place(number))

    # Pages.

    def pages(self, number: int) -> list[StoredPage]:
        """The pages of a block that were programmed since its last erase."""
        erases, first = self.block(number).erases, self.layout.page_record(number, 0)
        table = self._read(first, self.geometry.pages * PAGE.size)
        found = []
        for page in range(self.geometry.pages if table != bytes(len(table)) else 0):
            raw = table[page * PAGE.size : (page + 1) * PAGE.size]
            if any(raw) and (stored := _page_of(page, first + page * PAGE.size, raw, erases)):
                found.append(stored)
        return found

    def blocks_with_pages(self) -> Iterator[int]:
        """Numbers of the blocks whose page records may have been written; the file has none of others."""
        at, end = self.layout.pages_at, self.layout.cells_at
        size = self.geometry.pages * PAGE.size
        following = 0
        while at < end:
            try:
                begin = os.lseek(self.descriptor, at, os.SEEK_DATA)
            except OSError:  # there is a hole up to the end of the file
                return
            at = min(end, os.lseek(self.descriptor, begin, os.SEEK_HOLE))
            first = max(following, (begin - self.layout.pages_at) // size)
            following = min(self.layout.block_count, -(-(at - self.layout.pages_at) // size))
            yield from range(first, following)

    def page_records(self) -> Iterator[tuple[int, NDArray[np.void]]]:
        """Runs of records of pages that may have been written, each with the number of its first page.

        The number counts the pages of all blocks. The fields are those of `PageRecord`.
        """
        at, end = self.layout.pages_at, self.layout.cells_at
        while at < end:
            try:
                at = os.lseek(self.descriptor, at, os.SEEK_DATA) // UNIT * UNIT
            except OSError:  # there is a hole up to the end of the file
                return
            size = min(end, at + _AT_ONCE) - at
            if size <= 0:
                return
            yield (at - self.layout.pages_at) // PAGE.size, np.frombuffer(self._read(at, size), _PAGES)
            at += size

    def page_record(self, number: int, page: int) -> tuple[PageRecord, bool]:
        """A record as the file has it, and whether its checksum is right."""
        at = self.layout.page_record(number, page)
        raw = self._read(at, PAGE.size)
        record = PageRecord._make(PAGE.unpack(raw)[:-1])
        return record, raw == sealed(PAGE, at, *record)

    def set_page_record(self, number: int, page: int, record: PageRecord) -> None:
        self._seal(PAGE, self.layout.page_record(number, page), *record)

    def mark_of(self, number: int) -> int | None:
        """The number of the page with the mark of the block's maker; None without one."""
        begin = self.geometry.page_bytes
        pages = [page.number for page in self.pages(number)]
        marks = [page for page in marked_pages(self.geometry.pages) if page in pages]
        place = slice(begin, begin + PageIdentity.BYTES)
        return next((page for page in marks if is_mark(self.cells(number, page)[place], ours=0)), None)

    def cells(self, number: int, page: int) -> bytes:
        return self._read(self.layout.cells(number, page), self.geometry.raw_page_bytes)

    def program(self, runs: Iterable[PageRun], time: float, state: PageState = PageState.WHOLE) -> None:
        """Write the cells of all runs of pages, then their records."""
        written, records = [], []
        for run in runs:
            self._write(self.layout.cells(run.number, run.page), run.cells.reshape(-1).data)
            part = np.zeros(len(run.cells), _PAGES)
            part["erases"] = self.block(run.number).erases
            part["crc"] = [crc32(cells) for cells in run.cells]
            written.append((self.layout.page_record(run.number, run.page), len(part)))
            records.append(part)
        rows = np.concatenate(records)
        rows["state"], rows["time"] = state, time
        sealed_rows = _sealed(rows, np.concatenate([at + PAGE.size * np.arange(n) for at, n in written]))
        begin = 0
        for at, count in written:
            self._write(at, sealed_rows[begin : begin + count].reshape(-1).data)
            begin += count

    def is_whole(self, number: int, page: StoredPage) -> bool:
        """Whether the checksums of a page's record and of its cells are right."""
        return not page.damaged and crc32(self.cells(number, page.number)) == page.record.crc

    def damaged_pages(self) -> Iterator[tuple[BlockPlace, int]]:
        """Block and number of each page whose checksum is wrong: bits of the file have changed."""
        for number in range(self.layout.block_count):
            for page in self.pages(number):
                if not self.is_whole(number, page):
                    yield self.place(number), page.number

    # Bytes.

    def _record(self, layout: Struct, at: int, what: str) -> tuple[Any, ...]:
        fields = opened(layout, at, self._read(at, layout.size))
        if fields is None:
            raise self._wrong_checksum(what)
        return fields

    def _checked(self, record: RecordT, fault: str | None, what: object) -> RecordT:
        if fault is not None:
            raise ImageDamaged(f"{self.path}: the record of {what}: {fault}")
        return record

    def _wrong_checksum(self, what: object) -> ImageDamaged:
        return ImageDamaged(f"{self.path}: the record of {what} has another checksum than it says")

    def _seal(self, layout: Struct, at: int, *fields: float | bytes) -> None:
        self._write(at, sealed(layout, at, *fields))

    def _read(self, at: int, size: int) -> bytes:
        self.require_own()
        try:
            raw = os.pread(self.descriptor, size, at)
        except OSError as error:
            raise self.failed(error.strerror) from error
        if len(raw) < size:
            raise ImageDamaged(f"{self.path}: {size} bytes at {at} are missing: it is truncated")
        return raw

    def _write(self, at: int, raw: bytes | memoryview) -> None:
        self.require_own()
        try:
            written = os.pwrite(self.descriptor, raw, at)
            while written < len(raw):
                written += os.pwrite(self.descriptor, raw[written:], at + written)
        except OSError as error:
            raise self.failed(error.strerror) from error

    def _free(self, at: int, size: int) -> None:
        """Return this part of the file to the file system, where that can be done."""
        if sys.platform == "linux":
            _fallocate()(self.descriptor, _PUNCH_HOLE, ctypes.c_int64(at), ctypes.c_int64(size))

    def failed(self, why: str | None) -> ImageError:
        """The error of an access that the operating system refused."""
        return ImageError(f"{self.path}: {why}; what it holds stays valid")


def _page_of(number: int, at: int, raw: bytes, erases: int) -> StoredPage | None:
    """A page of a block with so many erases; None if the record is of an earlier one.

    A record that only the right number of erases makes whole is of this one.
    """
    fields = PAGE.unpack(raw)[:-1]
    record = PageRecord._make(fields)
    if raw[-4:] == sealed(PAGE, at, erases, *fields[1:])[-4:]:
        return StoredPage(number, record._replace(erases=erases), damaged=fault_of_page(record) is not None)
    return StoredPage(number, record, damaged=True) if record.erases == erases else None


def _sealed(records: NDArray[np.void], places: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Records of pages with their checksums for these places in the file, uint8[records, bytes]."""
    rows = np.empty((len(records), 8 + PAGE.size), np.uint8)  # each behind its place
    rows[:, :8] = places.astype("<u8")[:, np.newaxis].view(np.uint8)
    rows[:, 8:] = records.view(np.uint8).reshape(-1, PAGE.size)
    rows[:, -4:] = crc32_rows(rows[:, :-4]).astype("<u4")[:, np.newaxis].view(np.uint8)
    return np.ascontiguousarray(rows[:, 8:])


@cache
def _fallocate() -> Callable[..., int]:
    return ctypes.CDLL(None).fallocate
