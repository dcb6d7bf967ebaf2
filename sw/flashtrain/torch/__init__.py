"""Training in PyTorch through the flash: optimizers with their steps on the dies, data sets in a stream.

It needs PyTorch, which the extra `torch` brings. No other package of flashtrain imports it.
"""

from .adam import Adam, AdamW
from .dataset import FlashDataset
from .die_optimizer import DieOptimizer
from .sampler import ResumableSampler
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "DieOptimizer", "FlashDataset", "ResumableSampler"]
