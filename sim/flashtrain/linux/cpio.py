"""Archives of the kernel's initial file system: cpio in the "newc" format."""

import stat
from pathlib import PurePosixPath
from typing import BinaryIO


class Cpio:
    """Writes an archive to a file. Folders come before what is in them, by themselves."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._number = 0
        self._folders: set[PurePosixPath] = set()
        self._names: set[PurePosixPath] = set()

    def folder(self, name: str) -> None:
        path = PurePosixPath(name.lstrip("/"))
        for part in [*reversed(path.parents), path]:
            if part != PurePosixPath() and part not in self._folders:
                self._folders.add(part)
                self._entry(str(part), stat.S_IFDIR | 0o755, b"")

    def add(self, name: str, content: bytes, executable: bool = False) -> None:
        """A file; a second one of a name is left out."""
        path = PurePosixPath(name.lstrip("/"))
        if path in self._names:
            return
        self._names.add(path)
        self.folder(str(path.parent))
        self._entry(str(path), stat.S_IFREG | (0o755 if executable else 0o644), content)

    def link(self, name: str, target: str) -> None:
        path = PurePosixPath(name.lstrip("/"))
        self.folder(str(path.parent))
        self._entry(str(path), stat.S_IFLNK | 0o777, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        """A character device."""
        path = PurePosixPath(name.lstrip("/"))
        self.folder(str(path.parent))
        self._entry(str(path), stat.S_IFCHR | 0o600, b"", major, minor)

    def end(self) -> None:
        self._entry("TRAILER!!!", 0, b"")

    def _entry(self, name: str, mode: int, content: bytes, major: int = 0, minor: int = 0) -> None:
        self._number += 1
        raw = name.encode() + b"\0"
        fields = (self._number, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(raw), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + raw
        self._file.write(head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4))
