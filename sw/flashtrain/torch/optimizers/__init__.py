"""Optimizers of PyTorch whose steps the dies take: parameters in cells, state dictionaries, loss scales."""

from .adam import Adam, AdamW
from .die_optimizer import DieOptimizer
from .lion import Lion
from .muon import Muon
from .schedule_free import AdamWScheduleFree
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "AdamWScheduleFree", "DieOptimizer", "Lion", "Muon"]
