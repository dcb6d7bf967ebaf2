"""A job of training as the node's scheduler sees it."""

from dataclasses import dataclass
from math import isfinite

from flashtrain.checkpoint.memory.errors import JobError
from flashtrain.checkpoint.memory.footprint import Footprint


@dataclass(frozen=True)
class Wait:
    """A wait for data before an iteration, counted from 0. `planned`: its end is known when it begins."""

    iteration: int
    seconds: float
    planned: bool = True


@dataclass(frozen=True)
class Job:
    """Iterations of equal length on one accelerator.

    Members
    -------
    batch_bytes: of the cached data set that an iteration reads.
    priority: a higher one preempts at the end of an iteration.
    arrival_seconds: the job is unknown before.
    waits: in the order of their iterations.
    """

    name: str
    footprint: Footprint
    iterations: int
    iteration_seconds: float
    batch_bytes: int = 0
    priority: int = 0
    arrival_seconds: float = 0.0
    waits: tuple[Wait, ...] = ()

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise JobError(f"job {self.name}: {self.iterations} iterations; expected at least 1")
        if not (isfinite(self.iteration_seconds) and self.iteration_seconds > 0):
            raise JobError(f"job {self.name}: an iteration of {self.iteration_seconds} s; expected above 0")
        if not (isfinite(self.arrival_seconds) and self.arrival_seconds >= 0):
            raise JobError(f"job {self.name}: arrival at {self.arrival_seconds} s; expected 0 or more")
        if not 0 <= self.batch_bytes <= self.footprint.dataset_bytes:
            raise JobError(
                f"job {self.name}: batch_bytes is {self.batch_bytes}; expected 0 to the"
                f" {self.footprint.dataset_bytes} bytes of the data set"
            )
        places = [wait.iteration for wait in self.waits]
        if places != sorted(set(places)) or any(not 0 <= place < self.iterations for place in places):
            raise JobError(
                f"job {self.name}: waits before iterations {places}; expected different ones in order, below"
                f" {self.iterations}"
            )
        if any(not (isfinite(wait.seconds) and wait.seconds > 0) for wait in self.waits):
            raise JobError(f"job {self.name}: a wait of no length; expected seconds above 0")

    @property
    def compute_seconds(self) -> float:
        """Of all iterations, without waits."""
        return self.iterations * self.iteration_seconds

    @property
    def wait_seconds(self) -> float:
        return sum(wait.seconds for wait in self.waits)
