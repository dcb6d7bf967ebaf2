"""Reference optimizers in NumPy float32: what an update anywhere in the system has to equal bit for bit.

The order of operations is data, a micro-program for each optimizer, in `flashtrain.spec.optimizer`; `update`
of `flashtrain.numerics` carries it out. The classes here turn hyperparameters into the constants that are
broadcast for a step. docs/optimizers.md has the programs, the constants, and the distance to PyTorch.
"""

from flashtrain.numerics import Constants, Statistics, Update, copy_of, gradient_values, statistics, update

from .adam import Adam, AdamW
from .linear import Linear
from .lion import Lion
from .moving_mean import MovingMean
from .optimizer import Optimizer, State
from .schedule_free import AdamWScheduleFree
from .sgd import SGD, SGDW, Momentum, Nesterov

OPTIMIZERS = {
    optimizer.name: optimizer for optimizer in (SGD(), Momentum(), Nesterov(), Adam(), AdamW(), Lion())
}
"""The optimizers of training runs, by name, with their default hyperparameters. A run evaluates the weights
that it trains, so AdamWScheduleFree is none of them."""

__all__ = [
    "OPTIMIZERS", "SGD", "SGDW", "Adam", "AdamW", "AdamWScheduleFree", "Constants", "Linear", "Lion",
    "Momentum", "MovingMean", "Nesterov", "Optimizer", "State", "Statistics", "Update", "copy_of",
    "gradient_values", "statistics", "update",
]  # fmt: skip
