"""Exceptions of trainings by several ranks."""

from flashtrain.training.errors import TrainingError


class RankError(TrainingError):
    """Something that one rank or several cannot do. Every rank raises it, with the same message."""


class RankLost(TrainingError):
    """The ranks could not agree: one has ended, or has not answered within the time of the process group."""
