"""The record of an entry of the user's cache: its origin, and its files as they were built."""

import json
import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from flashtrain.reading import Node, read_document
from flashtrain.reading.ownership import require_own_file

_FORMAT = 1
_BLOCK = 512
"""Bytes of `st_blocks`."""


@dataclass(frozen=True)
class Record:
    """Facts of an entry.

    - what: its content, in words
    - seconds: the time that its build has taken
    - work: bytes of the sources, to which that time is proportional; 0: unknown
    - built: the end of the build, in seconds since 1970
    - bytes: its space on the disk
    - files: size and CRC-32 of each; the latter is 0 but for libraries, which processes load
    """

    what: str
    seconds: float
    work: int
    built: float
    bytes: int
    files: Mapping[str, tuple[int, int]]

    def save(self, path: Path) -> None:
        draft = path.with_suffix(".new")
        draft.touch(0o600)
        draft.write_text(json.dumps({"format": _FORMAT, **asdict(self)}), encoding="utf-8")
        draft.replace(path)

    @classmethod
    def of(cls, folder: Path, what: str, seconds: float, work: int) -> "Record":
        """The record of the files that are in the folder now."""
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        files = {str(path.relative_to(folder)): _size_and_check(path) for path in paths}
        blocks = sum(path.stat().st_blocks for path in paths)
        return cls(what, seconds, work, time.time(), _BLOCK * blocks, files)

    @classmethod
    def load(cls, path: Path) -> "Record":
        """Raises `InputError` if there is none, or a damaged one."""
        return read_document(path, _record)

    def damage(self, folder: Path) -> str | None:
        """The first file that is not as it was built. Raises `ForeignFile` for one that others can change."""
        for place in {parent for name in self.files for parent in Path(name).parents}:
            with suppress(FileNotFoundError):
                require_own_file(folder / place, (folder / place).stat())
        for name, expected in self.files.items():
            try:
                found = _size_and_check(folder / name)
            except FileNotFoundError:
                return f"{name} is missing"
            if found[0] != expected[0]:
                return f"{name} has {found[0]} bytes instead of {expected[0]}"
            if found != expected:
                return f"{name} has another checksum"
        return None


def _record(document: Node) -> Record:
    document.member("format").exactly(_FORMAT)
    _, what, seconds, work, built, space, files = document.keys(
        "format", "what", "seconds", "work", "built", "bytes", "files"
    )
    return Record(
        what.text(), seconds.number(), work.count(), built.number(), space.count(), files.members(_file)
    )


def _file(node: Node) -> tuple[int, int]:
    numbers = node.items(Node.count)
    if len(numbers) != 2:
        raise node.fail("the size and the CRC-32 of a file")
    return numbers[0], numbers[1]


def _size_and_check(path: Path) -> tuple[int, int]:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        require_own_file(path, status)
        return status.st_size, zlib.crc32(file.read()) if path.suffix == ".so" else 0
