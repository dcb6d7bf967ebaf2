"""A training job as checkpoints see it: bytes of its state, seconds of its iteration."""

from dataclasses import dataclass

from flashtrain.checkpoint.errors import CheckpointPolicyError
from flashtrain.checkpoint.models.training_model import TrainingModel
from flashtrain.training.offload.network import FLOAT_BYTES, UPDATE_BYTES


@dataclass(frozen=True)
class Accelerator:
    """The processor that computes the iterations.

    - `flops_per_second`: its peak; `efficiency`: the share of it that training reaches.
    - `bytes_per_second`: of its memory, which bounds the optimizer's step.
    """

    flops_per_second: float
    efficiency: float
    bytes_per_second: float


@dataclass(frozen=True)
class TrainingJob:
    """A job.

    - `state_bytes`: a checkpoint as files hold it: weights, optimizer state and buffers.
    - `weight_bytes`: the part of it that the accelerator needs: weights and buffers.
    - `buffer_bytes`: the part that an optimizer does not hold.
    - `iteration_seconds`: without checkpoints; `update_seconds`: the part of it that changes the state.
    """

    state_bytes: int
    weight_bytes: int
    buffer_bytes: int
    iteration_seconds: float
    update_seconds: float

    def __post_init__(self) -> None:
        if not 0 <= self.update_seconds < self.iteration_seconds:
            raise CheckpointPolicyError(
                f"an update of {self.update_seconds:g} s in an iteration of {self.iteration_seconds:g} s;"
                " expected a part of it"
            )

    @property
    def gradient_bytes(self) -> int:
        """Gradients in FP32, one for each weight."""
        return self.weight_bytes - self.buffer_bytes

    @property
    def update_bytes(self) -> int:
        """The bytes that an update reads and writes."""
        return self.gradient_bytes // FLOAT_BYTES * UPDATE_BYTES

    @property
    def frozen_seconds(self) -> float:
        """The part of an iteration in which the state does not change: its forward and backward pass."""
        return self.iteration_seconds - self.update_seconds


def job_of(
    model: TrainingModel,
    accelerator: Accelerator,
    batch_scale: float = 1.0,
    measured_seconds: float | None = None,
) -> TrainingJob:
    """The job that trains `model` with Adam in FP32, at `batch_scale` times its batch.

    The passes take the time of their FLOPs. With `measured_seconds` they take this without the update.
    """
    update = UPDATE_BYTES * model.parameters / accelerator.bytes_per_second
    if measured_seconds is None:
        passes = model.flops / (accelerator.flops_per_second * accelerator.efficiency)
    else:
        passes = measured_seconds - update
    return TrainingJob(
        state_bytes=model.state_bytes(),
        weight_bytes=model.weight_bytes,
        buffer_bytes=model.buffer_bytes,
        iteration_seconds=passes * batch_scale + update,
        update_seconds=update,
    )
