"""Files of block traces, in the formats that there are."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from flashtrain.reading import read_lines
from flashtrain.spec import ConfigError
from flashtrain.writing import write_text

from . import blktrace, fio, mqsim
from .block_trace import MOST, MOST_COMMANDS, BlockTrace, LineError, Operation, TraceError, TraceRecord

_FIO = re.compile(r"fio version \d+ iolog")
_MQSIM = re.compile(r"\d+(\s+\d+){4}")


class Reader(Protocol):
    """Lines of one file, in their order."""

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line that is not empty, if it has one. Raises `LineError`."""
        ...


@dataclass(frozen=True)
class TraceFormat:
    """A format of block traces: how its lines are read, how commands are written, and which it has."""

    name: str
    reader: Callable[[], Reader]
    lines: Callable[[Iterable[TraceRecord]], Iterator[str]]
    operations: frozenset[Operation] = frozenset(Operation)


FORMATS = {
    each.name: each
    for each in (
        TraceFormat("fio", fio.FioReader, fio.lines),
        TraceFormat("blktrace", blktrace.BlktraceReader, blktrace.lines),
        TraceFormat(
            "blktrace-queued", lambda: blktrace.BlktraceReader(blktrace.Action.QUEUED), blktrace.lines
        ),
        TraceFormat("mqsim", mqsim.MqsimReader, mqsim.lines, mqsim.OPERATIONS),
    )
}
"""By name. `blktrace` takes the D events of a file, `blktrace-queued` the Q events."""


def trace_format(name: str) -> TraceFormat:
    """The format called `name`; :class:`ConfigError` for another name."""
    if name not in FORMATS:
        raise ConfigError(f"format is {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def load_trace(path: str | Path, name: str | None = None) -> BlockTrace:
    """The trace in a file; without a format's `name` the first line decides.

    :class:`TraceError` for the first bad line, and :class:`InputError` for a file without commands.
    """
    path = Path(path)
    lines = ((number, text.strip()) for number, text in read_lines(path) if text.strip())
    first = next(lines, (1, ""))
    chosen = _format_of(first[1]) if name is None else trace_format(name)
    trace = BlockTrace.of(path, _records(path, chain([first], lines), chosen))
    if not len(trace):
        raise TraceError(path, f"no command of {chosen.name}; expected at least one")
    return trace


def save_trace(path: str | Path, records: Iterable[TraceRecord], name: str = "fio") -> int:
    """Write a trace; `records` are in the order of their times. Returns the number written.

    Commands that the format does not have are left out.
    """
    chosen = trace_format(name)
    kept = [record for record in records if record.op in chosen.operations]
    write_text(Path(path), "".join(f"{line}\n" for line in chosen.lines(kept)))
    return len(kept)


def records_of(trace: BlockTrace) -> Iterator[TraceRecord]:
    """The commands of a trace, one after the other."""
    for time, lba, sectors, op in trace.records.tolist():
        yield TraceRecord(time, lba, sectors, Operation(op))


def _format_of(first: str) -> TraceFormat:
    if _FIO.fullmatch(first.strip()):
        return FORMATS["fio"]
    return FORMATS["mqsim" if _MQSIM.fullmatch(first.strip()) else "blktrace"]


def _records(
    path: Path, lines: Iterable[tuple[int, str]], chosen: TraceFormat
) -> Iterator[tuple[int, TraceRecord]]:
    """Line and command of each line that has one; in an empty file no line has a text."""
    reader, commands, sectors = chosen.reader(), 0, 0
    for line, text in lines:
        try:
            record = reader.line(text) if text else None
        except LineError as error:
            raise TraceError(path, str(error), line) from error
        if record is None:
            continue
        commands, sectors = commands + 1, sectors + record.sectors
        if max(record.time, sectors) > MOST or commands > MOST_COMMANDS:
            raise TraceError(
                path,
                f"command {commands:,} at {record.time} ns, with {sectors} sectors so far; expected at most"
                f" {MOST_COMMANDS:,} commands, and {MOST} ns and sectors",
                line,
            )
        yield line, record
