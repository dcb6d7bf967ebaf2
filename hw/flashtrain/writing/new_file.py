"""Files that get their name when they are complete."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .errors import OutputError
from .places import check_file


@contextmanager
def replacing(path: Path, binary: bool = False) -> Iterator[IO[Any]]:
    """A new file, text in UTF-8 unless `binary`, which replaces the one at `path` at the end of the block.

    Missing folders are made. An exception within the block leaves the file of before. The new one has the
    permissions of the old one. A symbolic link at `path` is replaced, and its target stays.
    :class:`OutputError` if the file cannot be written, or `path` is no regular file.
    """
    check_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with begun_file(path) as (begun, descriptor):
            mode, encoding = ("wb", None) if binary else ("w", "utf-8")
            with os.fdopen(descriptor, mode, encoding=encoding, closefd=False) as file:
                yield file
            with suppress(FileNotFoundError):
                before = os.lstat(path).st_mode
                if stat.S_ISREG(before):
                    begun.chmod(stat.S_IMODE(before))
            begun.replace(path)
    except OSError as error:
        raise OutputError.of(path, error) from error


def appended_file(path: Path) -> IO[bytes]:
    """The file at `path` to read, and to append to; a new one in a missing folder too.

    A symbolic link is refused. :class:`OutputError` as of :func:`replacing`.
    """
    check_file(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            raise OutputError(f"{path}: is a symbolic link; expected a file, or a new name")
        return os.fdopen(os.open(path, flags, 0o666), "ab+")
    except OSError as error:
        raise OutputError.of(path, error) from error


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` by one with this text; :class:`OutputError` as of :func:`replacing`."""
    with replacing(path) as file:
        file.write(text)


@contextmanager
def begun_file(path: Path) -> Iterator[tuple[Path, int]]:
    """A new file beside `path` and its descriptor; both end with the block, and other names of the file stay.

    OSError if there can be none.
    """
    begun = path.with_name(f".{os.urandom(8).hex()}.new")
    descriptor = os.open(begun, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        yield begun, descriptor
    finally:
        os.close(descriptor)
        with suppress(OSError):
            begun.unlink()
