"""Exceptions of sweeps."""

from flashtrain.spec import FlashtrainError


class SweepError(FlashtrainError, ValueError):
    """A sweep file asks for something that cannot be run; the message names file, key and expectation."""


class SweepStopped(FlashtrainError, RuntimeError):
    """The processes of a sweep are gone; its journal has all points that were complete."""


class JournalError(FlashtrainError):
    """A journal is in use."""
