"""Training in PyTorch through the flash: optimizers with their steps on the dies, data sets in a stream.

It needs PyTorch, which the extra `torch` brings. No other package of flashtrain imports it.
"""

from .adam import Adam, AdamW
from .die_optimizer import DieOptimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "DieOptimizer"]
