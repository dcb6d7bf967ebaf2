"""A block trace: the commands to a block device, in the order of their times."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import FlashtrainError

SECTOR_BYTES = 512
"""The unit of addresses and lengths, as in Linux."""

RECORD = np.dtype([("time", "<i8"), ("lba", "<i8"), ("sectors", "<i8"), ("op", "u1")])
"""Nanoseconds since the start, first sector, number of sectors, `Operation`."""

MOST = (1 << 62) - 1
"""The largest time or address."""


class TraceError(FlashtrainError, ValueError):
    """A trace cannot be read or executed; the message names the file, the line and what was expected."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")


class Operation(IntEnum):
    """Commands of a trace. TRIM: the sectors hold no data any more; FLUSH has no sectors."""

    READ = 0
    WRITE = 1
    TRIM = 2
    FLUSH = 3


class TraceRecord(NamedTuple):
    """One command; see `RECORD`."""

    time: int
    lba: int
    sectors: int
    op: Operation


@dataclass(frozen=True)
class BlockTrace:
    """`records`: `RECORD`[n], in the order of their times. `lines`: int64[n], of `path`, from 1."""

    path: Path
    records: NDArray[np.void]
    lines: NDArray[np.int64]

    @classmethod
    def of(cls, path: Path, numbered: Iterable[tuple[int, TraceRecord]]) -> "BlockTrace":
        """A trace of (line, record). Equal times keep their order."""
        rows = list(numbered)
        records = np.array([record for _line, record in rows], RECORD)
        lines = np.array([line for line, _record in rows], np.int64)
        order = np.argsort(records["time"], kind="stable")
        return cls(path, records[order], lines[order])

    def __len__(self) -> int:
        return len(self.records)

    def bytes_of(self, op: Operation) -> int:
        """Bytes of all commands of this kind."""
        records = self.records
        return int(records["sectors"][records["op"] == op].sum()) * SECTOR_BYTES

    @property
    def end(self) -> int:
        """The first sector behind all commands."""
        return int((self.records["lba"] + self.records["sectors"]).max(initial=0))

    def error(self, index: int, message: str) -> TraceError:
        """A `TraceError` that names the line of record `index`."""
        return TraceError(self.path, int(self.lines[index]), message)


class LineError(ValueError):
    """A line is not as its format has it; the message says what was expected."""


def number(text: str, what: str, least: int = 0) -> int:
    """An integer in decimal digits. Raises `LineError`."""
    if not (text.isascii() and text.isdigit()) or not least <= int(text) <= MOST:
        raise LineError(f"{what} is {text!r}; expected an integer of at least {least}")
    return int(text)


def sectors(text: str, what: str, least: int = 0) -> int:
    """A number of bytes as sectors. Raises `LineError`."""
    count = number(text, what, least)
    if count % SECTOR_BYTES:
        raise LineError(f"{what} is {count} bytes; expected a multiple of {SECTOR_BYTES}")
    return count // SECTOR_BYTES
