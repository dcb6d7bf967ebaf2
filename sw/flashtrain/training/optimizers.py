"""Reference optimizers in NumPy float32, with the order of every operation written down.

An optimizer step is element by element: the same few operations on each weight, its gradient and its state.
Every operation below is one IEEE-754 single-precision operation (add, multiply, divide, square root) rounded
to nearest even, in the order of the parentheses, and none is fused. Whatever else computes the step, in
hardware or near the flash, has to give these bits.

What depends only on the iteration (learning rate, bias correction) is computed once per step in double
precision and rounded to single precision once: the *constants* that a controller broadcasts. The iteration
`t` counts from 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt

import numpy as np

from flashtrain.training.arrays import Arrays, FloatArray

State = Arrays
"""State of the optimizer for some weights: named float32 arrays of the weights' shape."""

Constants = dict[str, np.float32]


class Optimizer(ABC):
    """Hyperparameters of one way of updating weights.

    Steps are pure functions: nothing is kept between them, and no argument is changed.
    """

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    @property
    @abstractmethod
    def state_names(self) -> tuple[str, ...]:
        """Names of the state arrays, in the order in which they are stored."""

    @abstractmethod
    def constants(self, t: int) -> Constants:
        """What is broadcast for iteration `t`."""

    @abstractmethod
    def step(self, w: FloatArray, g: FloatArray, state: State, t: int) -> tuple[FloatArray, State]:
        """New weights and new state, from weights, gradient and state, all float32 of one shape."""

    def initial_state(self, w: FloatArray) -> State:
        """State before the first step: zeros."""
        return {name: np.zeros_like(w) for name in self.state_names}


@dataclass(frozen=True)
class SGD(Optimizer):
    """Stochastic gradient descent.

    Constants ``step = -lr``. Order: ``w = w + (step * g)``.
    """

    learning_rate: float = 0.1

    @property
    def state_names(self) -> tuple[str, ...]:
        return ()

    def constants(self, t: int) -> Constants:
        return {"step": np.float32(-self.learning_rate)}

    def step(self, w: FloatArray, g: FloatArray, state: State, t: int) -> tuple[FloatArray, State]:
        return w + self.constants(t)["step"] * g, {}


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with momentum, without dampening (as `torch.optim.SGD`).

    Constants ``b = momentum, step = -lr``. Order: ``m = (b * m) + g;  w = w + (step * m)``.
    """

    learning_rate: float = 0.1
    momentum: float = 0.9

    @property
    def state_names(self) -> tuple[str, ...]:
        return ("m",)

    def constants(self, t: int) -> Constants:
        return {"b": np.float32(self.momentum), "step": np.float32(-self.learning_rate)}

    def step(self, w: FloatArray, g: FloatArray, state: State, t: int) -> tuple[FloatArray, State]:
        c = self.constants(t)
        m = c["b"] * state["m"] + g
        return w + c["step"] * m, {"m": m}


@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015); with `weight_decay`, AdamW (Loshchilov and Hutter, 2019).

    Constants ``b1, c1 = 1 - b1, b2, c2 = 1 - b2, bc2 = 1 / sqrt(1 - b2**t), step = -lr / (1 - b1**t), eps,
    keep = 1 - lr * weight_decay``. Order::

        v = (b2 * v) + (c2 * (g * g))
        m = (b1 * m) + (c1 * g)
        w = (keep * w) + ((step * m) / ((sqrt(v) * bc2) + eps))
    """

    learning_rate: float = 0.015
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0

    @property
    def state_names(self) -> tuple[str, ...]:
        return ("m", "v")

    def constants(self, t: int) -> Constants:
        values = {
            "b1": self.beta1,
            "c1": 1 - self.beta1,
            "b2": self.beta2,
            "c2": 1 - self.beta2,
            "bc2": 1 / sqrt(1 - self.beta2**t),
            "step": -self.learning_rate / (1 - self.beta1**t),
            "eps": self.epsilon,
            "keep": 1 - self.learning_rate * self.weight_decay,
        }
        return {name: np.float32(value) for name, value in values.items()}

    def step(self, w: FloatArray, g: FloatArray, state: State, t: int) -> tuple[FloatArray, State]:
        c = self.constants(t)
        v = c["b2"] * state["v"] + c["c2"] * (g * g)
        m = c["b1"] * state["m"] + c["c1"] * g
        w = c["keep"] * w + (c["step"] * m) / (np.sqrt(v) * c["bc2"] + c["eps"])
        return w, {"m": m, "v": v}


OPTIMIZERS = {optimizer.name: optimizer for optimizer in (SGD(), Momentum(), Adam())}
"""The optimizers by name, with their default hyperparameters."""
