"""PyTorch's asynchronous save (`torch.distributed.checkpoint.async_save`)."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem, excess


@dataclass(frozen=True)
class AsyncSave(CheckpointSystem):
    """Training waits for the copy to the host's memory; the file is written beside the next iterations.

    The next save waits for the one before, as PyTorch's recipe does.

    - `stage_rate`, `write_rate`, `read_rate`: bytes per second to the host, to the file and from it.
    """

    stage_rate: float
    write_rate: float
    read_rate: float

    name: ClassVar[str] = "asynchronous"
    survives: ClassVar[str] = "machine, if the drive does"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        write = job.state_bytes / self.write_rate
        return job.state_bytes / self.stage_rate + excess(write, interval * job.iteration_seconds)

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        return job.state_bytes / self.write_rate

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.read_rate
