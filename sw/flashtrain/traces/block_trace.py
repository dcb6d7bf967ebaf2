"""A block trace: the commands to a block device, in the order of their times."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.reading import InputError
from flashtrain.reading.limits import MOST_DIGITS

SECTOR_BYTES = 512
"""The unit of addresses and lengths, as in Linux."""

RECORD = np.dtype([("time", "<i8"), ("lba", "<i8"), ("sectors", "<i8"), ("op", "u1")])
"""Nanoseconds since the start, first sector, number of sectors, `Operation`."""

MOST = (1 << 62) - 1
"""The largest time or address, and all sectors of a trace together."""

MOST_COMMANDS = 10_000_000
"""Commands of a trace, each of which takes some 80 bytes of memory."""


class TraceError(InputError):
    """A line of a trace is wrong, or cannot be executed."""


class Operation(IntEnum):
    """Commands of a trace. TRIM: the sectors hold no data any more; FLUSH has no sectors."""

    READ = 0
    WRITE = 1
    TRIM = 2
    FLUSH = 3


class TraceRecord(NamedTuple):
    """One command; see `RECORD`. device: as the file names it."""

    time: int
    lba: int
    sectors: int
    op: Operation
    device: str = ""


@dataclass(frozen=True)
class Devices:
    """The commands of a file that are taken, where it has several devices.

    - device: those of this one; empty: of the only one that there is.
    - spread: those of all devices, which lie behind each other in the order of their first commands.
    - most: the first so many commands; None for all.
    """

    device: str = ""
    spread: bool = False
    most: int | None = None


ONE_DEVICE = Devices()
MOST_DEVICES = 4096
"""Devices of a file."""
SPREAD_SECTORS = 2048
"""Devices that are spread begin at multiples of 1 MiB."""


@dataclass(frozen=True)
class BlockTrace:
    """`records`: `RECORD`[n], in the order of their times. `lines`: int64[n], of `path`, from 1.

    Times begin at 0 if the file's clock is that of a calendar. devices: the begins of those that are spread.
    """

    path: Path
    records: NDArray[np.void]
    lines: NDArray[np.int64]
    devices: dict[str, int]

    @classmethod
    def of(cls, path: Path, numbered: Iterable[tuple[int, TraceRecord]]) -> "BlockTrace":
        """A trace of (line, record). Equal times keep their order; devices are spread."""
        numbers: dict[str, int] = {}

        def row(line: int, record: TraceRecord) -> tuple[int, int, tuple[int, ...]]:
            number = numbers.setdefault(record.device, len(numbers))
            if number == MOST_DEVICES:
                raise TraceError(path, f"more than {MOST_DEVICES:,} devices", line)
            return line, number, record[:4]

        rows = np.fromiter(
            (row(line, record) for line, record in numbered),
            [("line", "<i8"), ("device", "<i8"), ("record", RECORD)],
        )
        rows = rows[np.argsort(rows["record"]["time"], kind="stable")]
        records = rows["record"]
        ends = np.zeros(len(numbers) + 1, np.int64)
        np.maximum.at(ends, rows["device"] + 1, records["lba"] + records["sectors"])
        if sum(ends.tolist()) > MOST:
            raise TraceError(path, f"{sum(ends.tolist())} sectors of all devices; expected at most {MOST}")
        bases = np.cumsum(-(-ends // SPREAD_SECTORS) * SPREAD_SECTORS)
        records["lba"] += bases[rows["device"]]
        return cls(path, records, rows["line"], dict(zip(numbers, bases.tolist(), strict=False)))

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
        return TraceError(self.path, message, int(self.lines[index]))


class LineError(ValueError):
    """A line is not as its format has it; the message says what was expected."""


def number(text: str, what: str, least: int = 0) -> int:
    """An integer in decimal digits. Raises `LineError`."""
    if not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS or not least <= int(text) <= MOST:
        raise LineError(f"{what} is {text!r}; expected an integer of at least {least}, at most {MOST}")
    return int(text)


def sectors(text: str, what: str, least: int = 0) -> int:
    """A number of bytes as sectors. Raises `LineError`."""
    count = number(text, what, least)
    if count % SECTOR_BYTES:
        raise LineError(f"{what} is {count} bytes; expected a multiple of {SECTOR_BYTES}")
    return count // SECTOR_BYTES
