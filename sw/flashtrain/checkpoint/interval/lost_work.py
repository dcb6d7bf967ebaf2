"""The work that failures are expected to cost in a day."""

from dataclasses import dataclass

from flashtrain.checkpoint.errors import CheckpointPolicyError
from flashtrain.checkpoint.interval.failures import DAY
from flashtrain.checkpoint.systems import CheckpointSystem, TrainingJob


@dataclass(frozen=True)
class LostWork:
    """The cost of failures and checkpoints.

    - `failures_per_day`: expected.
    - `repeated_seconds`: of a failure, half of the work between two checkpoints.
    - `durable_seconds`: of a failure, the work while the newest checkpoint did not survive it yet.
    - `load_seconds`: of a failure, the restart's load.
    - `stall_share`: of all time, in which training waits for checkpoints.
    """

    failures_per_day: float
    repeated_seconds: float
    durable_seconds: float
    load_seconds: float
    stall_share: float

    @property
    def seconds_per_failure(self) -> float:
        return self.repeated_seconds + self.durable_seconds + self.load_seconds

    @property
    def failure_seconds_per_day(self) -> float:
        """Lost to failures, at most the day."""
        return min(DAY, self.failures_per_day * self.seconds_per_failure)

    @property
    def stall_seconds_per_day(self) -> float:
        """Lost to checkpoints in the time that failures leave."""
        return (DAY - self.failure_seconds_per_day) * self.stall_share

    def __str__(self) -> str:
        return (
            f"{self.failures_per_day:.4g} failures a day of {self.seconds_per_failure:.4g} s"
            f" ({self.repeated_seconds:.4g} repeated, {self.durable_seconds:.4g} not yet durable,"
            f" {self.load_seconds:.4g} loading): {self.failure_seconds_per_day:,.0f} s lost a day,"
            f" {self.stall_seconds_per_day:,.0f} s stalled"
        )


def lost_work(system: CheckpointSystem, job: TrainingJob, interval: int, failures_per_day: float) -> LostWork:
    """The report of `system` with a checkpoint every `interval` iterations."""
    if failures_per_day < 0:
        raise CheckpointPolicyError(f"{failures_per_day:g} failures a day; expected 0 or more")
    return LostWork(
        failures_per_day,
        system.spacing(job, interval) * job.iteration_seconds / 2,
        system.durable_seconds(job, interval),
        system.load_seconds(job),
        system.overhead(job, interval),
    )
