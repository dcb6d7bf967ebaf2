"""The catalogue of the checkpoints in a stream: the stream's note, so that it changes in one record."""

import json
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from flashtrain.checkpoint.errors import CheckpointDamaged, NoCheckpoint
from flashtrain.host import DeviceStream, Extent, StoredArray

from .store import Checkpoint

MAGIC = b"FTC1"


@dataclass(frozen=True)
class Piece:
    """Bytes in a stream: their extents, their number, and, of a stream with a codec, each extent's data."""

    extents: tuple[Extent, ...]
    nbytes: int
    data_blocks: tuple[int, ...] = ()

    @classmethod
    def of(cls, stored: StoredArray) -> "Piece":
        return cls(stored.extents, stored.nbytes, stored.data_blocks)

    def handle(self, stream: DeviceStream) -> StoredArray:
        """The handle of its bytes, uint8[nbytes]."""
        more = (self.data_blocks,) if self.data_blocks else ()
        return stream.stored_at(self.extents, (self.nbytes,), np.uint8, *more)

    def part(self, block_bytes: int, first: int, last: int) -> "tuple[Piece, int]":
        """The piece of the blocks that have some of its bytes from `first` to `last`, and the byte it begins
        with; of a stream with a codec, of whole appends."""
        size, begin, found = block_bytes, 0, []
        for extent, blocks in zip(self.extents, self.data_blocks or self._blocks, strict=True):
            low, high = max(0, (first - begin) // size), min(blocks, -(-(last - begin) // size))
            if low < high and self.data_blocks:
                found.append((begin, extent, blocks))
            elif low < high:
                found.append((begin + low * size, Extent(extent.lba + low, high - low), high - low))
            begin += blocks * size
        start, nbytes = found[0][0], size * sum(blocks for *_, blocks in found)
        data_blocks = tuple(blocks for *_, blocks in found) if self.data_blocks else ()
        extents = tuple(extent for _, extent, _ in found)
        return Piece(extents, min(nbytes, self.nbytes - start), data_blocks), start

    @property
    def _blocks(self) -> tuple[int, ...]:
        return tuple(extent.blocks for extent in self.extents)

    def pack(self) -> list[Any]:
        return [[list(extent) for extent in self.extents], self.nbytes, list(self.data_blocks)]

    @classmethod
    def unpack(cls, fields: list[Any]) -> "Piece":
        extents, nbytes, data_blocks = fields
        return cls(tuple(Extent(*extent) for extent in extents), nbytes, tuple(data_blocks))


@dataclass(frozen=True)
class CatalogueEntry:
    """A checkpoint, the place of its manifest, and the manifest's CRC-32."""

    checkpoint: Checkpoint
    manifest: Piece
    crc: int

    @classmethod
    def of(cls, checkpoint: Checkpoint, manifest: Piece, raw: bytes) -> "CatalogueEntry":
        return cls(checkpoint, manifest, crc32(raw))


def pack(entries: tuple[CatalogueEntry, ...]) -> bytes:
    """The note of a stream with these checkpoints."""
    if not entries:
        return b""
    rows = [
        [e.checkpoint.name, e.checkpoint.step, e.checkpoint.nbytes, e.manifest.pack(), e.crc] for e in entries
    ]
    return MAGIC + json.dumps(rows, separators=(",", ":")).encode()


def unpack(note: bytes) -> tuple[CatalogueEntry, ...]:
    """The checkpoints of a note; :class:`CheckpointDamaged` for the note of another user."""
    if not note:
        return ()
    if note[: len(MAGIC)] != MAGIC:
        raise CheckpointDamaged(f"the note begins with {note[:4]!r}; expected {MAGIC!r}, a catalogue")
    try:
        return tuple(
            CatalogueEntry(Checkpoint(name, step, nbytes), Piece.unpack(manifest), crc)
            for name, step, nbytes, manifest, crc in json.loads(note[len(MAGIC) :])
        )
    except (ValueError, TypeError) as error:
        raise CheckpointDamaged(f"the catalogue of checkpoints is malformed: {error}") from error


def entry_of(entries: tuple[CatalogueEntry, ...], name: str, stream: str) -> CatalogueEntry:
    """The entry of a name in the catalogue of `stream`; :class:`NoCheckpoint` with the names that it has."""
    for entry in entries:
        if entry.checkpoint.name == name:
            return entry
    known = ", ".join(entry.checkpoint.name for entry in entries)
    raise NoCheckpoint(f"no checkpoint {name!r} in stream {stream!r}; it has {known or 'none'}")
