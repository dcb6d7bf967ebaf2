"""A long run of bytes in a stream: appended in pieces, read in ranges."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Extent, Pending, StoredArray
from flashtrain.spec import FlashtrainError, Port
from flashtrain.spec.streams import Codec
from flashtrain.training.errors import DataError

LEAST_BLOCKS = 64
"""The fewest blocks of a piece. It has a superpage at least, because an append ends its page sets."""

Bytes = NDArray[np.uint8]


class Run(NamedTuple):
    """Consecutive blocks."""

    first: int
    blocks: int


class StoredBytes:
    """Bytes in a stream, in whole blocks one after the other.

    `append_port` appends them, `read_port` reads them. A failed append leaves nothing behind.

    Members
    -------
    nbytes: all of them, without the padding of the last block.
    """

    def __init__(
        self, device: Device, stream: str, append_port: Port, read_port: Port, parts: Iterable[Bytes]
    ) -> None:
        self._device = device
        self._writer = device.stream(stream, append_port)
        self._reader = device.stream(stream, read_port)
        codec = self._writer.table.codec
        if codec is not Codec.RAW:
            raise DataError(
                f"stream {stream!r} has the codec {codec.name}; expected RAW, so that parts can be read"
            )
        self.nbytes = 0
        self._piece_blocks = max(LEAST_BLOCKS, device.config.geometry.superpage)
        self._pieces: list[StoredArray] = []
        self._append(parts)

    @property
    def block_bytes(self) -> int:
        """Bytes of a logical block."""
        return self._reader.block_bytes

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[Bytes]:
        """The bytes of ranges (start, stop), none of them empty; only blocks with some of them are read.

        Ranges that share blocks share memory.
        """
        size = self.block_bytes
        runs = _runs({block for start, stop in ranges for block in range(start // size, -(-stop // size))})
        buffers = [np.empty(run.blocks * size, np.uint8) for run in runs]
        reads = [
            self._reader.read_async(handle, out)
            for run, buffer in zip(runs, buffers, strict=True)
            for handle, out in self._parts(run, buffer)
        ]
        self._device.wait(reads)
        firsts = [run.first for run in runs]
        found = []
        for start, stop in ranges:
            number = bisect_right(firsts, start // size) - 1
            skipped = firsts[number] * size
            found.append(buffers[number][start - skipped : stop - skipped])
        return found

    def drop(self) -> None:
        """Drop all of them; see `DeviceStream.drop`."""
        for piece in self._pieces:
            self._writer.drop(piece)
        self._pieces = []

    # Implementation.

    def _append(self, parts: Iterable[Bytes]) -> None:
        pendings: list[Pending[StoredArray]] = []
        try:
            for piece in _pieces(parts, self._piece_blocks * self.block_bytes):
                pendings.append(self._writer.append_async(piece))
                self.nbytes += len(piece)
            self._pieces = self._device.wait(pendings)
        except BaseException:
            for pending in pendings:
                with suppress(FlashtrainError):
                    self._writer.drop(pending.result())
            raise

    def _parts(self, run: Run, out: Bytes) -> Iterator[tuple[StoredArray, Bytes]]:
        """Handles of the run's blocks in each piece, and where they are read to."""
        size, block, end = self.block_bytes, run.first, run.first + run.blocks
        while block < end:
            piece, offset = divmod(block, self._piece_blocks)
            blocks = min(end - block, self._piece_blocks - offset)
            start = (block - run.first) * size
            yield (
                part_of(self._pieces[piece], offset, blocks, size),
                out[start : start + blocks * size],
            )
            block += blocks


def part_of(stored: StoredArray, first: int, blocks: int, block_bytes: int) -> StoredArray:
    """A handle of some blocks of an array, as bytes; it gets stale with the array's."""
    extents = []
    for extent in stored.extents:
        skipped = min(first, extent.blocks)
        taken = min(blocks, extent.blocks - skipped)
        if taken:
            extents.append(Extent(extent.lba + skipped, taken))
        first, blocks = first - skipped, blocks - taken
    shape = (sum(extent.blocks for extent in extents) * block_bytes,)
    return replace(stored, extents=tuple(extents), shape=shape, dtype=np.dtype(np.uint8))


def _pieces(parts: Iterable[Bytes], size: int) -> Iterator[Bytes]:
    """The bytes of all parts, in pieces of `size`; the last one may be smaller."""
    piece, filled = np.empty(size, np.uint8), 0
    for part in parts:
        while len(part):
            taken = min(len(part), size - filled)
            piece[filled : filled + taken] = part[:taken]
            part, filled = part[taken:], filled + taken
            if filled == size:
                yield piece
                filled = 0
    if filled:
        yield piece[:filled]


def _runs(blocks: Iterable[int]) -> list[Run]:
    """Blocks as runs, in ascending order."""
    runs: list[Run] = []
    for block in sorted(blocks):
        if runs and sum(runs[-1]) == block:
            runs[-1] = Run(runs[-1].first, runs[-1].blocks + 1)
        else:
            runs.append(Run(block, 1))
    return runs
