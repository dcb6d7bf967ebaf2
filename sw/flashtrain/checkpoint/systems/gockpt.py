"""GoCkpt (arXiv:2511.07035): the copy to the host takes several iterations, and gradients repair it."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.job import TrainingJob
from flashtrain.checkpoint.systems.system import CheckpointSystem, excess

STEPS = 7
"""Iterations over which a copy is spread at most: the paper's default, as a public summary of it repeats."""
FORWARD_SHARE = 1 / 3
"""Of the passes: a backward pass has twice the FLOPs of a forward pass."""


@dataclass(frozen=True)
class GoCkpt(CheckpointSystem):
    """GoCkpt-O: of k blocks of the state, one is copied in each of k iterations, beside the passes.

    Blocks that are there already need the gradients of each iteration, too: i / k of them in iteration i.
    They are copied first, beside the update and the next forward pass. CPUs repeat the updates, so that all
    blocks have the state of the last iteration. The rest of the state is copied while training waits. The
    file is written afterwards by several threads, one checkpoint at a time.

    - `copy_rate`, `write_rate`, `read_rate`: bytes per second to the host, to the drive and from it.
    - `update_rate`: of the host's memory, which bounds the repeated updates.
    """

    copy_rate: float
    write_rate: float
    read_rate: float
    update_rate: float

    name: ClassVar[str] = "GoCkpt"
    survives: ClassVar[str] = "machine, if the drive does"

    def stall_seconds(self, job: TrainingJob, interval: int) -> float:
        copy = self._copy_stall_seconds(job, self.steps(job, interval))
        return copy + excess(job.state_bytes / self.write_rate, interval * job.iteration_seconds)

    def steps(self, job: TrainingJob, interval: int) -> int:
        """Iterations of a copy: the least of those with the shortest stall."""
        return min(range(1, min(STEPS, interval) + 1), key=lambda k: self._copy_stall_seconds(job, k))

    def gradient_bytes(self, job: TrainingJob, interval: int) -> float:
        """Bytes of gradients that a checkpoint moves beside the state."""
        return _gradients(self.steps(job, interval)) * job.gradient_bytes

    def durable_seconds(self, job: TrainingJob, interval: int) -> float:
        """From the state of the copy's last iteration: its last block, the repeated updates and the file."""
        steps = self.steps(job, interval)
        last = job.state_bytes / steps / self.copy_rate
        updates = _gradients(steps) * job.update_bytes / self.update_rate
        return last + updates + job.state_bytes / self.write_rate

    def load_bytes(self, job: TrainingJob) -> int:
        return job.state_bytes

    def load_seconds(self, job: TrainingJob) -> float:
        return job.state_bytes / self.read_rate

    def _copy_stall_seconds(self, job: TrainingJob, steps: int) -> float:
        forward = FORWARD_SHARE * job.frozen_seconds
        stall, beside = 0.0, 0.0
        for step in range(1, steps):
            late = excess(step / steps * job.gradient_bytes / self.copy_rate, job.update_seconds)
            stall += excess(late, forward)
            beside += min(late, forward)
        return stall + excess(job.state_bytes / self.copy_rate + beside, steps * job.frozen_seconds)


def _gradients(steps: int) -> float:
    """Gradients of the whole model that a copy of so many blocks needs."""
    return (steps - 1) / 2
