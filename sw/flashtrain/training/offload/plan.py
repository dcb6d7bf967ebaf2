"""The plan of offloading: which tensors of a model go to the storage, and when they come back."""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from flashtrain.reading import repeated
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.storage import Storage


@dataclass(frozen=True)
class PlannedTensor:
    """An offloaded tensor.

    - `write_order`: of two tensors that can be written, the lower number is written first.
    - `prefetch_before`: index of the operation at whose begin the read is issued, at most `first_use`.
    - `prefetch_with`: the tensor whose first need issues the read; None: the begin of the backward pass.
    """

    name: str
    bytes: int
    codec: str
    ratio: float
    write_order: int
    first_use: int
    prefetch_before: int
    prefetch_with: str | None

    def __post_init__(self) -> None:
        if not (isfinite(self.ratio) and self.ratio > 0):
            raise OffloadError(f"tensor {self.name}: ratio {self.ratio}; expected more than 0")
        if not 0 <= self.prefetch_before <= self.first_use:
            raise OffloadError(
                f"tensor {self.name}: prefetch before operation {self.prefetch_before}; expected 0 to"
                f" {self.first_use}, which needs it"
            )


@dataclass(frozen=True)
class Plan:
    """The offloaded `tensors` of `model` in the order of their writes, and what was predicted.

    - `fingerprint`: of the profile that it was made for (`Profile.fingerprint`).
    - `barrier`: whether the backward pass waits for all writes.
    - `seconds`, `peak_bytes`: predicted for an iteration, `peak_bytes` with the resident bytes.

    Raises `OffloadError` if a name or a number of `write_order` comes twice.
    """

    model: str
    fingerprint: str
    schedule: str
    barrier: bool
    storage: Storage
    tensors: tuple[PlannedTensor, ...]
    seconds: float
    peak_bytes: int

    def __post_init__(self) -> None:
        if len(self.by_name) != len(self.tensors):
            twice = repeated(tensor.name for tensor in self.tensors)
            raise OffloadError(f"tensors: the name {twice} is not unique")
        orders = [tensor.write_order for tensor in self.tensors]
        if orders != sorted(set(orders)):
            raise OffloadError(f"tensors: write_order is {orders}; expected ascending numbers")

    @cached_property
    def by_name(self) -> dict[str, PlannedTensor]:
        return {tensor.name: tensor for tensor in self.tensors}

    @property
    def offloaded_bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def stored_bytes(self) -> float:
        return sum(tensor.bytes / tensor.ratio for tensor in self.tensors)

    def check(self, profile: Profile) -> None:
        """Raise `OffloadError` if the plan was made for another model than that of `profile`."""
        if self.fingerprint != profile.fingerprint:
            raise OffloadError(
                f"the plan is for model {self.model} with fingerprint {self.fingerprint}; expected"
                f" {profile.model} with {profile.fingerprint}"
            )
