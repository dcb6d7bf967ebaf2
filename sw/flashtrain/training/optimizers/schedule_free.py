"""Schedule-free AdamW (A. Defazio et al., *The Road Less Scheduled*, NeurIPS 2024), as in `schedulefree`."""

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from flashtrain.numerics import Constants
from flashtrain.numerics.constants import float32
from flashtrain.numerics.float32 import fma
from flashtrain.spec.optimizer import OptimizerCode, ScheduleFreeConstant
from flashtrain.training.arrays import FloatArray

from .optimizer import Optimizer, State, at_least_zero, below_one, finite, gradient_factor, positive


class Average(NamedTuple):
    """The average of all steps so far; names are those of the authors' code.

    - k: the number of steps.
    - weight_sum: the sum of their weights.
    - lr_max: the largest of their learning rates.
    - share: the weight of the last one in the average, of 1.
    """

    k: int = 0
    weight_sum: float = 0.0
    lr_max: float = -1.0
    share: float = 1.0


@dataclass(frozen=True)
class AdamWScheduleFree(Optimizer):
    """Adam without momentum moves z; the average x of all z takes the place of a schedule.

    w is y, the point between z and x at which gradients are taken; m is z; v is as of Adam. x is not stored:
    :meth:`evaluated` computes it. Defaults are those of the authors' code. The learning rate rises through
    `warmup_steps`. Step k has the weight ``k**r * lr**weight_lr_power``, with the largest learning rate so
    far. :meth:`constants` takes one learning rate for all steps, on which the average then does not depend.
    """

    learning_rate: float = 0.0025
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    warmup_steps: int = 0
    r: float = 0.0
    weight_lr_power: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_zero("learning_rate", self.learning_rate)
        below_one("beta1", self.beta1)
        positive("beta1", self.beta1)  # with 0 there is nothing of x in y
        below_one("beta2", self.beta2)
        at_least_zero("epsilon", self.epsilon)
        at_least_zero("weight_decay", self.weight_decay)
        at_least_zero("warmup_steps", self.warmup_steps)
        finite("r", self.r)
        finite("weight_lr_power", self.weight_lr_power)

    @property
    def code(self) -> OptimizerCode:
        return OptimizerCode.ADAMW_SCHEDULE_FREE

    def initial_state(self, w: FloatArray) -> State:
        """State before the first step: z is the weights, v is zeros."""
        return {**super().initial_state(w), "m": w.copy()}

    def evaluated(self, w: FloatArray, state: State) -> FloatArray:
        return lerp(w, state["m"], 1 - 1 / self.beta1)

    def rate(self, k: int) -> float:
        """The learning rate of the step behind `k` others."""
        return self.learning_rate * ((k + 1) / self.warmup_steps if k < self.warmup_steps else 1.0)

    def after(self, average: Average) -> Average:
        """The average with the next step."""
        k, lr_max = average.k + 1, max(self.rate(average.k), average.lr_max)
        weight = k**self.r * lr_max**self.weight_lr_power
        weight_sum = average.weight_sum + weight
        return Average(k, weight_sum, lr_max, weight / weight_sum if weight_sum else 0.0)

    def next_constants(self, average: Average, unscale: float = 1.0, clip: float = 1.0) -> Constants:
        """The constants of the step behind this average, whatever its learning rates were; factors are those
        of :meth:`constants`."""
        return self._of_step(average.k, self.after(average).share, gradient_factor(unscale, clip))

    def _constants(self, t: int, scale: float) -> Constants:
        known = _averages(self.warmup_steps, self.r, self.weight_lr_power)
        # Behind the warmup all weights are equal, unless they grow.
        counted = int(t) if self.r else min(int(t), max(1, int(self.warmup_steps)))
        even = replace(self, learning_rate=1.0)
        while len(known) <= counted:
            known.append(even.after(known[-1]))
        last = known[counted]
        weight = last.share * last.weight_sum
        share = weight / (last.weight_sum + (t - counted) * weight) if t > counted else last.share
        return self._of_step(int(t) - 1, share, scale)

    def _of_step(self, k: int, share: float, scale: float) -> Constants:
        c, rate, bias = ScheduleFreeConstant, self.rate(k), (1 - self.beta2 ** (k + 1)) ** 0.5
        values = {
            c.SCALE: scale,
            c.DECAY: -rate * self.weight_decay,
            c.SQUARE_KEEP: self.beta2,
            c.SQUARE_GAIN: 1 - self.beta2,
            c.EPSILON: self.epsilon * bias,
            c.STEP: -rate * bias,
            c.MIX: share,
            c.LEAD: 1 - self.beta1 * (1 - share),
        }
        return Constants.rounded(self.code, values)


def lerp(a: FloatArray, b: FloatArray, weight: float) -> FloatArray:
    """``a + weight * (b - a)``, computed from the nearer end as `torch.lerp` does on a CPU."""
    near = float32("weight", weight)
    with np.errstate(all="ignore"):
        apart = np.subtract(b, a)
        return fma(near, apart, a) if abs(near) < 0.5 else fma(near - np.float32(1), apart, b)


@cache
def _averages(warmup_steps: float, r: float, power: float) -> list[Average]:
    """Averages of a constant learning rate, behind 0, 1, 2, ... steps; it grows as steps come."""
    return [Average()]
