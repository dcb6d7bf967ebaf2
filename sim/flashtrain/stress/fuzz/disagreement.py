"""A device did what the contract does not allow."""

from flashtrain.spec import FlashtrainError


class Disagreement(FlashtrainError):
    """A device differs from the oracle: the observation, the expectation and the rule behind it."""
