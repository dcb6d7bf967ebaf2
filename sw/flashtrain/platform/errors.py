"""Exceptions of the platform."""

from flashtrain.spec import FlashtrainError


class PlatformError(FlashtrainError):
    """A workload or a platform is not possible; the message says what was expected."""
