"""Training on devices that forget bits and whose blocks break: the result has to be the same to the bit."""

from .campaign import Campaign, Spoilt, Tally

__all__ = ["Campaign", "Spoilt", "Tally"]
