"""Training runs on devices whose cells forget bits: what comes out has to be the same to the last bit."""

from .campaign import Campaign, Spoilt, Tally

__all__ = ["Campaign", "Spoilt", "Tally"]
