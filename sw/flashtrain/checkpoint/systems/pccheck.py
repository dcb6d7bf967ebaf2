"""PCcheck (ASPLOS'25): several checkpoints are written at once."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem, excess


@dataclass(frozen=True)
class PCcheck(CheckpointSystem):
    """The copy to pinned memory overlaps the next passes; up to `concurrent` checkpoints share the drive.

    A checkpoint of B bytes beside N - 1 others takes T_w = N B / W on a drive of W bytes per second. The
    slowdown stays below q with an interval f >= T_w / (N q t), as published.

    - `copy_rate`, `write_rate`, `read_rate`: bytes per second to the host, to the drive and from it.
    """

    copy_rate: float
    write_rate: float
    read_rate: float
    concurrent: int

    name: ClassVar[str] = "PCcheck"
    survives: ClassVar[str] = "machine, if the drive does"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        copy = excess(job.state_bytes / self.copy_rate, job.frozen_seconds)
        share = self.write_seconds(job) / self.concurrent
        return copy + excess(share, interval * job.iteration_seconds)

    def write_seconds(self, job: TrainingJob) -> float:
        """T_w: the write of a checkpoint while `concurrent` of them are under way."""
        return self.concurrent * job.state_bytes / self.write_rate

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        alone = job.state_bytes / self.write_rate
        saturated = alone > interval * job.iteration_seconds
        return job.state_bytes / self.copy_rate + (self.write_seconds(job) if saturated else alone)

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.read_rate
