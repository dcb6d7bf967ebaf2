"""Files of text in UTF-8."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, TypeVar, cast

from .errors import ContentError, InputError
from .limits import MOST_HEADER_BYTES, MOST_LINE_BYTES, MOST_LINES_BYTES, MOST_TEXT_BYTES
from .regular_file import read_bytes, regular_file
from .unpacked import DAMAGED, Unpacked

ResultT = TypeVar("ResultT")

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
        for number, line in enumerate(_lines_of(path, file), 1):
            if len(line) > MOST_LINE_BYTES:
                raise InputError(path, f"a line of more than {MOST_LINE_BYTES:,} bytes", number)
            try:
                yield number, line.decode()
            except UnicodeDecodeError as error:
                problem = f"not UTF-8 at byte {error.start} of the line; expected text"
                raise InputError(path, problem, number) from error


def _lines_of(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file, up to `MOST_LINE_BYTES` + 1 bytes of each at a time."""
    try:
        unpacked = io.BufferedReader(Unpacked(path, file))
        if unpacked.peek(_TAR_MAGIC.stop)[_TAR_MAGIC] == b"ustar":
            yield from _lines_of_archive(path, unpacked)
        else:
            while line := unpacked.readline(MOST_LINE_BYTES + 1):
                yield line
    except DAMAGED as error:
        raise InputError(path, f"is damaged: {error}") from error


class _ArchiveSource:
    """The bytes of an archive for `tarfile`, which would read headers of any length into memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left: int | None = None

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise ContentError(f"a header of more than {MOST_HEADER_BYTES:,} bytes")
        return data

    def of_header(self, read: Callable[[], ResultT]) -> ResultT:
        """The result of `read`, which reads the header in front of a file; `ContentError` for a long one."""
        self._left = MOST_HEADER_BYTES
        try:
            return read()
        finally:
            self._left = None


def _lines_of_archive(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    import tarfile  # late: it takes a moment, and few files are archives

    try:
        source = _ArchiveSource(file)
        stream = cast(IO[bytes], source)
        with source.of_header(lambda: tarfile.open(fileobj=stream, mode="r|")) as archive:
            names: list[str] = []
            while (member := source.of_header(archive.next)) is not None:
                if not member.isfile():
                    continue
                names.append(member.name)
                content = archive.extractfile(member)
                if len(names) > 1 or content is None:
                    raise InputError(path, f"holds {', '.join(map(repr, names))}; expected one file")
                while line := content.readline(MOST_LINE_BYTES + 1):
                    yield line
    except (tarfile.TarError, ValueError, IndexError) as error:  # of numbers and texts in its headers, too
        if isinstance(error, InputError):
            raise
        raise InputError(path, f"is a damaged archive: {error}") from error
