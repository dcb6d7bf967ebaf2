"""A read of ranges of bytes of an array, which takes only the blocks that have some of them."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.queues.command_errors import MediaError, UnwrittenBlock
from flashtrain.host.queues.pending import Pending
from flashtrain.host.streams.block_runs import BlockRuns
from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.stream import DeviceStream

from .errors import CatalogDamaged
from .run import Run


class _Piece(NamedTuple):
    """Bytes to read, and their place in the result."""

    address: int
    nbytes: int
    target: int


def extents_of(runs: Iterable[Run], block_bytes: int, zone_size: int) -> list[Extent]:
    """The blocks that have bytes of these runs, in ascending order; no extent goes past the end of a zone."""
    zones: dict[int, BlockRuns] = {}
    for run in runs:
        first, end = run.address // block_bytes, -(-run.end // block_bytes)
        zones.setdefault(first // zone_size, BlockRuns()).add(first, end)
    return [Extent(start, end - start) for zone in sorted(zones) for start, end in zones[zone].runs]


class RangesRead:
    """A read that is in flight. The result has the bytes of an array from `begin` to `end`; those outside of
    `ranges` are undefined.

    - runs, generation: of the array; what: its name in messages.
    """

    def __init__(
        self,
        stream: DeviceStream,
        runs: Sequence[Run],
        generation: int,
        ranges: Sequence[tuple[int, int]],
        begin: int,
        end: int,
        what: str,
    ) -> None:
        self._what = what
        self._size = stream.block_bytes
        self._nbytes = end - begin
        self._pieces = list(_pieces(runs, ranges, begin))
        wanted = (Run(piece.address, piece.nbytes) for piece in self._pieces)
        self._extents = extents_of(wanted, self._size, stream.zone_size)
        self._pending: Pending[NDArray[np.uint8]] | None = None
        if self._extents:
            blocks = sum(extent.blocks for extent in self._extents)
            handle = stream.stored_at(self._extents, (blocks * self._size,), np.uint8)
            self._pending = stream.read_async(replace(handle, generation=generation))

    def result(self) -> NDArray[np.uint8]:
        """Wait for the bytes; :class:`CatalogDamaged` if a page of them is lost."""
        if self._pending is None:
            return np.empty(self._nbytes, np.uint8)
        try:
            data = self._pending.result()
        except (MediaError, UnwrittenBlock) as error:
            raise CatalogDamaged(f"{self._what}: a page of it is lost: {error}") from error
        starts, at = [extent.lba for extent in self._extents], [0]
        for extent in self._extents:
            at.append(at[-1] + extent.blocks * self._size)
        places = []
        for piece in self._pieces:
            number = bisect_right(starts, piece.address // self._size) - 1
            places.append(at[number] + piece.address - starts[number] * self._size)
        if len(places) == 1 and self._pieces[0].nbytes == self._nbytes == len(data):
            return data
        result = np.empty(self._nbytes, np.uint8)
        for piece, place in zip(self._pieces, places, strict=True):
            result[piece.target : piece.target + piece.nbytes] = data[place : place + piece.nbytes]
        return result


def _pieces(runs: Sequence[Run], ranges: Sequence[tuple[int, int]], begin: int) -> Iterable[_Piece]:
    starts = [0]
    for run in runs:
        starts.append(starts[-1] + run.nbytes)
    for low, high in ranges:
        number = bisect_right(starts, low) - 1
        while low < high:
            run, start = runs[number], starts[number]
            stop = min(high, starts[number + 1])
            yield _Piece(run.address + low - start, stop - low, low - begin)
            low, number = stop, number + 1
