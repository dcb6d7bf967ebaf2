"""Lion (X. Chen et al., *Symbolic Discovery of Optimization Algorithms*, NeurIPS 2023, algorithm 2)."""

from dataclasses import dataclass

from flashtrain.numerics import Constants
from flashtrain.spec.optimizer import LionConstant, OptimizerCode

from .optimizer import Optimizer, at_least_zero, below_one


@dataclass(frozen=True)
class Lion(Optimizer):
    """``w = w * (1 - lr * weight_decay) - lr * sign(beta1 * m + (1 - beta1) * g)``.

    Then ``m = beta2 * m + (1 - beta2) * g``.
    """

    learning_rate: float = 0.006
    beta1: float = 0.9
    beta2: float = 0.99
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_zero("learning_rate", self.learning_rate)
        below_one("beta1", self.beta1)
        below_one("beta2", self.beta2)
        at_least_zero("weight_decay", self.weight_decay)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.LION

    def _constants(self, t: int, scale: float) -> Constants:
        c = LionConstant
        values = {
            c.SCALE: scale,
            c.DECAY: 1 - self.learning_rate * self.weight_decay,
            c.OLD: self.beta1,
            c.NEW: 1 - self.beta1,
            c.KEEP: self.beta2,
            c.GAIN: 1 - self.beta2,
            c.STEP: -self.learning_rate,
        }
        return Constants.rounded(self.code, values)
