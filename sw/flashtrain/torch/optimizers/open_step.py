"""A step on the dies that takes gradients while the backward pass goes on."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from torch import Tensor

from flashtrain.host import OptimizerState, StateUpdate
from flashtrain.numerics import Constants
from flashtrain.spec.optimizer import Input
from flashtrain.torch.ranks.shards import is_placed_like, shard_like
from flashtrain.training.arrays import Array, FloatArray

from .cell import Cell
from .formats import gradient_of
from .group_step import CellStep, GroupStep, held
from .parameter_check import check_gradient


class CellUpdate:
    """A step of one cell, by commands about its regions.

    number: of the first region among the groups of the state; own: the step of its parameter group, or None
    for a cell that is held; read: gives an array of a parameter, by its number, from the current generation.
    """

    def __init__(
        self,
        cell: Cell,
        numbers: range,
        own: GroupStep | None,
        negated: bool,
        unscale: float,
        clip: float,
        state: OptimizerState,
        read: Callable[[Input, int], FloatArray],
    ) -> None:
        self.cell = cell
        self.numbers = numbers
        self._own = own
        self._negated = negated
        self._step = CellStep(cell.parameters, cell.steps + 1, unscale, clip)
        self._held = [held(state.groups[one]) for one in numbers] if own is None else []
        self._read = read

    @property
    def is_held(self) -> bool:
        return self._own is None

    @property
    def constants(self) -> list[Constants]:
        """The constants of each region."""
        return [one for _, one in self._held] if self._own is None else self._own.constants(self._step)

    def sent(self, gradient: Tensor) -> Array:
        """A gradient as it is sent."""
        return gradient_of(gradient, self.cell.formats.gradient, self._negated)

    def tensors(self, index: int, gradient: Tensor | None) -> list[Array]:
        """The tensors that the regions are sent for parameter `index`; gradient: None if the cell is held."""
        if self._own is None or gradient is None:
            return [tensors[index] for tensors, _ in self._held]
        parameter = self.cell.parameters[index]
        read = partial(self._read_one, index)
        return self._own.tensors(self._step, parameter, self.sent(gradient), read)

    def _read_one(self, index: int, array: Input) -> FloatArray:
        return self._read(array, index)


class OpenStep:
    """A step of some cells under way: it is given gradients one by one.

    The dies compute the next generation as they come. The step that is asked for in the end may be another
    one. So :meth:`difference` compares, and :meth:`drop` ends a step that is not to be.
    """

    def __init__(self, state: OptimizerState, updates: Sequence[CellUpdate]) -> None:
        self._updates = updates
        self._places = {
            parameter: (one, index)
            for one in updates
            if not one.is_held
            for index, parameter in enumerate(one.cell.parameters)
        }
        self._constants = [one.constants for one in updates]
        self._given: set[Tensor] = set()
        self._update: StateUpdate = state.begin([c for constants in self._constants for c in constants])
        for one in updates:
            if one.is_held:
                for index in range(len(one.cell.parameters)):
                    self._send(one, index, None)

    def has(self, parameter: Tensor) -> bool:
        """Whether the gradient of the parameter was given."""
        return parameter in self._given

    def give(self, parameter: Tensor, gradient: Tensor) -> None:
        """Give the gradient of a parameter; `KeyError` for one that is not in the step.

        One with other placements is left to :meth:`complete`, because all ranks redistribute it together.
        """
        if not is_placed_like(parameter, gradient):
            return
        one, index = self._places[parameter]
        part = shard_like(parameter, gradient, "a gradient")
        check_gradient("a parameter", part)
        self._given.add(parameter)
        self._send(one, index, part)

    def difference(self, updates: Sequence[CellUpdate], gradients: Mapping[Tensor, Tensor]) -> str | None:
        """The reason why a step of these cells and gradients is another one; None if it is the same."""
        if gradients.keys() != self._places.keys():
            return "other parameters had gradients"
        words = [[c.words for c in one.constants] for one in updates]
        if words != [[c.words for c in constants] for constants in self._constants]:
            return "hyperparameters or the loss scale were changed after backward()"
        for parameter in self._given:
            one, index = self._places[parameter]
            if not _same_bits(one.sent(gradients[parameter]), self._update.given(one.numbers[0], index)):
                return "gradients were changed after backward()"
        return None

    def complete(self, gradients: Mapping[Tensor, Tensor]) -> StateUpdate:
        """Give the gradients that are left, and return the update."""
        for parameter in gradients:
            if parameter not in self._given:
                one, index = self._places[parameter]
                self._send(one, index, gradients[parameter])
        return self._update

    def drop(self) -> None:
        """End the step. Weights and state are as before it."""
        self._update.drop()

    def _send(self, one: CellUpdate, index: int, gradient: Tensor | None) -> None:
        for group, tensor in zip(one.numbers, one.tensors(index, gradient), strict=True):
            self._update.give(group, index, tensor)


def _same_bits(one: Array, other: Array) -> bool:
    words = f"u{one.itemsize}"
    return np.array_equal(one.reshape(-1).view(words), other.view(words))
