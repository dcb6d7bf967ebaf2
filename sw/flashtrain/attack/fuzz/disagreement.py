"""A device did what the contract does not allow."""

from flashtrain.spec import FlashtrainError


class Disagreement(FlashtrainError):
    """What was seen, and what was expected by which rule."""
