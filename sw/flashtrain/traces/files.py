"""Files of block traces, in the formats that there are."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol

from flashtrain.reading import read_lines
from flashtrain.spec import ConfigError
from flashtrain.writing import write_text

from . import blktrace, fio, mqsim, tables
from .block_trace import (
    MOST,
    MOST_COMMANDS,
    ONE_DEVICE,
    BlockTrace,
    Devices,
    LineError,
    Operation,
    TraceError,
    TraceRecord,
)

_FIO = re.compile(r"fio version \d+ iolog")
_MQSIM = re.compile(r"\d+(\s+\d+){4}")


CALENDAR_NS = 10**18
"""Some 30 years. A first time above is that of a calendar, and times count from the first command."""


class Reader(Protocol):
    """Lines of one file, in their order."""

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line that is not empty, if it has one. Raises `LineError`."""
        ...


@dataclass(frozen=True)
class TraceFormat:
    """A format of block traces: how its lines are read, how commands are written, and which it has.

    lines: None for a format that is read only.
    """

    name: str
    reader: Callable[[], Reader]
    lines: Callable[[Iterable[TraceRecord]], Iterator[str]] | None = None
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
        *(
            TraceFormat(name, partial(tables.TableReader, table), None, mqsim.OPERATIONS)
            for name, table in tables.TABLES.items()
        ),
    )
}
"""By name. `blktrace` takes the D events of a file, `blktrace-queued` the Q events."""

WRITABLE = tuple(name for name, each in FORMATS.items() if each.lines is not None)
"""Names of the formats that can be written."""


def trace_format(name: str) -> TraceFormat:
    """The format called `name`; :class:`ConfigError` for another name."""
    if name not in FORMATS:
        raise ConfigError(f"format is {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def pattern_format(pattern: str) -> TraceFormat:
    """The format of lines that match a regular expression (`tables.PatternReader`); :class:`ConfigError`."""
    try:
        reader = tables.PatternReader.of(pattern)
    except ValueError as error:
        raise ConfigError(f"pattern {pattern!r} {error}") from None
    return TraceFormat("pattern", lambda: reader)


def load_trace(
    path: str | Path, format: str | TraceFormat | None = None, devices: Devices = ONE_DEVICE
) -> BlockTrace:
    """The trace in a file, which may be compressed; without a format the first line decides.

    :class:`TraceError` for the first bad line, and :class:`InputError` for a file without commands.
    """
    path = Path(path)
    lines = ((number, text.strip()) for number, text in read_lines(path) if text.strip())
    first = next(lines, (1, ""))
    if format is None:
        chosen = _format_of(first[1])
    else:
        chosen = trace_format(format) if isinstance(format, str) else format
    trace = BlockTrace.of(path, _records(path, chain([first], lines), chosen, devices))
    if not len(trace):
        of_device = f" of device {devices.device!r}" if devices.device else ""
        raise TraceError(path, f"no command of {chosen.name}{of_device}; expected at least one")
    return trace


def save_trace(path: str | Path, records: Iterable[TraceRecord], name: str = "fio") -> int:
    """Write a trace; `records` are in the order of their times. Returns the number written.

    Commands that the format does not have are left out.
    """
    chosen = trace_format(name)
    if chosen.lines is None:
        raise ConfigError(f"format {name!r} is read only; expected one of {', '.join(WRITABLE)}")
    kept = [record for record in records if record.op in chosen.operations]
    write_text(Path(path), "".join(f"{line}\n" for line in chosen.lines(kept)))
    return len(kept)


def records_of(trace: BlockTrace) -> Iterator[TraceRecord]:
    """The commands of a trace, one after the other."""
    for time, lba, sectors, op in trace.records.tolist():
        yield TraceRecord(time, lba, sectors, Operation(op))


def _format_of(first: str) -> TraceFormat:
    if _FIO.fullmatch(first):
        return FORMATS["fio"]
    if _MQSIM.fullmatch(first):
        return FORMATS["mqsim"]
    return FORMATS[next((name for name, table in tables.TABLES.items() if table.fits(first)), "blktrace")]


def _records(
    path: Path, lines: Iterable[tuple[int, str]], chosen: TraceFormat, devices: Devices
) -> Iterator[tuple[int, TraceRecord]]:
    """Line and command of each line that has one; in an empty file no line has a text."""
    reader, commands, sectors, origin = chosen.reader(), 0, 0, 0
    only = devices.device
    for line, text in lines:
        if commands == devices.most:
            break
        try:
            record = reader.line(text) if text else None
        except LineError as error:
            raise TraceError(path, str(error), line) from error
        if record is None or (devices.device and record.device != devices.device):
            continue
        if not commands:
            only = record.device
            origin = record.time if record.time > CALENDAR_NS else 0
        if not devices.spread and record.device != only:
            raise TraceError(
                path, f"a second device, {record.device}; expected {only} alone, the choice of one, or all"
                " behind each other (--device NAME, --spread)", line,
            )  # fmt: skip
        commands, sectors = commands + 1, sectors + record.sectors
        time = record.time - origin
        if max(abs(time), sectors) > MOST or commands > MOST_COMMANDS:
            raise TraceError(
                path,
                f"command {commands:,} at {time} ns, with {sectors} sectors so far; expected at most"
                f" {MOST_COMMANDS:,} commands, and {MOST} ns and sectors",
                line,
            )
        yield line, record._replace(time=time)
