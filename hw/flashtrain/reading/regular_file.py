"""Regular files of a limited size."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import InputError

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a fifo",
    stat.S_IFSOCK: "a socket",
}


@contextmanager
def regular_file(path: Path, most: int) -> Iterator[BinaryIO]:
    """The open file; `InputError` for one that is no regular file or has more than `most` bytes."""
    try:
        # To open a device may do something, and to open a fifo waits for its writer: first a look.
        _check(path, os.stat(path), most)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            _check(path, os.fstat(descriptor), most)
            yield file
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        if isinstance(error, InputError) or "\0" not in str(path):
            raise
        raise InputError(path, "cannot be read: a NUL in its name") from error
    except MemoryError as error:
        raise InputError(path, "cannot be read: it takes more memory than there is") from error


def read_bytes(path: Path, most: int) -> bytes:
    """The file's bytes, `most` at most; `InputError`."""
    with regular_file(path, most) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _too_large(path, len(data), most)
    return data


def begins_with(path: Path, word: bytes, within: int = 80) -> bool:
    """Whether `word` is in the first bytes of a regular file; other errors are for whoever reads it."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return word in file.read(within)
    except (OSError, ValueError):
        return False


def _check(path: Path, status: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise InputError(path, f"is {kind}; expected a regular file")
    if status.st_size > most:
        raise _too_large(path, status.st_size, most)


def _too_large(path: Path, size: int, most: int) -> InputError:
    return InputError(path, f"has {size:,} bytes; expected at most {most:,}")
