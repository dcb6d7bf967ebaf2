"""A plan of offloading at work (`flashtrain.training.offload`): what is offloaded, and when it is read."""

from collections.abc import Sequence

from flashtrain.training.offload import Plan, PlannedTensor, Profile

from .errors import PlanMismatch


class PlanAtWork:
    """Looks up saved storages in a plan, and refuses a model that saves others.

    Sizes are compared with the plan, and with `profile` if it is given. Raises what `Plan.check` raises for
    the profile of another model.

    Members
    -------
    barrier: the backward pass waits for all writes.
    activation_bytes: the predicted peak of saved bytes; None without a profile.
    """

    def __init__(self, plan: Plan, profile: Profile | None) -> None:
        self.barrier = plan.barrier
        self.activation_bytes: int | None = None
        self._model = plan.model
        self._planned = plan.by_name
        self._bytes = {tensor.name: tensor.bytes for tensor in plan.tensors}
        self._has_profile = profile is not None
        if profile is not None:
            plan.check(profile)
            self.activation_bytes = max(0, plan.peak_bytes - profile.resident_bytes)
            self._bytes |= {tensor.name: tensor.bytes for tensor in profile.tensors}
        self._reads: dict[str | None, list[int]] = {}
        for tensor in plan.tensors:
            self._reads.setdefault(tensor.prefetch_with, []).append(_number(tensor.name))

    def find(self, name: str, nbytes: int, label: str) -> PlannedTensor | None:
        """The tensor of the plan; None for one that stays in memory."""
        expected = self._bytes.get(name)
        if expected not in (None, nbytes):
            raise PlanMismatch(
                f"{label} has {nbytes:,} bytes; expected {expected:,} by the plan for model {self._model!r}"
            )
        return self._planned.get(name)

    def check_need(self, name: str, label: str) -> None:
        """Check that the backward pass may need the tensor: a profile has all that it needs."""
        if self._has_profile and name not in self._bytes:
            raise PlanMismatch(
                f"{label} is needed by the backward pass; expected only tensors of the profile of model"
                f" {self._model!r}"
            )

    def check_end(self, saved: int) -> None:
        """Check that a forward pass has saved all tensors; `saved` is their number."""
        missing = [name for name in self._bytes if _number(name) >= saved]
        if saved and missing:
            raise PlanMismatch(
                f"the forward pass has saved {saved} tensors; expected also {missing[0]} of"
                f" {self._bytes[missing[0]]:,} bytes by the plan for model {self._model!r}"
            )

    def reads_with(self, name: str | None) -> Sequence[int]:
        """Numbers of the tensors to read when `name` is needed first; None: when the backward pass begins."""
        return self._reads.get(name, ())


def _number(name: str) -> int:
    kind, _, number = name.partition("/")
    if kind != "saved" or not number.isdecimal():
        raise PlanMismatch(f"tensor {name!r} of the plan; expected a name such as 'saved/0'")
    return int(number)
