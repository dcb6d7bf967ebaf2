"""A network captured at any batch: its work and its tensors, of which a profile of each batch is made.

Sizes and work of a network are linear in the batch, so two captures determine all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.processor import V100, Processor, Work
from flashtrain.training.offload.profile import Phase, Profile, ProfiledOperation, SavedTensor, require_batch

FLOAT_BYTES = 4

STATE_BYTES = 16
"""Resident for a parameter: weight, gradient and two moments of Adam, all FP32."""

UPDATE_BYTES = 28
"""Moved for a parameter by a step of Adam: weight and moments both ways, and the gradient."""

UPDATE = "optimizer"
"""The name of the operation that updates all parameters, the last one of an iteration."""


@dataclass(frozen=True)
class Linear:
    """`fixed` + `each` times the batch."""

    fixed: int
    each: int

    @classmethod
    def through(cls, batches: tuple[int, int], values: tuple[int, int], what: str) -> "Linear":
        """The line through two values; `OffloadError` if its slope is no integer."""
        each, rest = divmod(values[1] - values[0], batches[1] - batches[0])
        if rest:
            raise OffloadError(f"{what}: {values} at batches {batches}; expected values linear in the batch")
        return cls(values[0] - each * batches[0], each)

    def at(self, batch: int) -> int:
        return self.fixed + self.each * batch


@dataclass(frozen=True)
class Kernel:
    """The work of a kernel."""

    flops: Linear
    bytes: Linear

    def at(self, batch: int) -> Work:
        return Work(self.flops.at(batch), self.bytes.at(batch))


@dataclass(frozen=True)
class NetworkOperation:
    """An operation: the kernels of one module that no other module interrupts, in one direction."""

    name: str
    phase: Phase
    kernels: tuple[Kernel, ...]


@dataclass(frozen=True)
class NetworkTensor:
    """A saved storage, as `SavedTensor`."""

    name: str
    bytes: Linear
    made: int
    released: int
    uses: tuple[int, ...]
    element_bytes: int
    relu: bool

    def at(self, batch: int, ratios: Mapping[str, float]) -> SavedTensor:
        return SavedTensor(
            self.name, self.bytes.at(batch), self.made, self.uses, self.released, self.element_bytes,
            self.relu, ratios,
        )  # fmt: skip


@dataclass(frozen=True)
class Network:
    """A captured network.

    - `source`: the packages that define it.
    - `resident`: bytes that always stay in memory, beside `STATE_BYTES` for each of the `parameters`.
    - `ratios`: bytes per byte stored of the codecs, for tensors of FP32; others are raw.
    """

    model: str
    source: str
    parameters: int
    resident: Linear
    operations: tuple[NetworkOperation, ...]
    tensors: tuple[NetworkTensor, ...]
    ratios: Mapping[str, float] = field(default_factory=dict, hash=False)

    def profile(self, batch: int, processor: Processor = V100) -> Profile:
        """An iteration of `batch` examples with Adam. Raises `OffloadError` for a batch below 1."""
        require_batch(batch)
        operations = [
            ProfiledOperation(
                each.name, processor.seconds(kernel.at(batch) for kernel in each.kernels), each.phase
            )
            for each in self.operations
        ]
        update = processor.seconds([Work(0, UPDATE_BYTES * self.parameters)])
        operations.append(ProfiledOperation(UPDATE, update, Phase.BACKWARD))
        tensors = tuple(
            tensor.at(batch, self.ratios if tensor.element_bytes == FLOAT_BYTES else {})
            for tensor in self.tensors
        )
        resident = STATE_BYTES * self.parameters + self.resident.at(batch)
        return Profile(self.model, batch, tuple(operations), tensors, resident)
