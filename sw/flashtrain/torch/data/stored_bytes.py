"""A long run of bytes in a stream: appended in pieces, read in ranges."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, DeviceStream, Extent, Pending, StoredArray
from flashtrain.host.streams.stored import join
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

    `append_port` appends them, `read_port` reads them. :meth:`append` or :meth:`attach` is the first call.

    Members
    -------
    nbytes: all of them, without the padding of the last block.
    """

    def __init__(self, device: Device, stream: str, append_port: Port, read_port: Port) -> None:
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

    @property
    def writer(self) -> DeviceStream:
        """The stream by the port that appends."""
        return self._writer

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The blocks of all bytes, in their order."""
        every = (extent for piece in self._pieces for extent in piece.extents)
        return join(every, self._reader.zone_size)

    def append(self, parts: Iterable[Bytes]) -> None:
        """Append the bytes of all parts; after an exception nothing is left behind."""
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

    def attach(self, nbytes: int, extents: Sequence[Extent]) -> None:
        """Have the bytes that these blocks of the stream hold."""
        size, blocks = self.block_bytes, sum(extent.blocks for extent in extents)
        whole = self._reader.stored_at(extents, (blocks * size,), np.uint8)
        for first in range(0, blocks, self._piece_blocks):
            taken = min(self._piece_blocks, blocks - first)
            part = _extents_of(whole, first, taken)
            self._pieces.append(self._reader.stored_at(part, (taken * size,), np.uint8))
        self.nbytes = nbytes

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
        buffer = np.empty(sum(run.blocks for run in runs) * size, np.uint8)
        self._device.wait(self._reads(runs, buffer))
        firsts = [run.first for run in runs]
        begins = list(accumulate((run.blocks for run in runs), initial=0))
        found = []
        for start, stop in ranges:
            number = bisect_right(firsts, start // size) - 1
            skipped = (firsts[number] - begins[number]) * size
            found.append(buffer[start - skipped : stop - skipped])
        return found

    def drop(self) -> None:
        """Drop all of them; see `DeviceStream.drop`."""
        for piece in self._pieces:
            self._writer.drop(piece)
        self._pieces = []

    # Implementation.

    def _reads(self, runs: Iterable[Run], out: Bytes) -> list[Pending[NDArray]]:
        """Begin to read runs, one behind the other in `out`: a read for each generation of their pieces."""
        size, start, reads = self.block_bytes, 0, []
        for generation, parts in groupby(self._parts(runs), lambda part: part[0]):
            extents = tuple(extent for _, extent in parts)
            stop = start + sum(extent.blocks for extent in extents) * size
            handle = replace(
                self._pieces[0], generation=generation, extents=extents, shape=(stop - start,),
                dtype=np.dtype(np.uint8),
            )  # fmt: skip
            reads.append(self._reader.read_async(handle, out[start:stop]))
            start = stop
        return reads

    def _parts(self, runs: Iterable[Run]) -> Iterator[tuple[int, Extent]]:
        """The extents of the blocks of runs, each with its generation."""
        for block, blocks in runs:
            while blocks:
                piece, offset = divmod(block, self._piece_blocks)
                taken = min(blocks, self._piece_blocks - offset)
                stored = self._pieces[piece]
                for extent in _extents_of(stored, offset, taken):
                    yield stored.generation, extent
                block, blocks = block + taken, blocks - taken


def _extents_of(stored: StoredArray, first: int, blocks: int) -> Iterator[Extent]:
    """The extents of some blocks of an array."""
    for extent in stored.extents:
        skipped = min(first, extent.blocks)
        taken = min(blocks, extent.blocks - skipped)
        if taken:
            yield Extent(extent.lba + skipped, taken)
        first, blocks = first - skipped, blocks - taken


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
