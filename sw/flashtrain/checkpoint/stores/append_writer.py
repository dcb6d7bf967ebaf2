"""A checkpoint whose arrays come one after the other, so that none but the present one is in memory."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event, get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointError
from flashtrain.host import Device, DeviceStream, Pending, StoredArray

from .append_saving import MOST_IN_FLIGHT, AppendSaving, drop_stored, piece_bytes
from .manifest import ArrayEntry, Manifest, bytes_of
from .store import Checkpoint
from .stream_catalogue import CatalogueEntry


class AppendWriter:
    """A checkpoint that one thread writes; :meth:`AppendedCheckpoints.writer` makes it.

    It is in the store from :meth:`finish` on, and never after :meth:`abandon` or an exception.

    record, on_end: as of :class:`AppendSaving`.
    """

    def __init__(
        self,
        device: Device,
        stream: DeviceStream,
        name: str,
        step: int,
        record: Callable[[CatalogueEntry], Pending[None]],
        on_end: Callable[[], None],
    ) -> None:
        self._manifest = Manifest(name, step, b"", ())
        self._device = device
        self._stream = stream
        self._record = record
        self._on_end = on_end
        self._thread = get_ident()
        self._over = Event()
        self._entries: dict[str, ArrayEntry] = {}
        self._offset = 0
        self._piece = np.empty(piece_bytes(device, stream), np.uint8)
        self._filled = 0
        self._in_flight: list[Pending[StoredArray]] = []
        self._stored: list[StoredArray] = []

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Append an array; it may be changed afterwards."""
        self._require_open()
        if name in self._entries:
            raise CheckpointError(f"two arrays {name!r} of checkpoint {self._manifest.name!r}")
        entry = ArrayEntry.of(name, array, self._offset)
        try:
            self._fill(np.zeros(entry.offset - self._offset, np.uint8))
            self._fill(bytes_of(array))
        except BaseException:
            self.abandon()
            raise
        self._entries[name], self._offset = entry, entry.end

    def finish(self, host: bytes = b"") -> Checkpoint:
        """Wait until the checkpoint is in the store, with this state of the host."""
        self._require_open()
        manifest = replace(self._manifest, host=host, arrays=tuple(self._entries.values()))
        rest, in_flight = self._piece[: self._filled], self._in_flight
        try:
            return AppendSaving(
                self._device, self._stream, manifest, rest, self._record, self._end, self._stored, in_flight
            ).result()
        finally:
            self._end()

    def abandon(self) -> None:
        """Drop what was written. After :meth:`finish` it does nothing."""
        if not self._over.is_set():
            try:
                drop_stored(self._stream, self._stored, self._in_flight)
            finally:
                self._end()

    def wait(self) -> None:
        """Wait until it is finished or abandoned; :class:`CheckpointError` in the thread that writes it."""
        if self._thread == get_ident() and not self._over.is_set():
            raise CheckpointError(
                f"checkpoint {self._manifest.name!r} is being written; expected its end before another save"
            )
        self._over.wait()

    def _fill(self, data: NDArray[np.uint8]) -> None:
        while len(data):
            count = min(len(data), len(self._piece) - self._filled)
            self._piece[self._filled : self._filled + count] = data[:count]
            self._filled, data = self._filled + count, data[count:]
            if self._filled == len(self._piece):
                if len(self._in_flight) == MOST_IN_FLIGHT:
                    self._stored.append(self._in_flight.pop(0).result())
                self._in_flight.append(self._stream.append_async(self._piece))
                self._filled = 0

    def _require_open(self) -> None:
        if self._over.is_set():
            raise CheckpointError(f"checkpoint {self._manifest.name!r} is finished or abandoned")

    def _end(self) -> None:
        if not self._over.is_set():
            self._on_end()
            self._over.set()
