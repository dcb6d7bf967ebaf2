"""A sweep of one option: the same jobs with each of its values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .block_sizes import BlockSizes
from .errors import JobError
from .job import Job
from .options import OPTIONS
from .patterns import Direction
from .run import JobResult
from .samples import Spread, joined, percentiles

SWEEP = "--sweep"
_PERCENTAGES = (50, 99, 99.99)
SWEPT = tuple(option.name for option in OPTIONS.values() if option.swept)


@dataclass(frozen=True)
class Sweep:
    """An option, and the texts of its values."""

    option: str
    values: tuple[str, ...]

    def jobs(self, jobs: Sequence[Job], value: str) -> list[Job]:
        """The jobs with this value in the place of their own."""
        parsed = OPTIONS[self.option].value(value, SWEEP)
        return [replace(job, **{OPTIONS[self.option].sets: parsed}) for job in jobs]


@dataclass(frozen=True)
class SweepRow:
    """All jobs together in one direction with one value.

    Latencies are nanoseconds; median, high and highest are the percentiles 50, 99 and 99.99.
    """

    value: str
    direction: Direction
    bytes_per_second: float
    iops: float
    mean: float
    median: float
    high: float
    highest: float


def sweep_of(text: str) -> Sweep:
    """The sweep of `OPTION=FIRST..LAST`, which doubles, or of `OPTION=VALUE,VALUE...`.

    :class:`JobError` for another text, an option that cannot be swept, or an impossible value.
    """
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise JobError(SWEEP, "", f"is {text!r}; expected OPTION=FIRST..LAST or OPTION=VALUE,VALUE")
    if name not in SWEPT:
        raise JobError(SWEEP, name, f"cannot be swept; expected one of {', '.join(SWEPT)}")
    first, dots, last = values.partition("..")
    sweep = Sweep(name, tuple(_doubled(name, first, last)) if dots else tuple(values.split(",")))
    for value in sweep.values:
        OPTIONS[name].value(value, SWEEP)
    return sweep


def rows_of(value: str, results: Sequence[JobResult]) -> list[SweepRow]:
    """A row for each direction of the jobs; its latencies are 0 without a command."""
    rows = []
    for direction in Direction:
        parts = [result.samples[direction] for result in results if direction in result.samples]
        if parts:
            latency = joined(parts).latency
            found = dict.fromkeys(_PERCENTAGES, 0.0) | percentiles(latency, _PERCENTAGES)
            rate = sum(part.bytes_per_second or 0.0 for part in parts)
            iops = sum(part.iops or 0.0 for part in parts)
            mean = Spread.of(latency).mean
            rows.append(SweepRow(value, direction, rate, iops, mean, found[50], found[99], found[99.99]))
    return rows


def _doubled(name: str, first: str, last: str) -> list[str]:
    option = OPTIONS[name]
    low, high = (_number(option.value(text, SWEEP)) for text in (first, last))
    if low is None or high is None or not 0 < low <= high:
        raise JobError(
            SWEEP, name, f"is {first!r}..{last!r}; expected two numbers above 0, the lower one first"
        )
    values = [first]
    while (low := 2 * low) < high:
        values.append(_as_written(low, first))
    return [*values, last] if values[-1] != last else values


def _number(value: Any) -> int | None:
    """The one number of a value that is swept; None if it has none, or several."""
    if isinstance(value, BlockSizes):
        return value.least if value.least == value.most else None
    return value if type(value) is int else None


def _as_written(number: int, like: str) -> str:
    """A number of bytes with a unit, if the first one has a unit."""
    if like.isdigit():
        return str(number)
    units = "kmgt"
    power = max((i for i in range(5) if number % (1 << 10 * i) == 0), default=0)
    return (
        f"{number >> 10 * power}{units[power - 1]}" if power and like[-1].lower() in "kmgtb" else str(number)
    )
