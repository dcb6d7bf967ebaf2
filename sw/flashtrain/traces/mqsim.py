"""MQSim's ASCII traces (its README, "Trace-based workloads").

A line is `TIME DEVICE LBA SECTORS TYPE`: nanoseconds, the first sector, and 0 for a write or 1 for a read.
"""

from collections.abc import Iterable, Iterator

from .block_trace import LineError, Operation, TraceRecord, number

_OPERATIONS = {"0": Operation.WRITE, "1": Operation.READ}
_TYPES = {op: text for text, op in _OPERATIONS.items()}
OPERATIONS = frozenset(_TYPES)
"""The commands that the format has."""


class MqsimReader:
    """Lines of one file, in their order."""

    def line(self, text: str) -> TraceRecord | None:
        """The command of a line. Raises `LineError`."""
        words = text.split()
        if len(words) != 5:
            raise LineError(f"{len(words)} words; expected 5: TIME DEVICE LBA SECTORS TYPE")
        time, device, lba, count, kind = words
        if kind not in _OPERATIONS:
            raise LineError(f"type {kind!r}; expected 0 (write) or 1 (read)")
        number(device, "the device")
        at, first, length = (
            number(time, "the time"),
            number(lba, "the LBA"),
            number(count, "the sectors", 1),
        )
        return TraceRecord(at, first, length, _OPERATIONS[kind], device)


def lines(records: Iterable[TraceRecord]) -> Iterator[str]:
    """The same commands, all of them in `OPERATIONS`."""
    for record in records:
        yield f"{record.time} 0 {record.lba} {record.sectors} {_TYPES[record.op]}"
