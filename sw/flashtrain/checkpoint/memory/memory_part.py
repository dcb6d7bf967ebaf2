"""A part of a job's memory, and how much of it the storage has, too."""

from dataclasses import dataclass


@dataclass
class MemoryPart:
    """Bytes with one kind of content.

    Members
    -------
    bytes: of all; resident: of these in DRAM; clean: of the resident ones have a copy on the storage.
    durable: the storage has the content already, or nobody needs it: it is never written.
    without_content: it is not read either.
    pinned: it stays in DRAM.
    """

    bytes: int
    durable: bool = False
    without_content: bool = False
    pinned: bool = False
    resident: int = 0
    clean: int = 0

    @property
    def missing(self) -> int:
        return self.bytes - self.resident

    @property
    def unsaved(self) -> int:
        """Bytes that only DRAM has."""
        return 0 if self.durable else self.resident - self.clean

    def change(self) -> None:
        """Note new content: copies are out of date."""
        self.clean = 0

    def load(self, count: int, clean: bool) -> None:
        """Note that `count` bytes are in DRAM; clean: they were read from a copy."""
        self.resident += count
        self.clean += count if clean else 0

    def write_bytes(self, count: int) -> int:
        """Bytes that are written when `count` bytes leave DRAM, clean ones first."""
        return 0 if self.durable else max(0, count - self.clean)

    def free(self, count: int) -> int:
        """Take `count` bytes from DRAM; returns the bytes that were written for it."""
        written = self.write_bytes(count)
        self.clean = max(0, self.clean - count)
        self.resident -= count
        return written
