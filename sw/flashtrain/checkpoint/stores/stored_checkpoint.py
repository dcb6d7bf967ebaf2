"""A checkpoint in a stream, opened for reading: its manifest is read once, and data as they are asked for."""

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import DeviceStream

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
        """One array; :class:`CheckpointDamaged` by its checksum."""
        data, first = np.empty(entry.nbytes, np.uint8), entry.offset
        number = bisect_right(self._begins, first) - 1
        while first < entry.end:
            begin, piece = self._begins[number], self.pieces[number]
            last = min(entry.end, begin + piece.nbytes)
            data[first - entry.offset : last - entry.offset] = piece.read(
                self._stream, first - begin, last - begin
            )
            first, number = last, number + 1
        return entry.array(data)
