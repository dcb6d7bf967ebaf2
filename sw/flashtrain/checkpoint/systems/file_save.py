"""A file, written while training waits: `torch.save`."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem


@dataclass(frozen=True)
class FileSave(CheckpointSystem):
    """The state is copied to the host's memory, serialized and written; nothing overlaps.

    - `copy_rate`, `write_rate`, `read_rate`: bytes per second to the host, to the file and from it.
    """

    copy_rate: float
    write_rate: float
    read_rate: float

    name: ClassVar[str] = "file"
    survives: ClassVar[str] = "machine, if the drive does"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        return job.state_bytes * (1 / self.copy_rate + 1 / self.write_rate)

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        return 0.0

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.read_rate
