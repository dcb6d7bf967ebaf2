"""Files that may be compressed, unpacked as they are read, with limits of bytes and memory."""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from .errors import InputError
from .limits import MOST_LINES_BYTES, MOST_XZ_BYTES

DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
"""What a damaged file raises while it is unpacked, beside `OSError`."""

_CHUNK = 64 << 10
_MAGIC_BYTES = 6


class Unpacked(io.RawIOBase):
    """The bytes of `file`, which may be compressed by gzip, bzip2 or xz: `MOST_LINES_BYTES` at most."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._size = 0
        magic = file.read(_MAGIC_BYTES)
        file.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            self._source: Any = gzip.GzipFile(fileobj=file)
        elif magic.startswith(b"BZh"):
            self._source = bz2.BZ2File(file)
        else:
            self._source = _Xz(file) if magic == b"\xfd7zXZ\0" else file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        self._size += len(data)
        if self._size > MOST_LINES_BYTES:
            raise InputError(self._path, f"unpacks to more than {MOST_LINES_BYTES:,} bytes")
        buffer[: len(data)] = data
        return len(data)


class _Xz:
    """A stream of xz, whose header says how much memory it takes: `MOST_XZ_BYTES` at most."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_XZ_BYTES)

    def read(self, size: int) -> bytes:
        while not self._decompressor.eof:
            fed = self._file.read(_CHUNK) if self._decompressor.needs_input else b""
            if self._decompressor.needs_input and not fed:
                raise EOFError("it ends within its stream")
            if data := self._decompressor.decompress(fed, size):
                return data
        if self._decompressor.unused_data or self._file.read(1):
            raise EOFError("bytes behind its stream; expected one stream")
        return b""
