"""The base of all optimizers: checked hyperparameters, constants of a step, a step as a pure function."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite, isinf
from numbers import Real

import numpy as np

from flashtrain.numerics import Constants, HyperparameterError, update
from flashtrain.numerics.constants import float32
from flashtrain.spec.optimizer import PROGRAMS, OptimizerCode, Program
from flashtrain.training.arrays import Array, Arrays, FloatArray

State = Arrays
"""State of the optimizer for some weights: named float32 arrays of the weights' shape."""


@dataclass(frozen=True)
class Optimizer(ABC):
    """Hyperparameters of one way of updating weights.

    Steps are pure functions: nothing is kept between them, and no argument is changed. Hyperparameters that
    are not finite or out of range raise `HyperparameterError`.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = number(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    @property
    @abstractmethod
    def code(self) -> OptimizerCode:
        """Which micro-program computes the step."""

    @property
    def program(self) -> Program:
        return PROGRAMS[self.code]

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state arrays, in the order in which they are stored."""
        program = self.program
        return tuple(name for name, output in (("m", program.m), ("v", program.v)) if output is not None)

    def constants(self, t: int, unscale: float = 1.0, clip: float = 1.0) -> Constants:
        """The constants that are broadcast for iteration `t`, which counts from 1.

        Two factors multiply the gradient. `unscale` is the inverse of the loss scale; `clip` brings the norm
        of the gradients below its limit.
        """
        if not isinstance(t, int | np.integer) or t < 1:
            raise HyperparameterError(f"iteration is {t!r}; expected an integer, 1 or more")
        return self._constants(t, gradient_factor(unscale, clip))

    @abstractmethod
    def _constants(self, t: int, scale: float) -> Constants:
        """The constants, computed in double precision and rounded at the end."""

    def step(
        self, w: FloatArray, g: Array, state: State, t: int, unscale: float = 1.0, clip: float = 1.0
    ) -> tuple[FloatArray, State]:
        """New weights and new state, from weights, gradient and state, all of one shape.

        Weights and state are float32; the gradient as `update` takes it.
        """
        after = update(self.constants(t, unscale, clip), g, w, state.get("m"), state.get("v"))
        arrays = {"m": after.m, "v": after.v}
        return after.w, {name: array for name, array in arrays.items() if array is not None}

    def initial_state(self, w: FloatArray) -> State:
        """State before the first step: zeros."""
        return {name: np.zeros_like(w) for name in self.state_names}

    def evaluated(self, w: FloatArray, state: State) -> FloatArray:
        """The weights that a trained network has, from those that train and their state: the same."""
        return w


def gradient_factor(unscale: float, clip: float) -> float:
    """The factor of the gradient; `HyperparameterError` for factors that are out of range."""
    unscale, clip = number("unscale", unscale), number("clip", clip)
    positive("unscale", unscale)
    at_least_zero("clip", clip)
    finite("unscale * clip", unscale * clip)
    if clip and not unscale * clip:
        raise HyperparameterError(f"unscale * clip is {unscale!r} * {clip!r}, which rounds to 0")
    return unscale * clip


def number(name: str, value: float) -> float:
    """`value` as a float; `HyperparameterError` unless it is a real number that does not round to 0.

    NumPy scalars become the float that they equal: what is computed from them is in double precision.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise HyperparameterError(f"{name} is {value!r} ({type(value).__name__}); expected a number")
    try:
        exact = float(value)
    except OverflowError:
        raise HyperparameterError(f"{name} is too large for a float; expected a finite number") from None
    if abs(exact) < 1:
        float32(name, exact)  # refuses what rounds to 0
    return value if isinstance(value, int) else exact


def finite(name: str, value: float) -> None:
    """Raise `HyperparameterError` for NaN and infinity."""
    if not isfinite(value):
        raise HyperparameterError(f"{name} is {value!r}; expected a finite number")


def at_least_zero(name: str, value: float) -> None:
    """Raise `HyperparameterError` unless `value` is finite and not negative."""
    if not 0 <= value or isinf(value):
        raise HyperparameterError(f"{name} is {value!r}; expected a finite number, 0 or more")


def positive(name: str, value: float) -> None:
    """Raise `HyperparameterError` unless `value` is finite and above zero."""
    if not 0 < value or isinf(value):
        raise HyperparameterError(f"{name} is {value!r}; expected a finite number above 0")


def below_one(name: str, value: float) -> None:
    """Raise `HyperparameterError` unless `value` is from 0 to below 1."""
    if not 0 <= value < 1:
        raise HyperparameterError(f"{name} is {value!r}; expected 0 or more, below 1")
