"""An exponential moving average of gradients, kept in the place of weights: the momentum of Muon."""

from dataclasses import dataclass

from flashtrain.numerics import Constants
from flashtrain.numerics.constants import float32
from flashtrain.spec.optimizer import OptimizerCode, SgdConstant

from .optimizer import Optimizer, below_one


@dataclass(frozen=True)
class MovingMean(Optimizer):
    """``w = momentum * w + (1 - momentum) * g``, as ``w.lerp_(g, 1 - momentum)`` of PyTorch.

    Its bits are those of PyTorch for a momentum of 0 and of more than 1/2. PyTorch then computes from the old
    mean, as SGD does with a weight decay of -1. Up to 1/2 PyTorch computes from the gradient, as no program
    does; SGDW rounds otherwise there (docs/optimizers.md has the distance).
    """

    momentum: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        below_one("momentum", self.momentum)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.SGD if float32("1 - momentum", self._gain) < 0.5 else OptimizerCode.SGDW

    @property
    def _gain(self) -> float:
        return 1 - self.momentum

    def _constants(self, t: int, scale: float) -> Constants:
        c = SgdConstant
        decay = -1.0 if self.code is OptimizerCode.SGD else self.momentum
        return Constants.rounded(
            self.code, {c.SCALE: scale, c.DECAY: decay, c.STEP: self._gain, c.MOMENTUM: 0.0}
        )
