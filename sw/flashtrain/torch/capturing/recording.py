"""A recorded training iteration, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flashtrain.training.offload.processor import Work

LOSS = "(loss)"
"""The module name of what the loss function does."""


@dataclass(frozen=True)
class RecordedOperation:
    """Work of one module that no other module interrupts, in one direction.

    - `module`: its path; the name of the model for the model itself, `LOSS` for the loss function.
    - `backward`: in the backward pass; `recomputed`: the forward pass of the module once more, within it.
    - `work`: of each operation of the dispatcher that moves or computes something.
    - `seconds`: measured; None if nothing was measured.
    - `weights`: the groups of parameters that it uses; `gradients`: those whose gradients it completes.
    - `inputs`: indices of the inputs that it uses.
    """

    module: str
    backward: bool
    recomputed: bool
    work: tuple[Work, ...]
    seconds: float | None
    weights: tuple[str, ...] = ()
    gradients: tuple[str, ...] = ()
    inputs: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.module} (recomputed)" if self.recomputed else self.module

    @property
    def flops(self) -> int:
        return int(sum(work.flops for work in self.work))

    @property
    def bytes(self) -> int:
        return int(sum(work.bytes for work in self.work))


@dataclass(frozen=True)
class RecordedSave:
    """A storage that autograd saved, once for all its views, unless it was written again in between.

    - `number`: counts the saved storages in the order of the first time that they are saved.
    - `dtype`: by PyTorch's name, of the tensor that was saved first; `shape`: of it, if it is the whole
      storage, else that of a vector.
    - `module`, `operation`: the module and the operation of the dispatcher that made it.
    - `made`, `released`: indices of the operations that make it, and that need it last in the forward pass.
    - `uses`: indices of the operations of the backward pass that need it, ascending.
    - `input`: its index if it is an input.
    - `ratios`: bytes per byte stored, by the name of the codec.
    """

    number: int
    bytes: int
    dtype: str
    element_bytes: int
    shape: tuple[int, ...]
    module: str
    operation: str
    made: int
    released: int
    uses: tuple[int, ...]
    relu: bool
    input: int | None = None
    ratios: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The name that the hooks of a run give it, too."""
        return f"saved/{self.number}"


@dataclass(frozen=True)
class ParameterGroup:
    """The parameters of one module: those with a gradient, or those without.

    `bytes` are in the dtypes of the module.
    """

    name: str
    elements: int
    bytes: int
    updated: bool


@dataclass(frozen=True)
class RecordedInput:
    """A tensor that comes from outside for each iteration."""

    dtype: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class Recording:
    """An iteration of `model`.

    - `operations`: in the order of execution, the forward pass first.
    - `saves`: in the order of `number`; parameters and buffers are left out.
    - `buffer_bytes`: of the model's buffers.
    - `workspace_bytes`: the most that one operation of the dispatcher takes and gives, beside weights and
      saved storages.
    - `uncounted`: the bytes that operators without a formula for their FLOPs move, by the name of the
      operator, most first.
    """

    model: str
    batch: int
    operations: tuple[RecordedOperation, ...]
    saves: tuple[RecordedSave, ...]
    parameters: tuple[ParameterGroup, ...]
    inputs: tuple[RecordedInput, ...]
    buffer_bytes: int
    workspace_bytes: int
    uncounted: Mapping[str, int] = field(default_factory=dict, hash=False)

    @cached_property
    def uncounted_shares(self) -> dict[str, float]:
        """The parts of all bytes that operators without a formula move, by the name of the operator."""
        total = sum(operation.bytes for operation in self.operations)
        return {name: size / total for name, size in self.uncounted.items()}

    @cached_property
    def flops(self) -> int:
        return sum(operation.flops for operation in self.operations)

    @cached_property
    def saved_bytes(self) -> int:
        return sum(save.bytes for save in self.saves)

    @cached_property
    def parameter_count(self) -> int:
        return sum(group.elements for group in self.parameters)

    @property
    def measured(self) -> bool:
        return all(operation.seconds is not None for operation in self.operations)
