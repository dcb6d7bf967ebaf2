"""The nine models of the poster as checkpoints and memory see them: bytes and FLOPs.

The sizes are captured from the public definitions, without weights (`model_file`). The batches are declared,
because the poster has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flashtrain.checkpoint.errors import TrainingModelError
from flashtrain.checkpoint.models.model_file import MODELS_FILE, ModelSizes, load_models
from flashtrain.training.offload.network import FLOAT_BYTES
from flashtrain.training.optimizers import Adam, Optimizer

BATCHES: Mapping[str, int] = {
    "bert-base": 16,
    "bert-large": 8,
    "gpt2": 4,
    "gpt-neo-1.3b": 1,
    "resnet18": 256,
    "resnet50": 128,
    "googlenet": 256,
    "alexnet": 256,
    "vgg11": 256,
}
"""Examples per iteration and accelerator: the largest power of two, at most 256, that fits 24 GB with Adam.

GPT-Neo fits 24 GB with no batch unless saved tensors are recomputed or offloaded; its batch is the least.
"""


@dataclass(frozen=True)
class TrainingModel:
    """A model in training: sizes of its state, its memory and its work.

    - `parameters`: elements of all weights, each once.
    - `tensors`: of which the parameters consist.
    - `buffer_bytes`: of the buffers that a checkpoint holds, such as the statistics of batch norms.
    - `flops_per_example`: forward and backward.
    - `batch`: examples per iteration on one accelerator; declared.
    - `saved_fixed_bytes`, `saved_bytes_per_example`: what autograd saves for the backward pass.
    - `workspace_bytes`: the most that one operation takes and gives at `batch`, and buffers outside of
      checkpoints.
    """

    name: str
    parameters: int
    tensors: int
    buffer_bytes: int
    flops_per_example: int
    batch: int
    saved_fixed_bytes: int
    saved_bytes_per_example: int
    workspace_bytes: int

    @property
    def weight_bytes(self) -> int:
        """Weights in FP32, and buffers: the bytes that inference loads."""
        return FLOAT_BYTES * self.parameters + self.buffer_bytes

    @property
    def gradient_bytes(self) -> int:
        return FLOAT_BYTES * self.parameters

    def optimizer_bytes(self, optimizer: Optimizer | None = None) -> int:
        """The state arrays of `optimizer`, by default Adam's m and v."""
        return FLOAT_BYTES * self.parameters * len((optimizer or Adam()).state_names)

    def state_bytes(self, optimizer: Optimizer | None = None) -> int:
        """A checkpoint: weights, state of the optimizer and buffers. With Adam 12 bytes per parameter."""
        return self.weight_bytes + self.optimizer_bytes(optimizer)

    @property
    def flops(self) -> int:
        """Of an iteration on one accelerator."""
        return self.batch * self.flops_per_example

    @property
    def saved_bytes(self) -> int:
        """Saved tensors of an iteration."""
        return self.saved_fixed_bytes + self.batch * self.saved_bytes_per_example

    def memory_bytes(self, optimizer: Optimizer | None = None) -> int:
        """The most that an iteration needs at once: state, gradients, saved tensors and workspace."""
        return self.state_bytes(optimizer) + self.gradient_bytes + self.saved_bytes + self.workspace_bytes


def training_model(sizes: ModelSizes, batch: int) -> TrainingModel:
    """The model of captured sizes at a batch. Raises `TrainingModelError` for a batch below 1."""
    if batch < 1:
        raise TrainingModelError(f"{sizes.name}: the batch is {batch}; expected at least 1")
    return TrainingModel(
        name=sizes.name,
        parameters=sizes.parameters,
        tensors=sizes.tensors,
        buffer_bytes=sizes.buffer_bytes,
        flops_per_example=sizes.flops_per_example,
        batch=batch,
        saved_fixed_bytes=sizes.saved.fixed,
        saved_bytes_per_example=sizes.saved.each,
        workspace_bytes=sizes.workspace.at(batch),
    )


def model_named(name: str) -> TrainingModel:
    """The model of that name; `TrainingModelError` names the known ones."""
    if name not in MODELS:
        raise TrainingModelError(f"no model {name!r}; expected one of {', '.join(MODELS)}")
    return MODELS[name]


MODELS: Mapping[str, TrainingModel] = {
    sizes.name: training_model(sizes, BATCHES[sizes.name]) for sizes in load_models(MODELS_FILE).models
}
"""The poster's nine models by name, in its order."""
