"""Offloading of saved tensors: a pure function from a profile of an iteration to a plan.

`profile` is what was measured, `storage` the figures of the storage and the memory, and `plan` the result.
"""

from flashtrain.training.offload.plan import Plan, PlannedTensor, load_plan, save_plan
from flashtrain.training.offload.profile import (
    Phase,
    Profile,
    ProfiledOperation,
    SavedTensor,
    load_profile,
    save_profile,
)
from flashtrain.training.offload.storage import RAW, SharedPart, Storage

__all__ = [
    "RAW",
    "Phase",
    "Plan",
    "PlannedTensor",
    "Profile",
    "ProfiledOperation",
    "SavedTensor",
    "SharedPart",
    "Storage",
    "load_plan",
    "load_profile",
    "save_plan",
    "save_profile",
]
