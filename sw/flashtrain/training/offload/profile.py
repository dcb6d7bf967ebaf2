"""The profile of a training iteration: the operations with their times, and the tensors that it saves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, pairwise
from math import isfinite

from flashtrain.reading import repeated
from flashtrain.training.errors import OffloadError

MOST_BYTES = (1 << 62) - 1
"""Of a memory, and of all tensors and what else is resident together."""


def require_batch(batch: int) -> None:
    """Raise `OffloadError` unless there is an example."""
    if batch < 1:
        raise OffloadError(f"batch: expected at least 1, got {batch}")


class Phase(StrEnum):
    """The pass through the network that an operation belongs to."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True)
class ProfiledOperation:
    """An operation of an iteration and its duration."""

    name: str
    seconds: float
    phase: Phase

    def __post_init__(self) -> None:
        if not (isfinite(self.seconds) and self.seconds >= 0):
            raise OffloadError(f"operation {self.name}: {self.seconds} s; expected 0 or more")


@dataclass(frozen=True)
class SavedTensor:
    """A storage that the forward pass saves for the backward pass.

    - `made`: index of the forward operation that makes it.
    - `uses`: indices of the backward operations that need it, ascending.
    - `released`: index of the last forward operation that needs it; `made` if it is None.
    - `relu`: whether a ReLU made it.
    - `ratios`: bytes of the tensor per byte stored, for each codec that was measured.
    """

    name: str
    bytes: int
    made: int
    uses: tuple[int, ...]
    released: int | None = None
    element_bytes: int = 4
    relu: bool = False
    ratios: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("bytes", "element_bytes"):
            if getattr(self, name) < 1:
                raise OffloadError(
                    f"tensor {self.name}: {name} is {getattr(self, name)}; expected at least 1"
                )
        if not self.uses or any(a >= b for a, b in pairwise(self.uses)):
            raise OffloadError(
                f"tensor {self.name}: uses are {list(self.uses)}; expected ascending indices, at least one"
            )
        for codec, ratio in self.ratios.items():
            if not (isfinite(ratio) and ratio > 0):
                raise OffloadError(f"tensor {self.name}: ratio {ratio} of {codec}; expected more than 0")

    @property
    def last_forward(self) -> int:
        """Index of the last forward operation that needs the tensor."""
        return self.made if self.released is None else self.released


@dataclass(frozen=True)
class Profile:
    """An iteration of `model`: `operations` in the order of execution, forward ones first.

    - `tensors`: each saved storage once, in the order of `SavedTensor.made`; parameters are left out.
    - `resident_bytes`: always in memory: weights, gradients, optimizer state and workspace.
    - `uncounted`: operators that count no FLOPs for the lack of a formula, with their part of the bytes.

    Raises `OffloadError` with the tensor or operation at fault.
    """

    model: str
    batch: int
    operations: tuple[ProfiledOperation, ...]
    tensors: tuple[SavedTensor, ...]
    resident_bytes: int = 0
    uncounted: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        require_batch(self.batch)
        if self.resident_bytes < 0:
            raise OffloadError(f"resident_bytes: expected at least 0, got {self.resident_bytes}")
        total = self.resident_bytes + sum(tensor.bytes for tensor in self.tensors)
        if total > MOST_BYTES:
            raise OffloadError(f"tensors: {total} bytes with resident_bytes; expected at most {MOST_BYTES}")
        if not self.operations:
            raise OffloadError("operations: expected at least one")
        phases = [operation.phase for operation in self.operations]
        if Phase.FORWARD in phases[self.forward_operations :]:
            late = self.operations[phases.index(Phase.FORWARD, self.forward_operations)]
            raise OffloadError(
                f"operation {late.name}: forward after backward; expected all forward ones first"
            )
        if len(self.by_name) != len(self.tensors):
            twice = repeated(tensor.name for tensor in self.tensors)
            raise OffloadError(f"tensors: the name {twice} is not unique")
        for tensor in self.tensors:
            self._check(tensor)
        for before, after in pairwise(self.tensors):
            if after.made < before.made:
                raise OffloadError(
                    f"tensor {after.name}: made before {before.name}; expected the order of made"
                )

    @cached_property
    def forward_operations(self) -> int:
        """Forward operations; the index of the first backward one."""
        phases = [operation.phase for operation in self.operations]
        return phases.index(Phase.BACKWARD) if Phase.BACKWARD in phases else len(phases)

    @cached_property
    def by_name(self) -> dict[str, SavedTensor]:
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def seconds(self) -> float:
        """The time of an iteration that waits for nothing."""
        return sum(operation.seconds for operation in self.operations)

    @cached_property
    def saved_bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.tensors)

    @cached_property
    def live_bytes(self) -> tuple[int, ...]:
        """Bytes of saved tensors in memory during each operation, if none leaves it."""
        changes = [0] * (len(self.operations) + 1)
        for tensor in self.tensors:
            changes[tensor.made] += tensor.bytes
            changes[tensor.uses[-1] + 1] -= tensor.bytes
        return tuple(accumulate(changes[:-1]))

    @property
    def peak_bytes(self) -> int:
        """Most bytes in memory, the resident ones included, if no tensor leaves it."""
        return self.resident_bytes + max(self.live_bytes)

    @cached_property
    def fingerprint(self) -> str:
        """A name of operations and tensors, without times and ratios: those may change from run to run."""
        digest = sha256()
        for operation in self.operations:
            digest.update(f"{operation.name}\0{operation.phase}\0".encode())
        for t in self.tensors:
            digest.update(f"{t.name}\0{t.bytes}\0{t.made}\0{t.last_forward}\0{list(t.uses)}\0".encode())
        return digest.hexdigest()[:16]

    def with_ratios(self, ratios: Mapping[str, Mapping[str, float]]) -> "Profile":
        """The same with ratios by tensor and codec; those that are not named stay.

        Raises `OffloadError` for a tensor that the profile does not have.
        """
        for name in ratios:
            if name not in self.by_name:
                raise OffloadError(f"{self.model}: no tensor {name}; expected one of its profile")
        tensors = (
            replace(t, ratios={**t.ratios, **ratios[t.name]}) if t.name in ratios else t for t in self.tensors
        )
        return replace(self, tensors=tuple(tensors))

    def _check(self, tensor: SavedTensor) -> None:
        forward, count = self.forward_operations, len(self.operations)
        if not 0 <= tensor.made < forward:
            raise OffloadError(
                f"tensor {tensor.name}: made by operation {tensor.made}; expected a forward one,"
                f" 0 to {forward - 1}"
            )
        if not tensor.made <= tensor.last_forward < forward:
            raise OffloadError(
                f"tensor {tensor.name}: released by operation {tensor.last_forward}; expected a forward one,"
                f" {tensor.made} to {forward - 1}"
            )
        if not forward <= tensor.uses[0] <= tensor.uses[-1] < count:
            raise OffloadError(
                f"tensor {tensor.name}: used by operations {list(tensor.uses)}; expected backward ones,"
                f" {forward} to {count - 1}"
            )
