"""The steps of parameter groups: the commands that take them, and what each command is sent."""

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
from flashtrain.training.arrays import FloatArray
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
    formats: of what the command is sent, and of the copies that it returns.
    takes_gradients: whether the command is sent the gradients, so that its statistics are those of the step.
    """

    code: OptimizerCode
    arrays: tuple[Input, ...]
    formats: Formats
    takes_gradients: bool = True


class StateNames(NamedTuple):
    """PyTorch's names of the arrays of state of a group, and whether the state of a parameter has `step`."""

    arrays: Mapping[Input, str]
    counted: bool


class Command(NamedTuple):
    """Data for the dies about a region of a cell: a tensor for each parameter, and constants."""

    tensors: Tensors
    constants: Constants


@dataclass(frozen=True)
class CellStep:
    """A step of a cell.

    Members
    -------
    parameters: those of the cell, on this rank.
    gradients: of the parameters, as they are sent.
    read: gives an array of the cell from the current generation on the dies.
    number: of the step, from 1.
    unscale, clip: factors of the gradients.
    """

    parameters: Sequence[Tensor]
    gradients: Tensors
    read: Callable[[Input], list[FloatArray]]
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

    @abstractmethod
    def commands(self, step: CellStep) -> list[Command]:
        """The command of each region for a step of a cell."""


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

    def commands(self, step: CellStep) -> list[Command]:
        constants = self.optimizer.constants(step.number, step.unscale, step.clip)
        return [Command(step.gradients, constants)]


def held(region: TensorGroup) -> Command:
    """The command that leaves a region as it is."""
    dtype = GRADIENT_DTYPES[region.gradient_format]
    return Command([np.zeros(shape, dtype) for shape in region.shapes], hold(len(region.arrays)))


def used(code: OptimizerCode) -> tuple[Input, ...]:
    """The arrays that this program uses."""
    return ARRAYS[: len(PROGRAMS[code].outputs)]


def arrays_of(regions: Iterable[tuple[Input, ...]]) -> tuple[Input, ...]:
    """The arrays of all regions in the order of a tile."""
    held = {array for arrays in regions for array in arrays}
    return tuple(array for array in ARRAYS if array in held)
