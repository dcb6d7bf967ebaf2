"""The steps of parameter groups: the constants of their commands, and what each command is sent."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import Tensor

from flashtrain.host import TensorGroup
from flashtrain.host.state.tensor_group import ARRAYS, Tensors
from flashtrain.host.state.tiling import GRADIENT_DTYPES
from flashtrain.numerics import Constants
from flashtrain.spec.optimizer import PROGRAMS, Input, OptimizerCode
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.optimizers.hold import hold

from .formats import Formats


@dataclass(frozen=True)
class Region:
    """Arrays of a cell that one command of each step reads and programs, and no other command.

    Members
    -------
    code: a program with as many arrays.
    arrays: in the order of a tile.
    formats: of what the command is sent, of the copies that it returns, and of what it programs.
    takes_gradients: whether the command is sent the gradients, so that its statistics are those of the step.
    """

    code: OptimizerCode
    arrays: tuple[Input, ...]
    formats: Formats
    takes_gradients: bool = True


class StateNames(NamedTuple):
    """PyTorch's names of the state of a group.

    - arrays: by the arrays on the dies.
    - counted: whether the state of a parameter has `step`.
    - whole: whether the state of a parameter has all arrays, or none.
    """

    arrays: Mapping[Input, str]
    counted: bool
    whole: bool = False


@dataclass(frozen=True)
class CellStep:
    """A step of a cell.

    Members
    -------
    parameters: those of the cell, on this rank.
    number: of the step, from 1.
    unscale, clip: factors of the gradients.
    """

    parameters: Sequence[Tensor]
    number: int
    unscale: float
    clip: float


class GroupStep(ABC):
    """The step of a parameter group by its present hyperparameters."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the optimizer, for messages."""

    @property
    @abstractmethod
    def layout(self) -> tuple[tuple[Input, ...], ...]:
        """The arrays of each region, in the order of a tile."""

    @property
    def arrays(self) -> tuple[Input, ...]:
        """The arrays of all regions."""
        return arrays_of(self.layout)

    @abstractmethod
    def regions(self, formats: Formats) -> tuple[Region, ...]:
        """The regions of a cell with these formats."""

    def rate_factor(self, parameter: Tensor) -> float:
        """The factor of the learning rate that is the parameter's own; the same for all of a cell."""
        return 1.0

    def initial(self, array: Input, weights: FloatArray) -> FloatArray:
        """An array of state of a parameter before its first step, with these weights: zeros."""
        return np.zeros_like(weights)

    @abstractmethod
    def constants(self, step: CellStep) -> list[Constants]:
        """The constants of each region for a step of a cell."""

    @abstractmethod
    def tensors(
        self, step: CellStep, parameter: Tensor, gradient: Array, read: Callable[[Input], FloatArray]
    ) -> list[Array]:
        """The tensors that the regions are sent for a parameter of the cell.

        gradient: as it is sent; read: gives an array of the parameter from the current generation.
        """


@dataclass(frozen=True)
class WholeStep(GroupStep):
    """The step of an optimizer that keeps all arrays of a parameter in one region."""

    optimizer: Optimizer

    @property
    def name(self) -> str:
        return self.optimizer.name

    @property
    def layout(self) -> tuple[tuple[Input, ...], ...]:
        return (used(self.optimizer.code),)

    def regions(self, formats: Formats) -> tuple[Region, ...]:
        return (Region(self.optimizer.code, used(self.optimizer.code), formats),)

    def constants(self, step: CellStep) -> list[Constants]:
        return [self.optimizer.constants(step.number, step.unscale, step.clip)]

    def tensors(
        self, step: CellStep, parameter: Tensor, gradient: Array, read: Callable[[Input], FloatArray]
    ) -> list[Array]:
        return [gradient]


def held(region: TensorGroup) -> tuple[Tensors, Constants]:
    """The tensors and constants that leave a region as it is."""
    dtype = GRADIENT_DTYPES[region.gradient_format]
    return [np.zeros(shape, dtype) for shape in region.shapes], hold(len(region.arrays))


def used(code: OptimizerCode) -> tuple[Input, ...]:
    """The arrays that this program uses."""
    return ARRAYS[: len(PROGRAMS[code].outputs)]


def arrays_of(regions: Iterable[tuple[Input, ...]]) -> tuple[Input, ...]:
    """The arrays of all regions in the order of a tile."""
    held = {array for arrays in regions for array in arrays}
    return tuple(array for array in ARRAYS if array in held)
