"""Checkmate (NSDI'26): the network copies gradients to a shadow of CPUs, which repeats the updates."""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem


@dataclass(frozen=True)
class Checkmate(CheckpointSystem):
    """A checkpoint at every iteration, whatever the interval: the shadow holds the state of the last update.

    Switches copy the packets of the gradients' reduction, so an accelerator sends nothing twice. The paper
    measures the throughput of training without checkpoints. `nodes` is its price: as many machines in the
    shadow as keep up. Each has its part of the tensors.

    - `network_rate`: bytes per second between two machines.
    - `update_rate`: of the memory of a machine in the shadow, which bounds its updates.
    """

    network_rate: float
    update_rate: float

    name: ClassVar[str] = "Checkmate"
    survives: ClassVar[str] = "machine, not the shadow's power"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        return 0.0

    def nodes(self, job: TrainingJob) -> int:
        """The least machines that receive and update within an iteration, each one beside the other."""
        return ceil(max(self._receive_seconds(job), self._update_seconds(job)) / job.iteration_seconds)

    def spacing(self, job: TrainingJob, interval: int) -> int:
        return 1

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        """Until the shadow has applied the last gradients."""
        return (self._receive_seconds(job) + self._update_seconds(job)) / self.nodes(job)

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.network_rate

    def _receive_seconds(self, job: TrainingJob) -> float:
        return job.gradient_bytes / self.network_rate

    def _update_seconds(self, job: TrainingJob) -> float:
        return job.update_bytes / self.update_rate
