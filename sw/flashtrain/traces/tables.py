"""Traces in tables with commas between the columns, as their publishers have them.

- MSR Cambridge: SNIA IOTTA 388
- SPC: the trace file format of the Storage Performance Council, which the UMass repository uses
- Alibaba: block traces of IISWC'20
- Tencent: traces of cloud block storage of ATC'20
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .block_trace import LineError, Operation, TraceRecord, number, sectors

_SECONDS = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,12}))?")
_LETTERS = {"r": Operation.READ, "w": Operation.WRITE}
_DIGITS = {"0": Operation.READ, "1": Operation.WRITE}
_WORDS = {"read": Operation.READ, "write": Operation.WRITE}


def seconds(text: str) -> int:
    """Seconds with decimals, as nanoseconds. Raises `LineError`."""
    match = _SECONDS.fullmatch(text)
    if match is None:
        raise LineError(f"the time is {text!r}; expected seconds, such as 12.345678")
    return int(match[1]) * 10**9 + int((match[2] or "").ljust(9, "0")[:9])


def _ticks(nanoseconds: int) -> Callable[[str], int]:
    return lambda text: number(text, "the time") * nanoseconds


def _count(text: str) -> int:
    return number(text, "the sectors", 1)


def _first(text: str) -> int:
    return number(text, "the first sector")


def _offset(text: str) -> int:
    return sectors(text, "the offset")


def _length(text: str) -> int:
    return sectors(text, "the length", 1)


@dataclass(frozen=True)
class Table:
    """Columns of a table: their names, and the positions and units of those that count.

    - device: the columns that name the device together.
    - operations: by the text of their column, in lower case.
    """

    columns: tuple[str, ...]
    time: int
    device: tuple[int, ...]
    op: int
    operations: Mapping[str, Operation]
    first: int
    count: int
    time_of: Callable[[str], int]
    first_of: Callable[[str], int]
    count_of: Callable[[str], int]

    def fits(self, text: str) -> bool:
        """Whether a line looks as one of this table."""
        cells = _cells(text)
        kinds = self._is_header(cells) or (
            cells[self.op : self.op + 1] and cells[self.op].lower() in self.operations
        )
        return len(cells) == len(self.columns) and bool(kinds)

    def _is_header(self, cells: list[str]) -> bool:
        return [cell.lower() for cell in cells] == [name.lower() for name in self.columns]

    def record(self, text: str) -> TraceRecord | None:
        """The command of a line; None for the names of the columns. Raises `LineError`."""
        cells = _cells(text)
        if self._is_header(cells):
            return None
        if len(cells) < len(self.columns):
            raise LineError(f"{len(cells)} columns; expected {','.join(self.columns)}")
        if (op := self.operations.get(cells[self.op].lower())) is None:
            known = ", ".join(self.operations)
            raise LineError(f"{self.columns[self.op]} is {cells[self.op]!r}; expected one of {known}")
        return TraceRecord(
            self.time_of(cells[self.time]),
            self.first_of(cells[self.first]),
            self.count_of(cells[self.count]),
            op,
            ".".join(cells[column] for column in self.device),
        )


MSR = Table(
    ("Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime"),
    0, (1, 2), 3, _WORDS, 4, 5, _ticks(100), _offset, _length,
)  # fmt: skip
"""Times are ticks of 100 ns since the year 1601."""
ALIBABA = Table(
    ("device_id", "opcode", "offset", "length", "timestamp"),
    4, (0,), 1, _LETTERS, 2, 3, _ticks(1000), _offset, _length,
)  # fmt: skip
TENCENT = Table(
    ("Timestamp", "Offset", "Size", "IOType", "VolumeID"),
    0, (4,), 3, _DIGITS, 1, 2, _ticks(10**9), _first, _count,
)  # fmt: skip
SPC = Table(
    ("ASU", "LBA", "Size", "Opcode", "Timestamp"), 4, (0,), 3, _LETTERS, 1, 2, seconds, _first, _length
)
TABLES = {"msr": MSR, "alibaba": ALIBABA, "tencent": TENCENT, "spc": SPC}


class TableReader:
    """Lines of one file, in their order."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line; None for the names of the columns. Raises `LineError`."""
        return self._table.record(text)


_GROUPS = ("device", "op", "lba", "sectors", "offset", "bytes", "s", "ms", "us", "ns", "ps")
_PICOSECONDS = {"ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
_NAMES = {
    **_LETTERS, **_WORDS, "rd": Operation.READ, "wr": Operation.WRITE, "d": Operation.TRIM,
    "t": Operation.TRIM, "trim": Operation.TRIM, "discard": Operation.TRIM, "f": Operation.FLUSH,
    "flush": Operation.FLUSH,
}  # fmt: skip


class PatternReader:
    """Lines that a regular expression takes apart; lines that it does not match are left out.

    Groups by name: `op` (a letter or word, in either case), `lba` or `offset`, `sectors` or `bytes`, and
    `device`. For the time, any of `s`, `ms`, `us`, `ns` and `ps`, which are added up; `s` may have decimals.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    @classmethod
    def of(cls, text: str) -> "PatternReader":
        """Raises `ValueError` that says what is wrong with an expression."""
        try:
            pattern = re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"is no regular expression: {error}") from None
        known = set(pattern.groupindex)
        if unknown := sorted(known - set(_GROUPS)):
            raise ValueError(f"has a group {unknown[0]!r}; expected {', '.join(_GROUPS)}")
        for names in (("op",), ("lba", "offset"), ("sectors", "bytes")):
            if len(known.intersection(names)) != 1:
                either = " or ".join(names)
                raise ValueError(f"has no group {either}, or both; expected one: (?P<NAME>...)")
        return cls(pattern)

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line, if it has one. Raises `LineError`."""
        match = self._pattern.search(text)
        if match is None:
            return None
        found = {name: value for name, value in match.groupdict().items() if value is not None}
        if (op := _NAMES.get(found.get("op", "").lower())) is None:
            raise LineError(f"op is {found.get('op')!r}; expected one of {', '.join(_NAMES)}")
        picoseconds = sum(
            number(found[unit], f"the {unit}") * scale
            for unit, scale in _PICOSECONDS.items()
            if unit in found
        )
        time = seconds(found["s"]) if "s" in found else 0
        device = found.get("device", "")
        if op is Operation.FLUSH:
            return TraceRecord(time + picoseconds // 1000, 0, 0, op, device)
        first = _first(found["lba"]) if "lba" in found else _offset(found.get("offset", ""))
        count = _count(found["sectors"]) if "sectors" in found else _length(found.get("bytes", ""))
        return TraceRecord(time + picoseconds // 1000, first, count, op, device)


def _cells(text: str) -> list[str]:
    return [cell.strip().strip('"') for cell in text.split(",")]
