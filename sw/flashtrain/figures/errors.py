"""Exceptions of the figures."""

from flashtrain.spec import FlashtrainError


class FigureError(FlashtrainError):
    """A figure does not exist."""
