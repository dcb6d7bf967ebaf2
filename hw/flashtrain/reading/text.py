"""Files of text in UTF-8."""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from .errors import InputError
from .limits import MOST_LINE_BYTES, MOST_LINES_BYTES, MOST_TEXT_BYTES
from .regular_file import read_bytes, regular_file

_COMPRESSED: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}  # fmt: skip
_TAR_MAGIC = slice(257, 262)


def read_text(path: Path, most: int = MOST_TEXT_BYTES) -> str:
    """The file's text, `most` bytes at most; `InputError`."""
    data = read_bytes(path, most)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"not UTF-8 at byte {error.start}; expected text", line) from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line, one at a time; `InputError`.

    A file may be compressed by gzip, bzip2 or xz, and may be a tar archive of one file.
    """
    with regular_file(path, MOST_LINES_BYTES) as file:
        number = size = 0
        for line in _lines_of(path, file):
            number, size = number + 1, size + len(line)
            if len(line) > MOST_LINE_BYTES:
                raise InputError(path, f"a line of more than {MOST_LINE_BYTES:,} bytes", number)
            if size > MOST_LINES_BYTES:
                raise InputError(path, f"unpacks to more than {MOST_LINES_BYTES:,} bytes", number)
            try:
                yield number, line.decode()
            except UnicodeDecodeError as error:
                problem = f"not UTF-8 at byte {error.start} of the line; expected text"
                raise InputError(path, problem, number) from error


def _lines_of(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file, up to `MOST_LINE_BYTES` + 1 bytes of each at a time."""
    try:
        unpacked = io.BufferedReader(cast(io.RawIOBase, _unpacked(file)))
        if unpacked.peek(_TAR_MAGIC.stop)[_TAR_MAGIC] == b"ustar":
            yield from _lines_of_archive(path, unpacked)
        else:
            while line := unpacked.readline(MOST_LINE_BYTES + 1):
                yield line
    except (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, gzip.BadGzipFile) as error:
        raise InputError(path, f"is damaged: {error}") from error


def _unpacked(file: BinaryIO) -> IO[bytes]:
    head = file.read(max(map(len, _COMPRESSED)))
    file.seek(0)
    for magic, kind in _COMPRESSED.items():
        if head.startswith(magic):
            return kind(file)
    return file


def _lines_of_archive(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    with tarfile.open(fileobj=file, mode="r|") as archive:
        names: list[str] = []
        for member in archive:
            if not member.isfile():
                continue
            names.append(member.name)
            content = archive.extractfile(member)
            if len(names) > 1 or content is None:
                raise InputError(path, f"holds {', '.join(map(repr, names))}; expected one file")
            while line := content.readline(MOST_LINE_BYTES + 1):
                yield line
