"""The manifest of a checkpoint: its arrays, their places and checksums, and the state of the host."""

import json
import reprlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointDamaged, CheckpointError, NoCheckpoint

VERSION = 1
ALIGNMENT = 64
"""Bytes; arrays begin at multiples of it in the data of a checkpoint."""


@dataclass(frozen=True)
class ArrayEntry:
    """An array of a checkpoint.

    - dtype: as NumPy writes it, with its byte order.
    - offset, nbytes: its bytes in the data of the checkpoint.
    - crc: CRC-32 of its bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int
    crc: int

    @classmethod
    def of(cls, name: str, array: NDArray[Any], after: int) -> "ArrayEntry":
        """The entry of an array in data of `after` bytes so far; :class:`CheckpointError` for what is no
        array of numbers."""
        if not isinstance(array, np.ndarray | np.generic) or array.dtype.hasobject:
            got = getattr(array, "dtype", type(array).__name__)
            raise CheckpointError(f"array {name!r} is {got}; expected an array of a fixed size of bytes")
        offset = -(-after // ALIGNMENT) * ALIGNMENT
        return cls(name, array.dtype.str, array.shape, offset, array.nbytes, crc32(bytes_of(array).data))

    @property
    def end(self) -> int:
        """The bytes of the data up to its end."""
        return self.offset + self.nbytes

    def array(self, data: NDArray[np.uint8]) -> NDArray[Any]:
        """The array from its bytes, uint8[nbytes]; :class:`CheckpointDamaged` by its checksum."""
        if crc32(data.data) != self.crc:
            raise CheckpointDamaged(f"array {self.name!r}: its checksum is wrong")
        return np.frombuffer(data.tobytes(), self.dtype).reshape(self.shape).copy()


@dataclass(frozen=True)
class Manifest:
    """The contents of a checkpoint.

    - step: the number of updates that led to it.
    - host: the state of the host, bytes that its user has given (`host_state`).
    - arrays: in the order of their bytes.
    """

    name: str
    step: int
    host: bytes
    arrays: tuple[ArrayEntry, ...]

    def __post_init__(self) -> None:
        check_name(self.name)
        if not isinstance(self.step, int) or isinstance(self.step, bool) or not 0 <= self.step < 1 << 63:
            raise CheckpointError(f"step is {reprlib.repr(self.step)}; expected an integer from 0 on")
        if not isinstance(self.host, bytes):
            raise CheckpointError(f"host is a {type(self.host).__name__}; expected bytes")

    @classmethod
    def of(cls, name: str, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes) -> "Manifest":
        """The manifest of these arrays; :class:`CheckpointError` for what is no array of numbers."""
        if not isinstance(arrays, Mapping) or not all(isinstance(key, str) for key in arrays):
            raise CheckpointError(f"arrays is a {type(arrays).__name__}; expected arrays by name")
        entries: list[ArrayEntry] = []
        for key, array in arrays.items():
            entries.append(ArrayEntry.of(key, array, entries[-1].end if entries else 0))
        return cls(name, step, host, tuple(entries))

    @property
    def nbytes(self) -> int:
        """Bytes of its data."""
        return max((entry.end for entry in self.arrays), default=0)

    def entry(self, array: str) -> ArrayEntry:
        for entry in self.arrays:
            if entry.name == array:
                return entry
        known = ", ".join(entry.name for entry in self.arrays)
        raise NoCheckpoint(f"checkpoint {self.name!r} has no array {array!r}; it has {known or 'none'}")

    def data(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
        """A copy of the arrays' bytes, uint8[nbytes]."""
        data = np.zeros(self.nbytes, np.uint8)
        for entry in self.arrays:
            data[entry.offset : entry.end] = bytes_of(arrays[entry.name])
        return data

    def pack(self, **more: Any) -> bytes:
        """Its bytes, JSON; `more` is what a store adds of its own."""
        document = {
            "version": VERSION, "name": self.name, "step": self.step, "host": b64encode(self.host).decode(),
            "arrays": [[e.name, e.dtype, list(e.shape), e.offset, e.nbytes, e.crc] for e in self.arrays],
            **more,
        }  # fmt: skip
        return json.dumps(document, separators=(",", ":")).encode()

    @classmethod
    def unpack(cls, raw: bytes) -> "tuple[Manifest, dict[str, Any]]":
        """The manifest from its bytes, and the whole document; :class:`CheckpointDamaged`."""
        try:
            document = json.loads(raw)
            if document["version"] != VERSION:
                raise CheckpointDamaged(
                    f"a checkpoint of format version {document['version']}; expected {VERSION}"
                )
            arrays = tuple(_entry(fields) for fields in document["arrays"])
            manifest = cls(document["name"], document["step"], b64decode(document["host"]), arrays)
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
            raise CheckpointDamaged(f"the manifest of a checkpoint is malformed: {error}") from error
        return manifest, document


def check_name(name: object) -> None:
    """:class:`CheckpointError` for what is no name of a checkpoint."""
    if not isinstance(name, str) or not name:
        raise CheckpointError(f"name is {reprlib.repr(name)}; expected a text of at least a character")


def bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array in its order of indices, without a copy if they lie so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _entry(fields: Iterable[Any]) -> ArrayEntry:
    name, dtype, shape, offset, nbytes, crc = fields
    if prod(shape) * np.dtype(dtype).itemsize != nbytes or min(offset, *shape, 0) < 0:
        raise ValueError(f"array {name!r} of {nbytes} bytes at {offset} is {dtype}{shape}")
    return ArrayEntry(name, dtype, tuple(shape), offset, nbytes, crc)
