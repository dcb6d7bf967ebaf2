"""Commands of one direction, and what follows from their times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
HISTOGRAM = {
    "ns": _STEPS, "us": _STEPS, "ms": (*_STEPS, 2000),
}  # fmt: skip
"""Upper ends of the ranges of latency, by unit, as fio has them."""
NS = {"ns": 1, "us": 10**3, "ms": 10**6}
BEYOND = ">=2000"


@dataclass(frozen=True)
class Spread:
    """Least, most, mean and standard deviation of `count` values; all 0 without values."""

    least: float
    most: float
    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Spread":
        if not len(values):
            return cls(0.0, 0.0, 0.0, 0.0, 0)
        return cls(
            float(values.min()), float(values.max()), float(values.mean()), float(values.std()), len(values)
        )


@dataclass(frozen=True)
class Window:
    """Cycles that count: from `begin` to `end`, of a device with `mhz` million cycles per second."""

    begin: int
    end: int
    mhz: int

    @property
    def seconds(self) -> float:
        return (self.end - self.begin) / (self.mhz * 1e6)


@dataclass(frozen=True)
class Samples:
    """The commands of one direction that were completed in a window.

    times: int64[commands, 3]: cycles at which the host began to submit a command, had submitted it, and had
    its completion. `command_bytes` is the size of each.
    """

    times: NDArray[np.int64]
    command_bytes: NDArray[np.int64]
    window: Window

    @property
    def commands(self) -> int:
        return len(self.times)

    @property
    def bytes(self) -> int:
        return int(self.command_bytes.sum())

    @property
    def bytes_per_second(self) -> float | None:
        """None in a window without time."""
        return self.bytes / self.window.seconds if self.window.seconds else None

    @property
    def iops(self) -> float | None:
        return self.commands / self.window.seconds if self.window.seconds else None

    @property
    def submission(self) -> NDArray[np.float64]:
        """Nanoseconds from the begin to the end of the submission."""
        return self._between(0, 1)

    @property
    def completion(self) -> NDArray[np.float64]:
        """Nanoseconds from the end of the submission to the completion."""
        return self._between(1, 2)

    @property
    def latency(self) -> NDArray[np.float64]:
        """Nanoseconds from the begin of the submission to the completion."""
        return self._between(0, 2)

    def bandwidths(self, bins: int) -> NDArray[np.float64]:
        """Bytes per second in each of as many equal parts of the window."""
        edges = np.linspace(self.window.begin, self.window.end, bins + 1)
        moved, _ = np.histogram(self.times[:, 2], edges, weights=self.command_bytes)
        return moved * bins / self.window.seconds

    def _between(self, first: int, last: int) -> NDArray[np.float64]:
        return (self.times[:, last] - self.times[:, first]) * 1e3 / self.window.mhz


def joined(parts: Sequence[Samples]) -> Samples:
    """The commands of several jobs, in the window around all of theirs."""
    window = Window(
        min(part.window.begin for part in parts), max(part.window.end for part in parts), parts[0].window.mhz
    )
    times = np.concatenate([part.times for part in parts])
    return Samples(times, np.concatenate([part.command_bytes for part in parts]), window)


def percentiles(values: NDArray[np.float64], percentages: Sequence[float]) -> dict[float, float]:
    """The least value that so many percent of all do not exceed; empty without values."""
    if not len(values):
        return {}
    found = np.percentile(values, percentages, method="inverted_cdf")
    return dict(zip(percentages, map(float, found), strict=True))


def latency_shares(values: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Percent of the values (nanoseconds) in the ranges of `HISTOGRAM`, by unit and upper end."""
    shares: dict[str, dict[str, float]] = {}
    below = 0.0
    for unit, ends in HISTOGRAM.items():
        shares[unit] = {}
        for end in ends:
            upper = end * NS[unit]
            shares[unit][str(end)] = _share((values >= below) & (values < upper))
            below = upper
    shares["ms"][BEYOND] = _share(values >= below)
    return shares


def depth_shares(depths: Mapping[int, int]) -> dict[str, float]:
    """Percent of the commands by the number in flight; a range ends below the next one."""
    ends = (1, 2, 4, 8, 16, 32, 64)
    total = sum(depths.values())
    shares = {}
    for number, end in enumerate(ends):
        following = ends[number + 1] if number + 1 < len(ends) else None
        count = _count(depths, end, following)
        shares[f"{'' if following else '>='}{end}"] = 100 * count / total if total else 0.0
    return shares


def _count(depths: Mapping[int, int], least: int, below: int | None) -> int:
    return sum(count for depth, count in depths.items() if depth >= least and (not below or depth < below))


def _share(chosen: NDArray[np.bool_]) -> float:
    return float(100 * chosen.mean()) if len(chosen) else 0.0
