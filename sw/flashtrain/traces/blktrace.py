"""The text of blktrace, as `blkparse` prints it by default (its manual, "Default output").

    8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]

A line has device, CPU, sequence number, seconds, process, action, kind, and for reads and writes the first
sector and the number of sectors. Of each command one action counts: D, when the driver took it, or Q, when
the block layer did. All other actions are left out. The summary at the end begins with a line `CPU...` or
`Total...`; nothing behind it is read.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from .block_trace import LineError, Operation, TraceRecord, number

_TIME = re.compile(r"(\d+)\.(\d{9})")
_KIND = re.compile(r"[A-Z]+")
_SUMMARY = ("CPU", "Total")
_NS_PER_S = 10**9
_KINDS = {Operation.READ: "R", Operation.WRITE: "W", Operation.TRIM: "D", Operation.FLUSH: "F"}


class Action(Enum):
    """The events that can stand for commands."""

    ISSUED = "D"
    QUEUED = "Q"


class BlktraceReader:
    """Lines of one file, in their order; `action` is the event that stands for a command."""

    def __init__(self, action: Action = Action.ISSUED) -> None:
        self._action = action
        self._ended = False

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line, if it has one. Raises `LineError`."""
        self._ended |= text.startswith(_SUMMARY)
        if self._ended:
            return None
        words = text.split()
        time = _TIME.fullmatch(words[3]) if len(words) >= 7 else None
        if time is None or not _KIND.fullmatch(words[6]):
            raise LineError(
                f"{text.strip()!r}; expected blkparse's DEVICE CPU SEQUENCE SECONDS.NANOSECONDS PROCESS"
                " ACTION KIND"
            )
        if words[5] != self._action.value:
            return None
        at = number(time[1], "the seconds") * _NS_PER_S + int(time[2])
        record = self._command(at, words[6], words[7:])
        return None if record is None else record._replace(device=words[0])

    def _command(self, time: int, kind: str, rest: list[str]) -> TraceRecord | None:
        letter = kind.lstrip("F")[:1]  # a leading F is a flush before the command
        has_range = len(rest) >= 3 and rest[1] == "+"
        # A flush alone is F, FN or FWS; some kernels print `0 + 0` behind it.
        has_data = has_range and rest[2] != "0"
        if kind.startswith("F") and not (has_data and letter in "RWD"):
            return TraceRecord(time, 0, 0, Operation.FLUSH)
        for op, name in _KINDS.items():
            if letter == name:
                if has_range and not has_data:
                    return None  # no sectors: a command of the driver's own
                if not has_range:
                    raise LineError(f"{' '.join(rest)!r} behind {kind}; expected SECTOR + SECTORS")
                first, count = number(rest[0], "the sector"), number(rest[2], "the sectors", 1)
                return TraceRecord(time, first, count, op)
        if letter == "N":
            return None  # no data: a command of the driver's own
        raise LineError(f"kind {kind!r}; expected R, W, D or F, and letters behind it")


def lines(records: Iterable[TraceRecord]) -> Iterator[str]:
    """The same commands as D events."""
    for sequence, record in enumerate(records, 1):
        seconds, ns = divmod(record.time, _NS_PER_S)
        head = f"8,0 {0:4} {sequence:8} {seconds:5}.{ns:09} {0:5} {Action.ISSUED.value:>2} "
        if record.op is Operation.FLUSH:
            yield f"{head}{'F':>3} [flashtrain]"
        else:
            yield f"{head}{_KINDS[record.op]:>3} {record.lba} + {record.sectors} [flashtrain]"
