"""Exceptions of the PyTorch client. This module does not import PyTorch."""

from flashtrain.spec import FlashtrainError
from flashtrain.training.errors import TrainingError


class MissingExtra(FlashtrainError, ImportError):
    """A package of an optional extra is not installed; the message names the extra."""


class CaptureError(TrainingError):
    """A model cannot be captured; the message names module, tensor and what was expected."""
