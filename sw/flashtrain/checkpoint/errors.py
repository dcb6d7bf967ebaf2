"""Exceptions of the checkpoints. Each message names the thing at fault and what was expected of it."""

from flashtrain.training.errors import TrainingError


class TrainingModelError(TrainingError):
    """A training model is unknown, or the file that holds one is not valid."""
