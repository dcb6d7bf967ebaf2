"""A save to a stream, a piece after the other, beside the commands of others."""

from collections.abc import Callable, Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, DeviceStream, Pending, StoredArray
from flashtrain.spec import FlashtrainError

from .manifest import Manifest
from .store import Checkpoint
from .stream_catalogue import CatalogueEntry, Piece

MOST_IN_FLIGHT = 2
"""Pieces in flight at once: one is programmed while the next one is on its way."""


def piece_bytes(device: Device, stream: DeviceStream) -> int:
    """The bytes of a piece: at most an eighth of the tensor buffer."""
    return max(1, device.buffer_bytes // stream.block_bytes // 8) * stream.block_bytes


class AppendSaving:
    """The save of one checkpoint: its data in pieces, then its manifest, then the stream's catalogue.

    A piece is not begun while less than a quarter of the tensor buffer is free. So the save never makes other
    commands wait for room.

    - data: the data, or the rest of them behind the pieces that are stored or in flight.
    - record: adds this checkpoint to the stream's catalogue.
    - on_end: called when the save has ended, in success or failure.
    """

    def __init__(
        self,
        device: Device,
        stream: DeviceStream,
        manifest: Manifest,
        data: NDArray[np.uint8],
        record: Callable[[CatalogueEntry], Pending[None]],
        on_end: Callable[[], None],
        stored: Iterable[StoredArray] = (),
        in_flight: Iterable[Pending[StoredArray]] = (),
    ) -> None:
        self._device = device
        self._stream = stream
        self._manifest = manifest
        self._add_to_catalogue = record
        self._on_end = on_end
        most = piece_bytes(device, stream)
        self._left = [data[start : start + most] for start in range(0, len(data), most)]
        self._in_flight = list(in_flight)
        self._stored = list(stored)
        self._record: Pending[None] | None = None
        self._raw = b""  # of the manifest, once all data are stored
        self._checkpoint = Checkpoint(manifest.name, manifest.step, manifest.nbytes)
        self._going = Lock()
        self._ended = False
        self._error: FlashtrainError | None = None

    @property
    def done(self) -> bool:
        return self._ended

    def advance(self) -> None:
        """Go on as far as possible without waiting; raises what :meth:`result` raises."""
        self._go(wait=False)

    def result(self) -> Checkpoint:
        """Wait until the checkpoint is in the store. After an error nothing has changed in the store."""
        self._go(wait=True)
        return self._checkpoint

    def _go(self, wait: bool) -> None:
        with self._going:
            if self._error is not None:
                raise self._error
            try:
                while not self._ended and self._step(wait):
                    pass
            except FlashtrainError as error:
                self._error = error
                drop_stored(self._stream, self._stored, self._in_flight)
                self._end()
                raise

    def _step(self, wait: bool) -> bool:
        """Do the next thing that can be done; whether there was one."""
        if self._in_flight and (wait or self._in_flight[0].done) and not self._can_begin(wait):
            self._stored.append(self._in_flight.pop(0).result())
            return True
        if self._can_begin(wait):
            self._in_flight.append(self._stream.append_async(self._left.pop(0)))
            return True
        if self._in_flight or self._left:
            return False
        if not self._raw:
            pieces = [Piece.of(stored).pack() for stored in self._stored]
            self._raw = self._manifest.pack(pieces=pieces)
            self._left = [np.frombuffer(self._raw, np.uint8)]
            return True
        if self._record is None:
            entry = CatalogueEntry.of(self._checkpoint, Piece.of(self._stored[-1]), self._raw)
            self._record = self._add_to_catalogue(entry)
            return True
        if wait or self._record.done:
            self._record.result()
            self._end()
            return True
        return False

    def _can_begin(self, wait: bool) -> bool:
        if not self._left or len(self._in_flight) >= MOST_IN_FLIGHT:
            return False
        after = self._device.buffer_free_bytes - len(self._left[0])
        return wait or after >= self._device.buffer_bytes // 4

    def _end(self) -> None:
        self._ended = True
        self._in_flight, self._left = [], []
        self._on_end()


def drop_stored(
    stream: DeviceStream, stored: Iterable[StoredArray], in_flight: Iterable[Pending[StoredArray]]
) -> None:
    """Drop the pieces of a save that has failed, as far as the device still works."""
    own = list(stored)
    for pending in in_flight:
        try:
            own.append(pending.result())
        except FlashtrainError:
            continue
    for piece in own:
        try:
            stream.drop(piece)
        except FlashtrainError:
            return
