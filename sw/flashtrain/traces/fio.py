"""fio's iolog, versions 2 and 3 (fio's manual, "Trace file format v2" and "v3").

A line is `[TIME] FILE ACTION [OFFSET LENGTH]`. TIME, in microseconds, is only in version 3. OFFSET and LENGTH
are bytes. In version 2 the action `wait` lets OFFSET microseconds pass; all else happens at once.
"""

from collections.abc import Iterable, Iterator

from .block_trace import SECTOR_BYTES, LineError, Operation, TraceRecord, number, sectors

HEADER = "fio version {} iolog"
FILE = "flashtrain"
_OPERATIONS = {
    "read": Operation.READ,
    "write": Operation.WRITE,
    "trim": Operation.TRIM,
    "sync": Operation.FLUSH,
    "datasync": Operation.FLUSH,
}
_FILE_ACTIONS = ("add", "open", "close")
_ACTIONS = ", ".join([*_FILE_ACTIONS, "wait", *_OPERATIONS])
_NS_PER_US = 1000
_NAMES = {
    Operation.READ: "read",
    Operation.WRITE: "write",
    Operation.TRIM: "trim",
    Operation.FLUSH: "sync",
}


class FioReader:
    """Lines of one file, in their order."""

    def __init__(self) -> None:
        self._version = 0
        self._time = 0

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line, if it has one. Raises `LineError`."""
        if not self._version:
            self._version = _version(text)
            return None
        words = text.split()
        if self._version == 3:
            self._time = _NS_PER_US * number(words.pop(0), "the time")
        if len(words) not in (2, 4):
            time = "TIME " if self._version == 3 else ""
            raise LineError(f"{text!r}; expected {time}FILE ACTION, or this and OFFSET LENGTH")
        name, action, *rest = words
        if action == "wait" and rest:
            self._time += _NS_PER_US * number(rest[0], "the microseconds of wait")
            return None
        if action in _FILE_ACTIONS and not rest:
            return None
        if action not in _OPERATIONS or not rest:
            raise LineError(
                f"action {action!r} with {len(rest)} numbers behind it; expected one of {_ACTIONS}, with two"
                f" numbers behind all but {', '.join(_FILE_ACTIONS)}"
            )
        op = _OPERATIONS[action]
        if op is Operation.FLUSH:
            return TraceRecord(self._time, 0, 0, op, name)
        first, length = sectors(rest[0], "the offset"), sectors(rest[1], "the length", 1)
        return TraceRecord(self._time, first, length, op, name)


def lines(records: Iterable[TraceRecord]) -> Iterator[str]:
    """The same commands in version 3; times are rounded down to microseconds."""
    yield HEADER.format(3)
    yield f"0 {FILE} add"
    yield f"0 {FILE} open"
    time = 0
    for record in records:
        time = record.time // _NS_PER_US
        offset, length = record.lba * SECTOR_BYTES, record.sectors * SECTOR_BYTES
        yield f"{time} {FILE} {_NAMES[record.op]} {offset} {length}"
    yield f"{time} {FILE} close"


def _version(text: str) -> int:
    for version in (2, 3):
        if text.strip() == HEADER.format(version):
            return version
    raise LineError(f"{text.strip()!r}; expected {HEADER.format(2)!r} or {HEADER.format(3)!r}")
