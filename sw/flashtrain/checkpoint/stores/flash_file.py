"""Checkpoints as files: whatever writes bytes to a file writes them to a store, and reads them from there."""

import io
from types import TracebackType
from typing import Any

import numpy as np

from flashtrain.checkpoint.errors import CheckpointError, NoCheckpoint
from flashtrain.host.process import ProcessOwned

from .append_writer import AppendWriter
from .appended import AppendedCheckpoints

CHUNK_BYTES = 1 << 16
"""Bytes of an array of a file; each has a checksum, so a read takes whole ones."""

_PREFIX = "file/"  # of the arrays' names


def flash_file(
    store: AppendedCheckpoints, name: str, mode: str = "rb", step: int = 0
) -> "FileWriter | FileReader":
    """Open checkpoint `name` of a store as a file of bytes; use it in a `with` statement.

    - mode: `"wb"` for a new one, :class:`CheckpointExists` if it is there; `"rb"` for one that is there,
      :class:`NoCheckpoint` if it is no file.
    - step: of a new one, see :class:`Checkpoint`.
    """
    if mode == "wb":
        return FileWriter(store.writer(name, step))
    if mode == "rb":
        return FileReader(store, name)
    raise CheckpointError(f"mode is {mode!r}; expected 'rb' or 'wb'")


class FileWriter(ProcessOwned, io.RawIOBase):
    """A file that becomes a checkpoint when it is closed, and never does after an exception in its `with`.

    A file that is not closed is dropped with its last reference. In a forked process a write is
    :class:`flashtrain.host.ForeignProcess`, and the end of the file changes nothing.
    """

    subject = "the file of a checkpoint"

    def __init__(self, writer: AppendWriter) -> None:
        super().__init__()
        self._writer = writer
        self._chunk = bytearray()
        self._chunks = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if self.closed:
            raise ValueError("write to a closed file")
        self.require_own()
        given = memoryview(data).cast("B")
        for start in range(0, len(given), CHUNK_BYTES):
            self._chunk += given[start : start + CHUNK_BYTES]
            if len(self._chunk) >= CHUNK_BYTES:
                self._append(self._chunk[:CHUNK_BYTES])
                del self._chunk[:CHUNK_BYTES]
        return len(given)

    def tell(self) -> int:
        return self._chunks * CHUNK_BYTES + len(self._chunk)

    def close(self) -> None:
        """Wait until the checkpoint is in the store."""
        if self.own and not self.closed:
            try:
                self._append(self._chunk)
                self._writer.finish()
            finally:
                self._abandon()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self._abandon()

    def __del__(self) -> None:
        self._abandon()

    def _append(self, chunk: bytes | bytearray) -> None:
        self._writer.add(f"{_PREFIX}{self._chunks}", np.frombuffer(bytes(chunk), np.uint8))
        self._chunks += 1

    def _abandon(self) -> None:
        """Close without a checkpoint, unless there is one already."""
        try:
            if self.own:
                self._writer.abandon()
        finally:
            super().close()


class FileReader(io.RawIOBase):
    """A file in a store. A read takes the chunks that it touches from the flash, and keeps the last one."""

    def __init__(self, store: AppendedCheckpoints, name: str) -> None:
        super().__init__()
        self._opened = store.open(name)
        self._entries = self._opened.manifest.arrays
        names = [entry.name for entry in self._entries]
        if not names or names != [f"{_PREFIX}{number}" for number in range(len(names))]:
            raise NoCheckpoint(f"checkpoint {name!r} is no file; its arrays are {', '.join(names) or 'none'}")
        self._nbytes = sum(entry.nbytes for entry in self._entries)
        self._position = 0
        self._kept = -1, b""  # the number of a chunk, and the chunk

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._nbytes}[whence]
        if begin + offset < 0:
            raise ValueError(f"seek to byte {begin + offset}; expected 0 or more")
        self._position = begin + offset
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        target, done = memoryview(buffer).cast("B"), 0
        while done < len(target) and self._position < self._nbytes:
            number, offset = divmod(self._position, CHUNK_BYTES)
            part = self._chunk(number)[offset : offset + len(target) - done]
            target[done : done + len(part)] = part
            done, self._position = done + len(part), self._position + len(part)
        return done

    def _chunk(self, number: int) -> bytes:
        if self._kept[0] != number:
            self._kept = number, self._opened.read(self._entries[number]).tobytes()
        return self._kept[1]
