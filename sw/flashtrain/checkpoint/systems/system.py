"""The formulas that all systems share."""

from abc import ABC, abstractmethod
from typing import ClassVar

from flashtrain.checkpoint.errors import CheckpointPolicyError
from flashtrain.checkpoint.systems.job import TrainingJob

MOST_ITERATIONS = 1 << 40
"""An interval that no training reaches."""


class CheckpointSystem(ABC):
    """A way of taking checkpoints, one every `interval` iterations.

    - `name`: in tables; `survives`: the failures after which a checkpoint is still there.
    """

    name: ClassVar[str]
    survives: ClassVar[str]

    @abstractmethod
    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        """The time by which a checkpoint makes training longer; no longer with a longer interval."""

    @abstractmethod
    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        """From the state of a checkpoint until it survives a failure; training goes on meanwhile."""

    @abstractmethod
    def load_bytes(self, job: TrainingJob) -> int:
        """The bytes that a restart moves to the accelerator."""

    @abstractmethod
    def load_seconds(self, job: TrainingJob) -> float:
        """The time that this takes."""

    def spacing(self, job: TrainingJob, interval: int) -> int:
        """Iterations between checkpoints that survive a failure."""
        return interval

    def cycle_seconds(self, job: TrainingJob, interval: int) -> float:
        """`interval` iterations and their checkpoint."""
        self._require_interval(interval)
        return interval * job.iteration_seconds + self.stall_seconds(job, interval)

    def overhead(self, job: TrainingJob, interval: int) -> float:
        """Share of the time that stalls: the poster's T_ckpt / (T_ckpt + k t)."""
        return self.stall_seconds(job, interval) / self.cycle_seconds(job, interval)

    def least_interval(self, job: TrainingJob, bound: float) -> int:
        """The shortest interval, in iterations, whose overhead is at most `bound`.

        Raises `CheckpointPolicyError` for a bound that is no share, and if no interval keeps it.
        """
        if not 0 < bound < 1:
            raise CheckpointPolicyError(f"a bound of {bound:g} on the overhead; expected a share")
        low, high = 0, 1
        while self.overhead(job, high) > bound:
            low, high = high, 2 * high
            if high > MOST_ITERATIONS:
                raise CheckpointPolicyError(f"{self.name}: no interval keeps an overhead of {bound:g}")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.overhead(job, middle) > bound else (low, middle)
        return high

    def lost_seconds(self, job: TrainingJob, interval: int) -> float:
        """Expected loss of a failure: half a spacing, the work until a checkpoint is durable, the load."""
        half = self.spacing(job, interval) * job.iteration_seconds / 2
        return half + self.durable_seconds(job, interval) + self.load_seconds(job)

    @staticmethod
    def _require_interval(interval: int) -> None:
        if interval < 1:
            raise CheckpointPolicyError(f"an interval of {interval} iterations; expected at least 1")


def excess(seconds: float, hidden: float) -> float:
    """The part of `seconds` that does not fit behind `hidden`."""
    return max(0.0, seconds - hidden)
