"""Ours with the state on the dies: a pin keeps the generation of the last step."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem


@dataclass(frozen=True)
class PinState(CheckpointSystem):
    """No weight and no state moves. Training waits while buffers of the model, on no die, are appended.

    - `pin_seconds`: the command that pins.
    - `record_seconds`: until the journal's record of it is in the flash.
    - `record_exposed`: share of that for which training waits; 0 if the commit's own record holds the pin.
    - `append_rate`, `read_rate`: bytes per second to the device and from it.
    """

    pin_seconds: float
    record_seconds: float
    record_exposed: float
    append_rate: float
    read_rate: float

    name: ClassVar[str] = "pin"
    survives: ClassVar[str] = "machine, if the device does"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        record = self.record_exposed * self.record_seconds
        return self.pin_seconds + record + job.buffer_bytes / self.append_rate

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        return (1 - self.record_exposed) * self.record_seconds

    def load_bytes(self, job: TrainingJob) -> int:
        """The optimizer's state stays where it is."""
        return job.weight_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.weight_bytes / self.read_rate
