"""A timeline for trace viewers: slices on tracks, flows between them, and counters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flashtrain.sim.trace.trace import Interval, Track


class Slice(NamedTuple):
    """`name` on `track` from cycle `start` to cycle `end`; a moment when they are equal.

    Slices of a track lie apart or one within the other.
    """

    track: Track
    name: str
    start: int
    end: int
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, interval: Interval) -> "Slice":
        arguments = {"note": interval.note} if interval.note else {}
        return cls(interval.track, str(interval.activity), interval.start, interval.end, arguments)


class Flow(NamedTuple):
    """An arrow through slices: each point is a track and a cycle at which the slice is there."""

    points: tuple[tuple[Track, int], ...]


class Sample(NamedTuple):
    """A counter, which is a track, has this value from this cycle on."""

    counter: Track
    cycle: int
    value: float


@dataclass
class Timeline:
    """Slices, flows and samples of one recording, in any order.

    facts: of the recording, for the reader.
    """

    slices: list[Slice] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
