"""Offloading of saved tensors: a pure function from a profile of an iteration to a plan.

`profile` is what was measured, `storage` the figures of the storage and the memory, and `plan` the result.
`offload_plan` makes a plan by our schedule, `flashneuron_plan` by FlashNeuron's, and `AdaptivePlan` follows
ratios that drift.
"""

from flashtrain.training.offload.adaptive import AdaptivePlan
from flashtrain.training.offload.plan import Plan, PlannedTensor
from flashtrain.training.offload.plan_file import load_plan, save_plan
from flashtrain.training.offload.profile import Phase, Profile, ProfiledOperation, SavedTensor
from flashtrain.training.offload.profile_file import load_profile, save_profile
from flashtrain.training.offload.published import flashneuron_plan
from flashtrain.training.offload.schedule import offload_plan
from flashtrain.training.offload.storage import RAW, SharedPart, Storage

__all__ = [
    "RAW",
    "AdaptivePlan",
    "Phase",
    "Plan",
    "PlannedTensor",
    "Profile",
    "ProfiledOperation",
    "SavedTensor",
    "SharedPart",
    "Storage",
    "flashneuron_plan",
    "load_plan",
    "load_profile",
    "offload_plan",
    "save_plan",
    "save_profile",
]
