"""Files: an object that is read, and an object that is written."""

import io
import sys
import warnings
from typing import Any, Self

from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile

from flashtrain.host.process import ProcessOwned

from .read import StoredObject
from .store import Store

WRITE_BYTES = 4 << 20
"""A file that is written keeps so much in memory, and appends it at once."""


class ObjectReader(AbstractBufferedFile):
    """An object, with the caches of fsspec."""

    def __init__(self, fs: AbstractFileSystem, stored: StoredObject, **options: Any) -> None:
        self._stored = stored
        super().__init__(fs, stored.path, "rb", size=stored.size, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self._stored.read(start, end)


class ObjectWriter(ProcessOwned, io.BufferedIOBase):
    """An object that gets its name, and replaces one that has it, when the file is closed.

    Without that nothing is there. :meth:`discard` drops it, and so does an error that leaves the `with` block
    or passes while the file is closed. A file that nobody closes is dropped, too. It belongs to the process
    that opened it: in a forked one a write is :class:`ForeignProcess`, and its end changes nothing.

    - autocommit: False in a transaction, which gives the name at its end.
    - discarded: it never gets a name.
    """

    subject = "the open file of an object"

    def __init__(
        self, fs: AbstractFileSystem, store: Store, path: str, exclusive: bool, autocommit: bool, batch: int
    ) -> None:
        self.fs = fs
        self._store = store
        self._unnamed = store.begin(path, exclusive)
        size = self._unnamed.stream.block_bytes
        self._batch = max(1, batch // size) * size
        self._buffer = bytearray()
        self._written = 0
        self._autocommit = autocommit
        self._named = False
        self.discarded = False
        self._error = sys.exc_info()[1]
        self.path = path
        self.mode = "xb" if exclusive else "wb"

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: Any, /) -> int:
        if self.closed:
            raise ValueError("write to a closed file")
        self.require_own()
        view = memoryview(data).cast("B")
        length = len(view)
        while self._buffer and len(self._buffer) + len(view) >= self._batch:
            taken = self._batch - len(self._buffer)
            self._buffer += view[:taken]
            view = view[taken:]
            self._append(memoryview(self._buffer))
            self._buffer = bytearray()
        whole = len(view) // self._batch * self._batch
        if whole:
            self._append(view[:whole])
        self._buffer += view[whole:]
        self._written += length
        return length

    def close(self) -> None:
        """Give the object its name, or leave that to the transaction."""
        if self.closed:
            return
        error = sys.exc_info()[1]
        if not self.own or (error is not None and error is not self._error):
            self.discard()
            return
        try:
            if self._buffer:
                self._append(memoryview(self._buffer))
                self._buffer = bytearray()
            if self._autocommit:
                self.commit()
        except BaseException:
            self.discard()
            raise
        super().close()

    def commit(self) -> None:
        """Give the object its name."""
        commit_all(self._store, [self])

    def discard(self) -> None:
        """Give the object up."""
        if not self._named and not self.discarded:
            self.discarded = True
            if self.own:
                self._store.discard([self._unnamed])
        self._buffer = bytearray()
        super().close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
        else:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __del__(self) -> None:
        if self.own and hasattr(self, "_error") and not self.closed:
            warnings.warn(f"{self.path}: never closed, so it has not got its name", ResourceWarning, 2)
            self.discard()

    def _append(self, data: memoryview) -> None:
        try:
            self._store.append(self._unnamed, data)
        except BaseException:
            self.discard()
            raise


def commit_all(store: Store, files: list[ObjectWriter]) -> None:
    """Give the objects of these files their names, all or none."""
    for file in files:
        file.require_own()
    store.name([file._unnamed for file in files])
    for file in files:
        file._named = True
