"""Schedules of the learning rate: a factor for each iteration."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import cos, isfinite, pi

from flashtrain.numerics import HyperparameterError


class Schedule(ABC):
    """The factor of the learning rate as a function of the iteration alone. A run that was cut thus goes on
    with the same factors.
    """

    @abstractmethod
    def factor(self, iteration: int) -> float:
        """In iteration `iteration`, from 0."""


@dataclass(frozen=True)
class Constant(Schedule):
    """Always 1."""

    def factor(self, iteration: int) -> float:
        return 1.0


@dataclass(frozen=True)
class Step(Schedule):
    """Times `gamma` every `every` iterations, as `torch.optim.lr_scheduler.StepLR`."""

    every: int
    gamma: float = 0.1

    def __post_init__(self) -> None:
        _at_least_one("every", self.every)
        if not self.gamma > 0 or not isfinite(self.gamma):
            raise HyperparameterError(f"gamma is {self.gamma!r}; expected a finite number above 0")

    def factor(self, iteration: int) -> float:
        return self.gamma ** (iteration // self.every)


@dataclass(frozen=True)
class Linear(Schedule):
    """A line from 1 to 0 over `iterations`."""

    iterations: int

    def __post_init__(self) -> None:
        _at_least_one("iterations", self.iterations)

    def factor(self, iteration: int) -> float:
        return max(0.0, 1 - iteration / self.iterations)


@dataclass(frozen=True)
class Cosine(Schedule):
    """Half a cosine from 1 to 0 over `iterations` (Loshchilov and Hutter, 2017, without restarts)."""

    iterations: int

    def __post_init__(self) -> None:
        _at_least_one("iterations", self.iterations)

    def factor(self, iteration: int) -> float:
        return (1 + cos(pi * min(1.0, iteration / self.iterations))) / 2


@dataclass(frozen=True)
class WarmUp(Schedule):
    """A line up to 1 over `iterations`, then the other schedule."""

    iterations: int
    then: Schedule = Constant()

    def __post_init__(self) -> None:
        _at_least_one("iterations", self.iterations)

    def factor(self, iteration: int) -> float:
        if iteration < self.iterations:
            return (iteration + 1) / self.iterations
        return self.then.factor(iteration - self.iterations)


def _at_least_one(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise HyperparameterError(f"{name} is {value!r}; expected an integer, 1 or more")
