"""Stochastic gradient descent: as `torch.optim.SGD` with dampening 0, and with decoupled weight decay."""

from dataclasses import dataclass

from flashtrain.numerics import Constants
from flashtrain.spec.optimizer import OptimizerCode, SgdConstant

from .optimizer import Optimizer, at_least_zero


@dataclass(frozen=True)
class SGD(Optimizer):
    """``w -= lr * (g + weight_decay * w)``."""

    learning_rate: float = 0.1
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_zero("learning_rate", self.learning_rate)
        at_least_zero("weight_decay", self.weight_decay)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.SGD

    def _constants(self, t: int, scale: float) -> Constants:
        return _sgd_constants(self.code, scale, self.weight_decay, self.learning_rate, 0.0)


@dataclass(frozen=True)
class SGDW(SGD):
    """``w = w * (1 - lr * weight_decay) - lr * step_factor * g``: decoupled weight decay.

    The decay is that of Loshchilov and Hutter (ICLR 2019), without their momentum.

    step_factor: of the step alone, such as the adjustment of Muon to the shape of a matrix.
    """

    weight_decay: float = 0.01
    step_factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_zero("step_factor", self.step_factor)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.SGDW

    def _constants(self, t: int, scale: float) -> Constants:
        keep = 1 - self.learning_rate * self.weight_decay
        return _sgd_constants(self.code, scale, keep, self.learning_rate * self.step_factor, 0.0)


@dataclass(frozen=True)
class Momentum(Optimizer):
    """``m = momentum * m + (g + weight_decay * w);  w -= lr * m``. The first m is the first gradient."""

    learning_rate: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_zero("learning_rate", self.learning_rate)
        at_least_zero("momentum", self.momentum)
        at_least_zero("weight_decay", self.weight_decay)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.MOMENTUM

    def _constants(self, t: int, scale: float) -> Constants:
        return _sgd_constants(self.code, scale, self.weight_decay, self.learning_rate, self.momentum)


@dataclass(frozen=True)
class Nesterov(Momentum):
    """As `Momentum`, but ``w -= lr * (g + weight_decay * w + momentum * m)`` with the new m."""

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.NESTEROV


def _sgd_constants(
    code: OptimizerCode, scale: float, decay: float, learning_rate: float, momentum: float
) -> Constants:
    c = SgdConstant
    values = {c.SCALE: scale, c.DECAY: decay, c.STEP: -learning_rate, c.MOMENTUM: momentum}
    return Constants.rounded(code, values)
