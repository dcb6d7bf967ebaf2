"""An open image: its records and cells."""

import ctypes
import math
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from flashtrain.spec import Geometry, NodeTable
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

from ..errors import ImageDamaged, ImageError, ImageMismatch
from ..process import ProcessOwned

_PUNCH_HOLE = 3  # FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE


class BlockPlace(NamedTuple):
    """A block of the device."""

    channel: int
    die: int
    plane: int
    block: int


class StoredPage(NamedTuple):
    """A programmed page of a block. damaged: its record has a wrong checksum."""

    number: int
    record: PageRecord
    damaged: bool


class FlashImage(ProcessOwned):
    """The arrays of a device in a file that this process has locked.

    Each change is one write to the page cache of the operating system, so an end of the process loses none.
    A page counts as programmed from the write of its record on, which follows that of its cells.

    - serial: a random number, different for each image.
    - new: the file was created for this device, and everything in it is erased.
    - clock: a time in seconds that nothing in the file is younger than.
    """

    thing = "the image of a flash"
    _open = False

    def __init__(self, path: Path, descriptor: int, geometry: Geometry, serial: bytes, new: bool) -> None:
        self.path = path
        self.descriptor = descriptor
        self.geometry = geometry
        self.layout = ImageLayout(geometry)
        self.serial = serial
        self.new = new
        self.clock = self._read_clock()
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
            self.clock = float(math.ceil(seconds))
            self._seal(CLOCK, CLOCK_AT, self.clock)

    def _read_clock(self) -> float:
        (clock,) = self._record(CLOCK, CLOCK_AT, "the clock")
        return clock

    # Dies.

    def hung_dies(self) -> list[tuple[int, int]]:
        """Channel and die of those that hang."""
        g = self.geometry
        return [(c, d) for c in range(g.channels) for d in range(g.dies) if self._die(c, d) & DieFlag.HUNG]

    def _die(self, channel: int, die: int) -> int:
        (flags,) = self._record(DIE, self._die_at(channel, die), f"channel {channel} die {die}")
        return flags

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
        if node != self.node:
            self._seal(NODE, NODE_AT, text)

    # Streams, for their handles.

    def stream(self, nsid: int) -> StreamRecord:
        return StreamRecord._make(self._record(STREAM, self.layout.stream(nsid), f"stream {nsid}"))

    def set_stream(self, nsid: int, record: StreamRecord) -> None:
        self._seal(STREAM, self.layout.stream(nsid), *record)

    def zone_drop(self, nsid: int, zone: int) -> int:
        (drop,) = self._record(ZONE, self.layout.zone(nsid, zone), f"zone {zone} of stream {nsid}")
        return drop

    def set_zone_drop(self, nsid: int, zone: int, drop: int) -> None:
        self._seal(ZONE, self.layout.zone(nsid, zone), drop)

    # Blocks, by their numbers of `ImageLayout.block`.

    def place(self, number: int) -> BlockPlace:
        g = self.geometry
        number, block = divmod(number, g.blocks)
        number, plane = divmod(number, g.planes)
        return BlockPlace(*divmod(number, g.dies), plane, block)

    def block(self, number: int) -> BlockRecord:
        at = BLOCKS_AT + number * BLOCK.size
        return self._block_of(number, self._read(at, BLOCK.size))

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
        table = self._read(BLOCKS_AT, self.layout.block_count * BLOCK.size)
        rows = np.frombuffer(table, np.uint8).reshape(-1, BLOCK.size)
        for number in np.flatnonzero(rows.any(axis=1)).tolist():
            yield number, self._block_of(number, rows[number].tobytes())

    def check_blocks(self) -> None:
        """:class:`ImageDamaged` for a record of a block with a wrong checksum."""
        for _ in self.used_blocks():
            pass

    def _block_of(self, number: int, raw: bytes) -> BlockRecord:
        fields = opened(BLOCK, BLOCKS_AT + number * BLOCK.size, raw)
        if fields is None:
            where = " ".join(f"{key} {at}" for key, at in self.place(number)._asdict().items())
            raise ImageDamaged(f"{self.path}: the record of {where} has another checksum than it says")
        return BlockRecord._make(fields)

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

    def cells(self, number: int, page: int) -> bytes:
        return self._read(self.layout.cells(number, page), self.geometry.raw_page_bytes)

    def program(
        self, number: int, page: int, cells: bytes, time: float, state: PageState = PageState.WHOLE
    ) -> None:
        """Write the cells of a page, then its record."""
        at = self.layout.page_record(number, page)
        self._write(self.layout.cells(number, page), cells)
        record = PageRecord(self.block(number).erases, state, time, crc32(cells))
        self._write(at, sealed(PAGE, at, *record))

    def damaged_pages(self) -> Iterator[tuple[BlockPlace, int]]:
        """Block and number of each page whose checksum is wrong: bits of the file have changed."""
        for number in range(self.layout.block_count):
            for page in self.pages(number):
                if page.damaged or crc32(self.cells(number, page.number)) != page.record.crc:
                    yield self.place(number), page.number

    # Bytes.

    def _record(self, layout: Struct, at: int, what: str) -> tuple[Any, ...]:
        fields = opened(layout, at, self._read(at, layout.size))
        if fields is None:
            raise ImageDamaged(f"{self.path}: the record of {what} has another checksum than it says")
        return fields

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

    def _write(self, at: int, raw: bytes) -> None:
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
        return StoredPage(number, record._replace(erases=erases), damaged=False)
    return StoredPage(number, record, damaged=True) if record.erases == erases else None


@cache
def _fallocate() -> Callable[..., int]:
    return ctypes.CDLL(None).fallocate
