"""Damaged images: each is inspected and opened, and all that a device still returns is compared."""

from .campaign import DamageCampaign, DamageTally

__all__ = ["DamageCampaign", "DamageTally"]
