"""The timeline of an iteration on a platform."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from flashtrain.platform.tasks import Part


@dataclass(frozen=True)
class Interval:
    """Something on a track, from `start` to `end` in seconds; `bytes` of a request to a storage."""

    track: str
    name: str
    start: float
    end: float
    bytes: float = 0.0


@dataclass(frozen=True)
class Level:
    """The bytes that are taken of the tensor buffer of a side, from a time on."""

    side: str
    time: float
    bytes: float


@dataclass(frozen=True)
class Timeline:
    """One iteration.

    - `seconds`: its time.
    - `intervals`: tasks of cores and links; requests to storages while they are served.
    - `levels`: use of the tensor buffers.
    - `stalls`: seconds in which the core of an activation node is idle, by the part that it waits for.
    - `operations`: of buses and arrays of a channel of a simulated storage, in the window of its model.
    """

    seconds: float
    intervals: tuple[Interval, ...]
    levels: tuple[Level, ...]
    stalls: Mapping[str, float]
    operations: tuple[Interval, ...] = ()

    def on(self, track: str) -> list[Interval]:
        return [interval for interval in self.intervals if interval.track == track]

    @cached_property
    def tracks(self) -> list[str]:
        """In the order of `Part`."""
        order = [str(part) for part in Part]
        names = {interval.track for interval in self.intervals}
        return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))

    @property
    def computing(self) -> float:
        """Seconds in which the core of an activation node computes."""
        return sum(interval.end - interval.start for interval in self.on(Part.CORE))

    @property
    def stall(self) -> float:
        """Seconds in which it does not, with those after its last step."""
        return self.seconds - self.computing

    def bytes(self, track: str) -> float:
        return sum(interval.bytes for interval in self.on(track))
