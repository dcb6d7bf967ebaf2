"""CheckFreq (FAST'21): snapshot and persist apart."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem, excess


@dataclass(frozen=True)
class CheckFreq(CheckpointSystem):
    """The snapshot overlaps the next forward and backward pass; the update waits for its end.

    The file is written beside the iterations that follow, one at a time.

    - `snapshot_rate`, `write_rate`, `read_rate`: bytes per second to the host, to the file and from it.
    """

    snapshot_rate: float
    write_rate: float
    read_rate: float

    name: ClassVar[str] = "CheckFreq"
    survives: ClassVar[str] = "machine, if the drive does"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        snapshot = excess(self._snapshot_seconds(job), job.frozen_seconds)
        return snapshot + excess(self._persist_seconds(job), interval * job.iteration_seconds)

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        return self._snapshot_seconds(job) + self._persist_seconds(job)

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.read_rate

    def _snapshot_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.snapshot_rate

    def _persist_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.write_rate
