"""Training in PyTorch through the flash: optimizers with their steps on the dies, data sets in a stream.

It needs PyTorch, which the extra `torch` brings. No other package of flashtrain imports it.
"""

from .data import FlashDataset, ResumableSampler
from .optimizers import SGD, Adam, AdamW, DieOptimizer

__all__ = ["SGD", "Adam", "AdamW", "DieOptimizer", "FlashDataset", "ResumableSampler"]
