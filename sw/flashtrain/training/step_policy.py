"""The optimizer's step in a training run: learning rate, clipping and loss scale of every iteration."""

from dataclasses import dataclass, field, replace
from math import isfinite, sqrt

import numpy as np

from flashtrain.numerics import Constants, HyperparameterError
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.die_step import norm_limit
from flashtrain.training.errors import SequenceError
from flashtrain.training.loss_scale import LossScale
from flashtrain.training.optimizers import AdamWScheduleFree, Optimizer
from flashtrain.training.schedules import Constant, Schedule
from flashtrain.training.sequence.steps import UpdatePlace

_RATE = "learning_rate"
_CLIP_GUARD = 1e-6  # added to the norm, as in torch.nn.utils.clip_grad_norm_


@dataclass(frozen=True)
class StepPolicy:
    """How steps of a run are taken.

    - `schedule`: factors of the learning rate.
    - `max_norm`: the norm of all gradients is at most this one; None: it is not limited.
    - `loss_scale`: the factor of the loss; `dynamic`: it changes as :class:`LossScale` says.
    """

    schedule: Schedule = Constant()
    max_norm: float | None = None
    loss_scale: float = 1.0
    dynamic: bool = False

    def __post_init__(self) -> None:
        norm_limit(self.max_norm)
        if not self.loss_scale > 0 or not isfinite(self.loss_scale):
            raise HyperparameterError(
                f"the loss scale is {self.loss_scale!r}; expected a finite number above 0"
            )

    def check(self, optimizer: Optimizer, place: UpdatePlace, overlap: bool = False) -> None:
        """Raise unless these steps are possible with the optimizer, in the place of its updates.

        overlap: updates begin before all gradients are there.
        """
        if not isinstance(self.schedule, Constant) and _RATE not in vars(optimizer):
            raise HyperparameterError(f"{optimizer.name} has no learning rate; expected a constant schedule")
        if place is UpdatePlace.CORE and (self.max_norm is not None or self.dynamic):
            raise SequenceError(
                "the core updates a layer before the gradients of all others exist; clipping and a dynamic"
                " loss scale expect updates on the dies"
            )
        if overlap and self.max_norm is not None:
            raise SequenceError(
                "updates that overlap the backward pass have constants before the gradients exist; clipping"
                " in a sequence expects none that overlap (optimizers of flashtrain.torch clip with both)"
            )


@dataclass
class RunSteps:
    """The steps of one run, and the only states that they have: `committed` steps and the loss scale."""

    optimizer: Optimizer
    policy: StepPolicy
    committed: int = 0
    scale: LossScale = field(default_factory=LossScale)

    def scaled(self, gradient: FloatArray) -> FloatArray:
        """The gradient of the loss times its scale."""
        return gradient if self.scale.value == 1 else gradient * gradient.dtype.type(self.scale.value)

    def optimizer_of(self, iteration: int) -> Optimizer:
        """With the learning rate of `iteration`, from 0."""
        factor = self.policy.schedule.factor(iteration)
        if factor == 1:
            return self.optimizer
        rate = vars(self.optimizer)[_RATE] * factor
        return replace(self.optimizer, **{_RATE: rate})

    def clip(self, squares: float) -> float:
        """The factor that limits the norm, from the sum of the squares of the scaled gradients."""
        norm = sqrt(squares) * self.scale.unscale if isfinite(squares) else squares
        if self.policy.max_norm is None or not isfinite(norm):
            return 1.0
        return min(1.0, self.policy.max_norm / (norm + _CLIP_GUARD))

    def constants(self, iteration: int, squares: float) -> Constants:
        """The constants of the step of `iteration`."""
        optimizer = self.optimizer_of(iteration)
        return optimizer.constants(self.committed + 1, self.scale.unscale, self.clip(squares))

    def observe(self, committed: bool) -> None:
        """The step was committed, or skipped because of an overflow."""
        self.committed += committed
        if self.policy.dynamic:
            self.scale.observe(not committed)

    def after_commit(self) -> "RunSteps":
        """The state after a commit of the step under way."""
        after = replace(self, scale=replace(self.scale))
        after.observe(True)
        return after


def first_steps(optimizer: Optimizer, policy: StepPolicy) -> RunSteps:
    """The state before the first step; `HyperparameterError` for an optimizer that no run can evaluate."""
    if isinstance(optimizer, AdamWScheduleFree):
        raise HyperparameterError(
            f"{optimizer.name} is evaluated with averages, and a run evaluates the weights that it trains;"
            " expected another optimizer, or AdamWScheduleFree of flashtrain.torch"
        )
    return RunSteps(optimizer, policy, scale=LossScale(policy.loss_scale))


def squares_of(packed: Array) -> float:
    """The sum of the squares, in double precision; layers are added in the order of the backward pass."""
    return float(np.square(packed, dtype=np.float64).sum())
