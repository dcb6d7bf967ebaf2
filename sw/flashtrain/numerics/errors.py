"""Exceptions of the arithmetic. Each message names the thing at fault and what was expected of it."""

from flashtrain.spec import FlashtrainError


class OperandError(FlashtrainError, ValueError):
    """An array does not have the shape or the dtype that an operation takes."""


class HyperparameterError(FlashtrainError, ValueError):
    """A hyperparameter of an optimizer is not finite, out of its range, or too large or small for float32."""
