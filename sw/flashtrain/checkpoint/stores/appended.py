"""Checkpoints that are appended to a non-volatile stream, in the background of other work."""

from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointDamaged, CheckpointExists
from flashtrain.host import Device, Pending, StoredArray
from flashtrain.spec import Port

from .append_saving import AppendSaving
from .append_writer import AppendWriter
from .manifest import Manifest, check_name
from .store import Checkpoint
from .stored_checkpoint import DevicePieces, StoredCheckpoint
from .stream_catalogue import CatalogueEntry, Piece, entry_of, pack, unpack


class AppendedCheckpoints:
    """A :class:`CheckpointStore` in a stream of `device`, which has no other user.

    A save takes a copy of the arrays (the *snapshot*), and appends it in pieces, then its manifest. At last
    it records the catalogue in the journal (:meth:`DeviceStream.annotate`). From that record on the
    checkpoint exists. A loss of power before leaves the checkpoints that were there.

    The stream may have a codec. Deleted checkpoints are dropped; a zone is reset when all in it is. Several
    threads may save and delete: a save waits for the one before.

    :class:`StreamFull` when a checkpoint does not fit: delete others, or :meth:`reclaim` after a power loss.
    """

    def __init__(self, device: Device, stream: str = "trained", port: Port = Port.CORE) -> None:
        self._device = device
        self._stream = device.stream(stream, port)
        self._saving: AppendSaving | None = None
        self._writer: AppendWriter | None = None
        self._beginning = Lock()  # of a save
        self._changing = Lock()  # of the catalogue

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        return tuple(entry.checkpoint for entry in self._entries)

    def save_async(
        self, name: str, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes = b""
    ) -> AppendSaving:
        with self._beginning:
            self.wait()
            self.require_new(name)
            manifest = Manifest.of(name, step, arrays, host)
            data = manifest.data(arrays)
            saving = AppendSaving(self._device, self._stream, manifest, data, self._add, self._end)
            self._saving = saving
        saving.advance()
        return saving

    def writer(self, name: str, step: int) -> AppendWriter:
        """Begin a checkpoint whose arrays come one after the other; other saves wait for its end."""
        with self._beginning:
            self.wait()
            self.require_new(name)
            writer = AppendWriter(self._device, self._stream, name, step, self._add, self._end)
            self._writer = writer
        return writer

    def advance(self) -> None:
        """Go on with a save that is under way, if there is one, without waiting."""
        if (saving := self._saving) is not None:
            saving.advance()

    def wait(self) -> None:
        """Wait for the save that is under way, if there is one."""
        if (saving := self._saving) is not None:
            saving.result()
        if (writer := self._writer) is not None:
            writer.wait()

    def require_new(self, name: str) -> None:
        """:class:`CheckpointExists` if there is a checkpoint of that name."""
        check_name(name)
        if name in {one.name for one in self.checkpoints}:
            raise CheckpointExists(f"there is a checkpoint {name!r} of stream {self._stream.name!r} already")

    def open(self, name: str) -> StoredCheckpoint:
        """A checkpoint for reads of several arrays: its manifest is read once."""
        return StoredCheckpoint(DevicePieces(self._stream), self._entry(name))

    def manifest(self, name: str) -> Manifest:
        return self.open(name).manifest

    def read(self, name: str, array: str) -> NDArray[Any]:
        opened = self.open(name)
        return opened.read(opened.manifest.entry(array))

    def delete(self, name: str) -> None:
        entry, pieces = self._entry(name), list[Piece]()
        with suppress(CheckpointDamaged):  # nothing says where the data are, which `reclaim` frees
            pieces = self.open(name).pieces
        with self._changing:
            note = pack(tuple(one for one in self._entries if one != entry))
            record = self._stream.annotate_async(note)
        record.result()
        for piece in (*pieces, entry.manifest):
            self._stream.drop(piece.handle(self._stream))

    def reclaim(self) -> None:
        """Free what belongs to no checkpoint: what was deleted, or saved in part, before a loss of power."""
        with self._beginning:
            self.wait()
            kept: list[StoredArray] = []
            for entry in self._entries:
                pieces = self.open(entry.checkpoint.name).pieces
                kept += [piece.handle(self._stream) for piece in (*pieces, entry.manifest)]
            self._stream.drop_all_but(kept)

    # Implementation.

    @property
    def _entries(self) -> tuple[CatalogueEntry, ...]:
        return unpack(self._stream.note)

    def _entry(self, name: str) -> CatalogueEntry:
        return entry_of(self._entries, name, self._stream.name)

    def _add(self, entry: CatalogueEntry) -> Pending[None]:
        """Record the catalogue with one checkpoint more."""
        with self._changing:
            return self._stream.annotate_async(pack((*self._entries, entry)))

    def _end(self) -> None:
        self._saving = self._writer = None
