"""Gradients of one group of tensors, which come one by one."""

from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import TensorMismatch

from .state_stream import TileStep
from .tensor_group import PlacedGroup
from .tiling import GRADIENT_DTYPES, Pages, require_tensor


class GroupGradients:
    """The gradients of a group, given in any order, as rows of tiles for a step on the dies.

    Members
    -------
    placed: the group.
    step: the step that they are for.
    """

    def __init__(self, placed: PlacedGroup, step: TileStep) -> None:
        self.placed = placed
        self.step = step
        self._dtype = GRADIENT_DTYPES[placed.group.gradient_format]
        layout, shapes = placed.layout, placed.group.shapes
        self._vector = np.zeros(layout.rows * layout.row_parameters, self._dtype)
        self._ends = list(accumulate(prod(shape) for shape in shapes))
        self._given = [False] * len(shapes)
        self._first_missing = 0

    @property
    def missing(self) -> list[int]:
        """The numbers of the tensors whose gradients are not there yet."""
        return [number for number, given in enumerate(self._given) if not given]

    @property
    def ready_rows(self) -> int:
        """The number of rows, from the first on, all of whose gradients are there."""
        if self._first_missing == len(self._given):
            return self.placed.layout.rows
        before = self._ends[self._first_missing - 1] if self._first_missing else 0
        return before // self.placed.layout.row_parameters

    def check(self, tensor: int, gradient: NDArray[Any]) -> None:
        """:class:`TensorMismatch` unless this can be the gradient of tensor `tensor`, which has none yet."""
        name, shapes = f"gradients of group {self.placed.number}", self.placed.group.shapes
        if not 0 <= tensor < len(shapes):
            raise TensorMismatch(f"tensor {tensor} of {name}; expected a number below {len(shapes)}")
        require_tensor(f"tensor {tensor} of {name}", gradient, shapes[tensor], self._dtype)
        if self._given[tensor]:
            raise TensorMismatch(f"tensor {tensor} of {name} was given before; expected each once")

    def give(self, tensor: int, gradient: NDArray[Any]) -> None:
        """Take the gradient of a tensor, as :meth:`check` has it; a copy is kept."""
        self.check(tensor, gradient)
        self.own(tensor)[:] = gradient.reshape(-1)
        self._given[tensor] = True
        while self._first_missing < len(self._given) and self._given[self._first_missing]:
            self._first_missing += 1

    def own(self, tensor: int) -> NDArray[Any]:
        """The gradient of a tensor as it was given, flat."""
        end = self._ends[tensor]
        return self._vector[end - prod(self.placed.group.shapes[tensor]) : end]

    def pages(self, rows: range) -> Pages:
        """The pages of gradients of these rows."""
        return self.placed.layout.gradient_rows(self._vector, rows)
