"""A plan that follows the ratios that a training measures."""

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.plan import Plan
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.schedule import offload_plan
from flashtrain.training.offload.storage import RAW, Storage

DRIFT = 0.05
"""The share of a plan's stored bytes by which measured ones may differ."""


class AdaptivePlan:
    """The plan of a model, made anew when its codecs store other numbers of bytes than it expects.

    - `profile`, `storage`: as in `offload_plan`. The profile is updated with each measured ratio.
    - `drift`: the share of the stored bytes that may be missed before there is a new plan.

    Activations change while a network learns, so their ratios do, too.
    """

    def __init__(self, profile: Profile, storage: Storage, drift: float = DRIFT) -> None:
        if not drift >= 0:
            raise OffloadError(f"drift: {drift}; expected 0 or more")
        self._storage = storage
        self._drift = drift
        self._measured: dict[str, dict[str, float]] = {}
        self.profile = profile
        self.plan: Plan = offload_plan(profile, storage)

    def measured(self, tensor: str, codec: str, ratio: float) -> None:
        """Note bytes per byte stored of a tensor in the iteration that runs.

        Raises `OffloadError` for a tensor or a codec that does not exist.
        """
        if tensor not in self.profile.by_name:
            raise OffloadError(f"{self.profile.model}: no tensor {tensor}; expected one of its profile")
        if codec not in self._storage.codecs:
            offered = ", ".join(self._storage.codecs) or "none"
            raise OffloadError(f"tensor {tensor}: codec {codec}; {self._storage.name} offers {offered}")
        self._measured.setdefault(tensor, {})[codec] = ratio

    def next_iteration(self) -> Plan:
        """The plan of the next iteration: the same object unless the ratios have drifted."""
        self.profile = self.profile.with_ratios(self._measured)
        self._measured.clear()
        if self._missed_share() > self._drift:
            self.plan = offload_plan(self.profile, self._storage)
        return self.plan

    def _missed_share(self) -> float:
        missed = 0.0
        for planned in self.plan.tensors:
            if planned.codec != RAW:
                ratio = self.profile.by_name[planned.name].ratios[planned.codec]
                missed += abs(planned.bytes / ratio - planned.bytes / planned.ratio)
        return missed / self.plan.stored_bytes if self.plan.tensors else 0.0
