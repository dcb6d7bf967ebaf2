"""Exceptions of saved activations. Each message names the tensor, its module and what was expected."""

from flashtrain.spec import FlashtrainError
from flashtrain.spec.errors import ConfigError


class ActivationError(FlashtrainError):
    """Base of the errors of activations on the flash."""


class UnsupportedTensor(ActivationError, TypeError):
    """A saved tensor has no strided data in the memory of the CPU or of an accelerator."""


class ActivationChanged(ActivationError, RuntimeError):
    """A saved tensor was changed in place before the backward pass needed it."""


class ActivationRefused(ActivationError):
    """The device did not take a saved tensor, for example because its stream is full."""


class ActivationLost(ActivationError):
    """The device does not have a saved tensor any more, for example because its stream was reset."""


class PlanMismatch(ActivationError, ValueError):
    """The forward pass saves other tensors than the plan was made for."""


class CodecUnavailable(ActivationError, ConfigError):
    """The stream does not have the codec that was asked for."""
