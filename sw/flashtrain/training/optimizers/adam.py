"""Adam (Kingma and Ba, ICLR 2015) and AdamW (Loshchilov and Hutter, ICLR 2019), as in `torch.optim`."""

from dataclasses import dataclass

from flashtrain.numerics import Constants
from flashtrain.numerics.constants import float32
from flashtrain.spec.optimizer import AdamConstant, OptimizerCode

from .optimizer import Optimizer, at_least_zero, below_one


@dataclass(frozen=True)
class Adam(Optimizer):
    """Moving averages of the gradient (m) and of its square (v); weight decay is added to the gradient."""

    learning_rate: float = 0.015
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_zero("learning_rate", self.learning_rate)
        below_one("beta1", self.beta1)
        below_one("beta2", self.beta2)
        at_least_zero("epsilon", self.epsilon)
        at_least_zero("weight_decay", self.weight_decay)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.ADAM_FAST if self._fast else OptimizerCode.ADAM

    @property
    def _fast(self) -> bool:
        """Whether the mean is reckoned from the gradient, as `torch.lerp` does for weights from 1/2 on."""
        return bool(float32("1 - beta1", 1 - self.beta1) >= 0.5)

    @property
    def _decay(self) -> float:
        return self.weight_decay

    def _constants(self, t: int, scale: float) -> Constants:
        c = AdamConstant
        gain = float(float32("1 - beta1", 1 - self.beta1))
        values = {
            c.SCALE: scale,
            c.DECAY: self._decay,
            c.MEAN_GAIN: gain - 1 if self._fast else gain,
            c.SQUARE_KEEP: self.beta2,
            c.SQUARE_GAIN: 1 - self.beta2,
            c.BIAS: (1 - self.beta2**t) ** 0.5,  # as PyTorch has it: sqrt() may round otherwise
            c.EPSILON: self.epsilon,
            c.STEP: -self.learning_rate / (1 - self.beta1**t),
        }
        return Constants.rounded(self.code, values)


@dataclass(frozen=True)
class AdamW(Adam):
    """As `Adam`, but the weight shrinks by ``1 - lr * weight_decay`` before the step."""

    weight_decay: float = 0.01

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.ADAMW_FAST if self._fast else OptimizerCode.ADAMW

    @property
    def _decay(self) -> float:
        return 1 - self.learning_rate * self.weight_decay
