"""Locks of named entries between processes: one byte of a file for each.

They belong to an open file (F_OFD_SETLK) and end with it, however a process ends. A file for each entry would
stay behind, for its removal races with the next process that opens it.
"""

import fcntl
import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_FLOCK = "@hhqqi4x"
"""`struct flock` of Linux: type, whence, start, length, process."""


class EntryLocks:
    """The locks in the file at `path`, which is created with the first of them.

    A process holds any number of entries, and many processes hold one. One process has an entry alone, while
    no other one and not even its own process holds it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shared: int | None = None

    def hold(self, name: str) -> bool:
        """Hold an entry until :meth:`release`, or the end of this process; False: another has it alone."""
        return _lock(self._file(), fcntl.F_RDLCK, name, wait=False)

    def release(self, name: str) -> None:
        _lock(self._file(), fcntl.F_UNLCK, name, wait=False)

    @contextmanager
    def alone(self, name: str, waiting: Callable[[], None] | None = None) -> Iterator[bool]:
        """Have an entry alone in this block; yields False at once if others have it.

        waiting: is called before the block waits for these others, instead.

        Compilers that are started meanwhile have the lock, too. If the block is interrupted or its process is
        killed, then nobody else writes to the entry before they have ended.
        """
        descriptor = self._open()
        try:
            os.set_inheritable(descriptor, True)
            locked = _lock(descriptor, fcntl.F_WRLCK, name, wait=False)
            if not locked and waiting is not None:
                waiting()
                locked = _lock(descriptor, fcntl.F_WRLCK, name, wait=True)
            yield locked
            if locked:
                _lock(descriptor, fcntl.F_UNLCK, name, wait=False)
        finally:
            os.close(descriptor)

    def _file(self) -> int:
        """The file of what this process holds; another one if somebody has deleted it with its folder."""
        if self._shared is not None and not _is_at(self._shared, self._path):
            os.close(self._shared)
            self._shared = None
        if self._shared is None:
            self._shared = self._open()
        return self._shared

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int, kind: int, name: str, wait: bool) -> bool:
    """Whether the byte of `name` is locked now."""
    start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "little")
    request = struct.pack(_FLOCK, kind, os.SEEK_SET, start, 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK, request)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
