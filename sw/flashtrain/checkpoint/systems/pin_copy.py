"""Ours against the loss of the device: pins are copied to another place beside training."""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.pin import PinState
from flashtrain.checkpoint.systems.system import CheckpointSystem


@dataclass(frozen=True)
class PinAndCopy(CheckpointSystem):
    """A copy begins with the first pin after the end of the one before; other pins are not copied.

    A copy takes `share` of the link. Weights go the same way after each step, and training waits for them.
    Beside a copy they take 1 / (1 - share) times as long. At most one copy is under way.

    - `pin`: what pins.
    - `link_rate`: bytes per second between device and host, each way.
    """

    pin: PinState
    link_rate: float
    share: float

    name: ClassVar[str] = "pin and copy"
    survives: ClassVar[str] = "machine and device"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        weights = (job.weight_bytes - job.buffer_bytes) / self.link_rate
        slower = weights * self.share / (1 - self.share)
        beside = min(float(interval), self.copy_seconds(job) / job.iteration_seconds)
        return self.pin.stall_seconds(job, interval) + slower * beside

    def copy_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / (self.link_rate * self.share)

    def spacing(self, job: TrainingJob, interval: int) -> int:
        copies = ceil(self.copy_seconds(job) / (interval * job.iteration_seconds))
        return interval * copies

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        return self.copy_seconds(job)

    def load_bytes(self, job: TrainingJob) -> int:
        """Another device needs all of it."""
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.link_rate
