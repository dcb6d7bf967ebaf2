"""Gemini (SOSP'23): checkpoints in the memory of other machines."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem, excess


@dataclass(frozen=True)
class Gemini(CheckpointSystem):
    """The state goes to another machine in the gaps of the training traffic, and comes back from there.

    - `network_rate`: bytes per second between two machines.
    - `idle_share`: of the network that training leaves.
    """

    network_rate: float
    idle_share: float

    name: ClassVar[str] = "Gemini"
    survives: ClassVar[str] = "machine, not the cluster's power"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        return excess(self.durable_seconds(job, interval), interval * job.iteration_seconds)

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        return job.state_bytes / (self.network_rate * self.idle_share)

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.network_rate
