"""Samples in a stream, and the order in which they are read."""

from .dataset import FlashDataset
from .sampler import ResumableSampler

__all__ = ["FlashDataset", "ResumableSampler"]
