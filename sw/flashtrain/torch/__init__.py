"""Training in PyTorch through the flash: activations, optimizers with their steps on the dies, and data sets.

Models are also captured: `capture` makes a training command sequence and an offload profile of one iteration.
It needs PyTorch, which the extra `torch` brings. No other package of flashtrain imports it.
"""

from flashtrain.spec.state_format import Rounding, StateFormat
from flashtrain.training.offload.processor import Processor

from .errors import CaptureError, MissingExtra

try:
    import torch as _  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtra(
        "PyTorch is not installed; expected the extra: pip install 'flashtrain[torch]'"
    ) from error

from .activations.errors import (
    ActivationChanged,
    ActivationError,
    ActivationLost,
    ActivationRefused,
    CodecUnavailable,
    PlanMismatch,
    UnsupportedTensor,
)
from .activations.keep import keep
from .activations.offload_activations import OffloadActivations, save_on_flash
from .activations.report import ActivationReport, ModuleTraffic
from .capturing.capture import Capture, capture
from .data import FlashDataset, ResumableSampler
from .optimizers import SGD, Adam, AdamW, AdamWScheduleFree, DieOptimizer, Lion, Muon
from .ranks.errors import RankError, RankLost
from .ranks.opening import open_rank_device

__all__ = [
    "SGD", "ActivationChanged", "ActivationError", "ActivationLost", "ActivationRefused", "ActivationReport",
    "Adam", "AdamW", "AdamWScheduleFree", "Capture", "CaptureError", "CodecUnavailable", "DieOptimizer",
    "FlashDataset", "Lion", "MissingExtra", "ModuleTraffic", "Muon", "OffloadActivations", "PlanMismatch",
    "Processor", "RankError", "RankLost", "ResumableSampler", "Rounding", "StateFormat", "UnsupportedTensor",
    "capture", "keep", "open_rank_device", "save_on_flash",
]  # fmt: skip
