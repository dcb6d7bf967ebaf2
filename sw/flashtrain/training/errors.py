"""Exceptions of the training package. Each message names the thing at fault and what was expected of it."""

from flashtrain.spec import FlashtrainError


class TrainingError(FlashtrainError):
    """Base of every error the training package raises."""


class ShapeError(TrainingError):
    """An array or a layer does not have the shape or the dtype that was expected."""


class SeedError(TrainingError, ValueError):
    """A seed is no integer of at least 0."""


class DataError(TrainingError):
    """A data set cannot be split, batched, stored or read as asked."""


class NetworkError(TrainingError):
    """A network of the user cannot be loaded, or its layers are not as they declare."""


class SequenceError(TrainingError):
    """A training command sequence, or the file that holds one, is not valid."""


class TensorError(TrainingError):
    """A tensor cannot be stored in, or read from, its stream."""


class ReplayError(TrainingError):
    """A replayed tensor did not come back as it was appended."""


class PositionError(TrainingError):
    """A run cannot go on: its weights are not on the dies, or the state there is none of a run."""


class ParameterError(TrainingError, ValueError):
    """Parameters, their groups or their gradients are not what an optimizer takes."""


class OffloadError(TrainingError):
    """A profile or a plan of offloading is not valid, or no plan keeps within the memory."""
