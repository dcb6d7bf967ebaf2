"""Optimizer steps beside the tensor buffer, with the update unit of a die."""

from .lane import UpdateLane
from .order import LaneOrder, LaneTask

__all__ = ["LaneOrder", "LaneTask", "UpdateLane"]
