"""A checkpoint in a stream, opened for reading: its manifest is read once, and data as they are asked for."""

from bisect import bisect_right
from itertools import accumulate
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointDamaged
from flashtrain.host import DeviceStream, MediaError

from .manifest import ArrayEntry, Manifest
from .stream_catalogue import CatalogueEntry, Piece


class PageLost(Exception):
    """A page of a piece that cannot be read any more."""


class Pieces(Protocol):
    """Reads pieces of a stream with blocks of `block_bytes`."""

    @property
    def block_bytes(self) -> int: ...

    def read(self, piece: Piece) -> NDArray[np.uint8]:
        """The bytes of a piece, uint8[nbytes]; :class:`PageLost`."""
        ...


class DevicePieces:
    """Pieces of a stream of a device."""

    def __init__(self, stream: DeviceStream) -> None:
        self._stream = stream
        self.block_bytes = stream.block_bytes

    def read(self, piece: Piece) -> NDArray[np.uint8]:
        try:
            return self._stream.read(piece.handle(self._stream))
        except MediaError as error:
            raise PageLost(str(error)) from error


def bytes_of(source: Pieces, piece: Piece, first: int, last: int) -> NDArray[np.uint8]:
    """The bytes of a piece from `first` to `last`; :class:`PageLost`."""
    part, start = piece.part(source.block_bytes, first, last)
    return source.read(part)[first - start : last - start]


class StoredCheckpoint:
    """A checkpoint of a stream; valid until it is deleted.

    Members
    -------
    manifest: its arrays.
    pieces: the data, in their order.
    """

    def __init__(self, source: Pieces, entry: CatalogueEntry) -> None:
        """Read the manifest; :class:`CheckpointDamaged` by its checksum, or if a page of it is lost."""
        name = entry.checkpoint.name
        try:
            raw = source.read(entry.manifest).tobytes()
        except PageLost as error:
            raise CheckpointDamaged(
                f"checkpoint {name!r}: a page of its manifest is lost: {error}"
            ) from error
        if crc32(raw) != entry.crc:
            raise CheckpointDamaged(f"checkpoint {name!r}: the checksum of its manifest is wrong")
        self.manifest, document = Manifest.unpack(raw)
        try:
            self.pieces = [Piece.unpack(fields) for fields in document["pieces"]]
        except (KeyError, ValueError, TypeError) as error:
            raise CheckpointDamaged(f"checkpoint {name!r}: malformed pieces: {error}") from error
        self._source = source
        self._begins = [0, *accumulate(piece.nbytes for piece in self.pieces)]

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
                part = bytes_of(self._source, piece, first - begin, last - begin)
            except PageLost as error:
                raise CheckpointDamaged(f"array {entry.name!r}: a page of it is lost: {error}") from error
            data[first - entry.offset : last - entry.offset] = part
            first, number = last, number + 1
        return entry.array(data)
