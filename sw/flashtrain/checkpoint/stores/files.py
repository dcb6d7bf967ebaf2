"""Checkpoints as files in a folder: what a plain file system does."""

import os
import struct
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointDamaged, CheckpointExists, NoCheckpoint
from flashtrain.writing import begun_file

from .manifest import ArrayEntry, Manifest
from .store import Checkpoint

MAGIC = b"FTC1"
SUFFIX = ".checkpoint"
_HEAD = struct.Struct("<4sIQ")  # magic, CRC-32 of the manifest, bytes of the manifest


class CheckpointFile:
    """A checkpoint in a file, opened for reading; :class:`CheckpointDamaged` for another file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            head = file.read(_HEAD.size).ljust(_HEAD.size, b"\0")
            magic, crc, length = _HEAD.unpack(head)
            if magic != MAGIC:
                raise CheckpointDamaged(f"{path} begins with {magic!r}; expected {MAGIC!r}, a checkpoint")
            raw = file.read(min(length, path.stat().st_size))
        if crc32(raw) != crc:
            raise CheckpointDamaged(f"{path}: the checksum of its manifest is wrong")
        self.manifest = Manifest.unpack(raw)[0]
        self._begin = _HEAD.size + length  # of the data

    def read(self, entry: ArrayEntry) -> NDArray[Any]:
        """One array; :class:`CheckpointDamaged` by its checksum."""
        with self._path.open("rb") as file:
            file.seek(self._begin + entry.offset)
            return entry.array(np.frombuffer(file.read(entry.nbytes), np.uint8))


class FileSaving:
    """A file that another thread writes."""

    def __init__(self, writing: "Future[Checkpoint]") -> None:
        self._writing = writing

    @property
    def done(self) -> bool:
        return self._writing.done()

    def advance(self) -> None:
        if self._writing.done():
            self._writing.result()

    def result(self) -> Checkpoint:
        return self._writing.result()


class FileCheckpoints:
    """A :class:`CheckpointStore` of files in `folder`, which is made if it does not exist.

    A file has another name until it is written and synchronised, so a loss of power leaves no part of it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._writer = ThreadPoolExecutor(1)
        self._last: FileSaving | None = None

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        found = sorted((path.stat().st_mtime_ns, path) for path in self._folder.glob(f"*{SUFFIX}"))
        manifests = (CheckpointFile(path).manifest for _, path in found)
        return tuple(Checkpoint(one.name, one.step, one.nbytes) for one in manifests)

    def save_async(
        self, name: str, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes = b""
    ) -> FileSaving:
        if self._last is not None:
            self._last.result()
        path = self._path(name)
        if path.exists():
            raise CheckpointExists(f"there is a checkpoint {name!r} in {self._folder} already")
        manifest = Manifest.of(name, step, arrays, host)
        data = manifest.data(arrays)
        self._last = FileSaving(self._writer.submit(self._write, path, manifest, data))
        return self._last

    def open(self, name: str) -> CheckpointFile:
        return CheckpointFile(self._existing(name))

    def manifest(self, name: str) -> Manifest:
        return self.open(name).manifest

    def read(self, name: str, array: str) -> NDArray[Any]:
        opened = self.open(name)
        return opened.read(opened.manifest.entry(array))

    def delete(self, name: str) -> None:
        self._existing(name).unlink()
        self._synchronise()

    # Implementation.

    def _path(self, name: str) -> Path:
        return self._folder / (quote(name, safe="") + SUFFIX)

    def _existing(self, name: str) -> Path:
        path = self._path(name)
        if not path.exists():
            known = ", ".join(unquote(one.stem) for one in sorted(self._folder.glob(f"*{SUFFIX}")))
            raise NoCheckpoint(f"no checkpoint {name!r} in {self._folder}; it has {known or 'none'}")
        return path

    def _write(self, path: Path, manifest: Manifest, data: NDArray[np.uint8]) -> Checkpoint:
        raw = manifest.pack()
        with begun_file(path) as (begun, descriptor):
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(_HEAD.pack(MAGIC, crc32(raw), len(raw)) + raw)
                file.write(data.data)
            os.fsync(descriptor)
            begun.rename(path)
        self._synchronise()
        return Checkpoint(manifest.name, manifest.step, manifest.nbytes)

    def _synchronise(self) -> None:
        """Make the names in the folder durable."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
