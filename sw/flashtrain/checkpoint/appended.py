"""Checkpoints that are appended to a non-volatile stream, in the background of other work."""

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, StoredArray
from flashtrain.spec import Port

from .append_saving import AppendSaving
from .errors import CheckpointDamaged, CheckpointExists, NoCheckpoint
from .manifest import ArrayEntry, Manifest
from .store import Checkpoint
from .stream_catalogue import CatalogueEntry, Piece, pack, unpack


class AppendedCheckpoints:
    """A :class:`CheckpointStore` in a stream of `device`, which has no other user.

    A save takes a copy of the arrays (the *snapshot*), and appends it in pieces, then its manifest. At last
    it records the catalogue in the journal (:meth:`DeviceStream.annotate`). From that record on the
    checkpoint exists. A loss of power before leaves the checkpoints that were there.

    The stream may have a codec. Deleted checkpoints are dropped; a zone is reset when all in it is.

    :class:`StreamFull` when a checkpoint does not fit: delete others, or :meth:`reclaim` after a power loss.
    """

    def __init__(self, device: Device, stream: str = "trained", port: Port = Port.CORE) -> None:
        self._device = device
        self._stream = device.stream(stream, port)
        self._saving: AppendSaving | None = None

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        return tuple(entry.checkpoint for entry in self._entries)

    def save_async(
        self, name: str, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes = b""
    ) -> AppendSaving:
        self.wait()
        if name in {one.name for one in self.checkpoints}:
            raise CheckpointExists(f"there is a checkpoint {name!r} of stream {self._stream.name!r} already")
        manifest = Manifest.of(name, step, arrays, host)
        data = manifest.data(arrays)
        saving = AppendSaving(self._device, self._stream, manifest, data, self._with, self._end)
        self._saving = saving
        saving.advance()
        return saving

    def advance(self) -> None:
        """Go on with a save that is under way, if there is one, without waiting."""
        if self._saving is not None:
            self._saving.advance()

    def wait(self) -> None:
        """Wait for the save that is under way, if there is one."""
        if self._saving is not None:
            self._saving.result()

    def manifest(self, name: str) -> Manifest:
        return self._contents(name)[0]

    def read(self, name: str, array: str) -> NDArray[Any]:
        manifest, pieces = self._contents(name)
        entry = manifest.entry(array)
        return entry.array(self._bytes(entry, pieces))

    def delete(self, name: str) -> None:
        entry, (_, pieces) = self._entry(name), self._contents(name)
        self._stream.annotate(pack(tuple(one for one in self._entries if one != entry)))
        for piece in (*pieces, entry.manifest):
            self._stream.drop(piece.handle(self._stream))

    def reclaim(self) -> None:
        """Free what belongs to no checkpoint: what was deleted, or saved in part, before a loss of power."""
        self.wait()
        kept: list[StoredArray] = []
        for entry in self._entries:
            pieces = self._contents(entry.checkpoint.name)[1]
            kept += [piece.handle(self._stream) for piece in (*pieces, entry.manifest)]
        self._stream.drop_all_but(kept)

    # Implementation.

    @property
    def _entries(self) -> tuple[CatalogueEntry, ...]:
        return unpack(self._stream.note)

    def _entry(self, name: str) -> CatalogueEntry:
        entries = self._entries
        for entry in entries:
            if entry.checkpoint.name == name:
                return entry
        known = ", ".join(entry.checkpoint.name for entry in entries)
        raise NoCheckpoint(
            f"no checkpoint {name!r} in stream {self._stream.name!r}; it has {known or 'none'}"
        )

    def _contents(self, name: str) -> tuple[Manifest, list[Piece]]:
        """The manifest of a checkpoint, and the pieces of its data."""
        entry = self._entry(name)
        raw = self._stream.read(entry.manifest.handle(self._stream)).tobytes()
        if crc32(raw) != entry.crc:
            raise CheckpointDamaged(f"checkpoint {name!r}: the checksum of its manifest is wrong")
        manifest, document = Manifest.unpack(raw)
        return manifest, [Piece.unpack(fields) for fields in document["pieces"]]

    def _bytes(self, entry: ArrayEntry, pieces: list[Piece]) -> NDArray[np.uint8]:
        """The bytes of an array, from the pieces that have some of them."""
        data, first, last = np.empty(entry.nbytes, np.uint8), entry.offset, entry.offset + entry.nbytes
        begin = 0
        for piece in pieces:
            end = begin + piece.nbytes
            if begin < last and first < end:
                found = self._stream.read(piece.handle(self._stream))
                low, high = max(first, begin), min(last, end)
                data[low - first : high - first] = found[low - begin : high - begin]
            begin = end
        return data

    def _with(self, entry: CatalogueEntry) -> bytes:
        """The note with one checkpoint more."""
        return pack((*self._entries, entry))

    def _end(self) -> None:
        self._saving = None
