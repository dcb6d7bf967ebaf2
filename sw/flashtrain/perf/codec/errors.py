"""Exceptions of the comparison of codes."""

from flashtrain.spec import FlashtrainError


class ArrayFileError(FlashtrainError, ValueError):
    """A file has no arrays, or an array that no codec takes."""
