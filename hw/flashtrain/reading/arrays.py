"""Arrays of NumPy's files, `.npy` and `.npz` (NumPy's documentation, `numpy.lib.format`)."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from struct import error as StructError
from struct import unpack_from
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .errors import ContentError, InputError
from .limits import MOST_ARRAY_BYTES, MOST_ARRAYS, MOST_GROWTH, MOST_UNPACKED_BYTES
from .regular_file import regular_file

_ZIP = b"PK"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_KINDS = "biufcSU"
"""Booleans, numbers and texts of fixed length."""
_END = b"PK\5\6"
"""Begins the last record of an archive (PKWARE's APPNOTE, 4.3.16)."""
_END_BYTES = 22
_MOST_COMMENT = 0xFFFF
_BYTES_OF_NAME = 512
"""Of an array's entry in the directory of an archive, at most."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name; that of a `.npy` file has the name of the file.

    The header of each is compared with the file's size before there is memory for it. `InputError` names the
    array at fault; arrays of Python objects, which are pickled, are refused.
    """
    with regular_file(path, MOST_ARRAY_BYTES) as file:
        try:
            begin = file.read(len(_ZIP))
            file.seek(0)
            size = file.seek(0, 2)
            file.seek(0)
            if begin == _ZIP:
                return _archived(file, size)
            with _named(""):
                return {path.stem: _array(file, size)}
        except ContentError as error:
            raise InputError(path, str(error)) from error


def _archived(file: BinaryIO, size: int) -> dict[str, NDArray[Any]]:
    _check_directory(file, size)
    with _named(""):
        archive = zipfile.ZipFile(file)
    with archive:
        entries = archive.infolist()
        unpacked = sum(entry.file_size for entry in entries)
        most = min(MOST_ARRAY_BYTES, max(MOST_UNPACKED_BYTES, MOST_GROWTH * size))
        if unpacked > most:
            raise ContentError(f"would have {unpacked:,} bytes unpacked; expected at most {most:,}")
        arrays: dict[str, NDArray[Any]] = {}
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            if name in arrays:
                raise ContentError(f"array {name}: is in the file twice")
            with _named(f"array {name}: "):
                arrays[name] = _entry(archive, entry)
    return arrays


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    if entry.compress_type not in _METHODS or entry.flag_bits & 1:
        raise ContentError("is encrypted, or compressed by another method; expected as numpy.savez writes it")
    with archive.open(entry) as stream:
        array = _array(stream, entry.file_size)
        stream.read(1)  # the end, at which its checksum is compared
    return array


def _array(stream: Any, size: int) -> NDArray[Any]:
    """The array in the `size` bytes of a stream."""
    shape, in_fortran_order, dtype = _header(stream)
    if dtype.hasobject:
        raise ContentError("has Python objects, which would be unpickled; expected numbers")
    if dtype.kind not in _KINDS or not dtype.itemsize:
        raise ContentError(f"is of {dtype}; expected numbers")
    expected, left = prod(shape) * dtype.itemsize, size - stream.tell()
    if expected != left:
        raise ContentError(f"has {left:,} bytes of data; expected {expected:,}, by the shape {shape}")
    data = np.empty(expected, np.uint8)
    if stream.readinto(data) != expected:
        raise ContentError(f"ends before its {expected:,} bytes of data")
    array = data.view(dtype)
    return array.reshape(shape[::-1]).T if in_fortran_order else array.reshape(shape)


def _header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type; NumPy evaluates a header of at most 10,000 characters, as a literal."""
    try:
        version = npy.read_magic(stream)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, in_fortran_order, dtype = read(stream)
    except Exception as error:  # whatever a literal of somebody's makes of Python's parser
        raise ContentError("has no header of a .npy file of version 1 or 2") from error
    if len(shape) > 32 or not all(type(n) is int and 0 <= n <= MOST_ARRAY_BYTES for n in shape):
        raise ContentError(f"has a shape of {len(shape)} lengths; expected 32 at most, each from 0")
    return shape, in_fortran_order, dtype


def _check_directory(file: BinaryIO, size: int) -> None:
    """Raise `ContentError` unless the archive's directory is short: `zipfile` reads all of it."""
    file.seek(max(0, size - _END_BYTES - _MOST_COMMENT))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise ContentError("has no end of a .npz file")
    count, length = unpack_from("<HI", tail, at + 10)
    if count > MOST_ARRAYS or length > MOST_ARRAYS * _BYTES_OF_NAME:
        raise ContentError(f"has {count:,} arrays, or long names; expected at most {MOST_ARRAYS:,} arrays")
    file.seek(0)


@contextmanager
def _named(what: str) -> Iterator[None]:
    """`ContentError` for all that a damaged archive raises, with the array's name before it."""
    try:
        yield
    except ContentError as error:
        raise ContentError(f"{what}{error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, StructError, ValueError) as error:
        raise ContentError(f"{what}is no .npy or .npz file: {str(error).partition(chr(10))[0]}") from error
