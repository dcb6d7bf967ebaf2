"""Exceptions of the PyTorch client. This module does not import PyTorch."""

from flashtrain.spec import FlashtrainError


class MissingExtra(FlashtrainError, ImportError):
    """A package of an optional extra is not installed; the message names the extra."""
