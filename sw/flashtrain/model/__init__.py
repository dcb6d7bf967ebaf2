"""The performance model: a Link with the time of the RTL, at a fraction of its cost."""

from .link import ModelLink

__all__ = ["ModelLink"]
