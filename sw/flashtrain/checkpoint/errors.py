"""Errors of checkpoints."""

from flashtrain.spec import FlashtrainError
from flashtrain.training.errors import TrainingError


class CheckpointError(FlashtrainError):
    """Base of the errors of checkpoints."""


class NoCheckpoint(CheckpointError):
    """There is no checkpoint, or no array in it, of that name; the message lists the names there are."""


class CheckpointExists(CheckpointError):
    """There is a checkpoint of that name; expected a new name, or its deletion before."""


class CheckpointDamaged(CheckpointError):
    """A checkpoint is read back with a wrong checksum or a wrong format."""


class CheckpointPolicyError(CheckpointError, ValueError):
    """An interval, a bound or a measurement of checkpoints is out of range."""


class TrainingModelError(CheckpointError, TrainingError):
    """A training model is unknown, or the file that holds one is not valid."""
