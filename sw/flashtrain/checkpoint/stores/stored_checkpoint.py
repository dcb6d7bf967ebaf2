"""A checkpoint in a stream, opened for reading: its manifest is read once, and data as they are asked for."""

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointDamaged
from flashtrain.host import DeviceStream, MediaError

from .manifest import ArrayEntry, Manifest
from .stream_catalogue import Piece


class StoredCheckpoint:
    """A checkpoint of a stream; valid until it is deleted. :meth:`AppendedCheckpoints.open` makes it.

    Members
    -------
    manifest: its arrays.
    pieces: the data, in their order.
    """

    def __init__(self, stream: DeviceStream, manifest: Manifest, pieces: list[Piece]) -> None:
        self.manifest = manifest
        self.pieces = pieces
        self._stream = stream
        self._begins = [0, *accumulate(piece.nbytes for piece in pieces)]

    def read(self, entry: ArrayEntry) -> NDArray[Any]:
        """One array; :class:`CheckpointDamaged` by its checksum, or if a page of it is lost."""
        if not 0 <= entry.offset <= entry.end <= self._begins[-1]:
            raise CheckpointDamaged(
                f"array {entry.name!r} has bytes {entry.offset} to {entry.end}; the checkpoint has"
                f" {self._begins[-1]}"
            )
        data, first = np.empty(entry.nbytes, np.uint8), entry.offset
        number = bisect_right(self._begins, first) - 1
        while first < entry.end:
            begin, piece = self._begins[number], self.pieces[number]
            last = min(entry.end, begin + piece.nbytes)
            try:
                part = piece.read(self._stream, first - begin, last - begin)
            except MediaError as error:
                raise CheckpointDamaged(f"array {entry.name!r}: a page of it is lost: {error}") from error
            data[first - entry.offset : last - entry.offset] = part
            first, number = last, number + 1
        return entry.array(data)
