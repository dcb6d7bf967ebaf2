"""Groups of tensors with the same constants, and their places in the rows of tiles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import TensorMismatch
from flashtrain.host.memory.arrays import nbytes_of
from flashtrain.host.streams.stored import StoredArray
from flashtrain.numerics import Constants
from flashtrain.numerics.state_format import NEAREST, StepRounding, step_key
from flashtrain.spec import Geometry
from flashtrain.spec.errors import require, require_range
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.state_format import PLAIN, Rounding, StateFormats
from flashtrain.spec.update import Tile

from .state_stream import TileStep
from .tiling import Pages, Shape, TileLayout, join_tensors

Tensors = Sequence[NDArray[Any]]

ARRAYS = (Input.W, Input.M, Input.V)
"""The arrays of a tile, in this order."""


@dataclass(frozen=True)
class TensorGroup:
    """Tensors that are updated with the same constants.

    - code: an optimizer with the state that they need, such as that of the first step.
    - shapes: the shapes of the tensors.
    - gradient_format: the format of the gradients.
    - copy_format: the format of the copies of the new weights.
    - holds: the arrays that take the places of w, m and v in its tiles, by default w, m and v themselves. So
      an optimizer can keep arrays apart, each with updates that program nothing else.
    - formats: the formats of the arrays in the places of w, and of m and v.
    - rounding: of results into formats of 16 or 8 bits.
    - seed: of stochastic rounding, up to 64 bits.
    """

    code: OptimizerCode
    shapes: tuple[Shape, ...]
    gradient_format: GradientFormat = GradientFormat.FP32
    copy_format: CopyFormat = CopyFormat.NONE
    holds: tuple[Input, ...] | None = None
    formats: StateFormats = PLAIN
    rounding: Rounding = Rounding.NEAREST
    seed: int = 0

    def __post_init__(self) -> None:
        require_range("group.seed", self.seed, 0, (1 << 64) - 1)
        require(len(self.shapes) > 0, "group.shapes", self.shapes, "at least one tensor")
        for shape in self.shapes:
            nbytes_of(shape, np.dtype(np.float32))
        count = len(PROGRAMS[self.code].outputs)
        require(len(self.arrays) == count, "group.holds", self.holds, f"{count} arrays of {self.code.name}")

    @property
    def arrays(self) -> tuple[Input, ...]:
        """The arrays of a parameter: what it `holds`, or W, and M and V as far as the optimizer has them."""
        return ARRAYS[: len(PROGRAMS[self.code].outputs)] if self.holds is None else self.holds

    def layout(self, geometry: Geometry) -> TileLayout:
        tile = Tile.of(geometry, self.code, self.gradient_format, self.copy_format, self.formats)
        return TileLayout(tile, sum(prod(shape) for shape in self.shapes))


class ZonePart(NamedTuple):
    """Rows of a group, counted from its first, that lie in one zone from the zone's row `offset` on."""

    rows: range
    zone: int
    offset: int


@dataclass(frozen=True)
class PlacedTensor:
    """One tensor of a group.

    - layout, first_row: the layout of the rows that it lies in, and the first of these rows.
    - first: the number of its first parameter in these rows.
    """

    layout: TileLayout
    first_row: int
    first: int
    shape: Shape


@dataclass(frozen=True)
class StoredTensor:
    """The place of array `number` of a tensor's state, in `pages` of `stream`."""

    stream: str
    pages: StoredArray
    place: PlacedTensor
    number: int

    def array(self, pages: Pages) -> NDArray[np.float32]:
        """The array, from the pages that were read."""
        first, shape = self.place.first, self.place.shape
        return self.place.layout.state_array(self.number, pages)[first : first + prod(shape)].reshape(shape)


@dataclass(frozen=True)
class PlacedGroup:
    """A group, with its number among the groups of a state, and its first row from the stream's start."""

    number: int
    group: TensorGroup
    layout: TileLayout
    first_row: int

    def number_of(self, array: Input) -> int:
        """The number of one of its arrays in the tile."""
        return self.group.arrays.index(array)

    def state_pages(self, given: Mapping[Input, Sequence[Tensors] | None]) -> Pages:
        """Pages of state from the tensors of all groups; zeros for arrays that are not given."""
        vectors = []
        for array in self.group.arrays:
            tensors = given[array]
            if tensors is None:
                vectors.append(np.zeros(self.layout.parameters, np.float32))
            else:
                name = f"{array.name} of group {self.number}"
                vectors.append(join_tensors(name, tensors[self.number], self.group.shapes, "float32"))
        return self.layout.state_pages(vectors)

    def step(self, constants: Constants, update: int) -> TileStep:
        """The step of an update, counted from 1."""
        arrays, has = len(PROGRAMS[constants.code].outputs), self.layout.tile.arrays
        if arrays != has:
            raise TensorMismatch(
                f"{constants.code.name} has {arrays} arrays of state; group {self.number} has {has}"
            )
        rounding = NEAREST
        if self.group.rounding is Rounding.STOCHASTIC:
            rounding = StepRounding(Rounding.STOCHASTIC, step_key(self.group.seed, update, self.number))
        return TileStep(self.layout.tile, constants, rounding)

    def tensor(self, number: int) -> PlacedTensor:
        """Tensor `number` of the group."""
        before, shape = sum(prod(shape) for shape in self.group.shapes[:number]), self.group.shapes[number]
        tile = self.layout.tile
        each = tile.parameters * tile.geometry.channels
        skipped, end = before // each, before + prod(shape)
        rows = -(-end // each) - skipped
        return PlacedTensor(
            TileLayout(tile, rows * each), self.first_row + skipped, before - skipped * each, shape
        )

    def names(self, row: int, channel: int, plane: int) -> list[str]:
        """The names of the arrays and tensors on a page of its state, in its row `row`."""
        tile = self.layout.tile
        ends = np.cumsum([prod(shape) for shape in self.group.shapes]).tolist()
        found = []
        for number, array in enumerate(self.group.arrays):
            skipped = (row * tile.geometry.channels + channel) * tile.parameters
            spans = [
                (skipped + own.start, skipped + own.stop) for own in tile.numbers_on(number, plane) if own
            ]
            found += [
                f"{array.name} of tensor {tensor} of group {self.number}"
                for tensor, (start, end) in enumerate(pairwise([0, *ends]))
                if any(max(first, start) < min(last, end) for first, last in spans)
            ]
        return found or [f"the padding of group {self.number}"]

    def zone_parts(self, rows: range, zone_rows: int) -> Iterator[ZonePart]:
        """Some of its rows zone by zone; a zone has `zone_rows`."""
        row = rows.start
        while row < rows.stop:
            zone, offset = divmod(self.first_row + row, zone_rows)
            count = min(rows.stop - row, zone_rows - offset)
            yield ZonePart(range(row, row + count), zone, offset)
            row += count


def place(groups: Sequence[TensorGroup], geometry: Geometry) -> tuple[PlacedGroup, ...]:
    """The groups one after the other."""
    placed, row = [], 0
    for number, group in enumerate(groups):
        placed.append(PlacedGroup(number, group, group.layout(geometry), row))
        row += placed[-1].layout.rows
    return tuple(placed)


def rows_of(placed: Sequence[PlacedGroup]) -> int:
    """Rows of tiles of all groups."""
    return placed[-1].first_row + placed[-1].layout.rows


def in_whole_pages(placed: Sequence[PlacedGroup], geometry: Geometry) -> tuple[PlacedGroup, ...]:
    """The same groups, with padding behind the last one up to a tile on every die."""
    *others, last = placed
    padding = -rows_of(placed) % geometry.dies
    return (*others, replace(last, layout=replace(last.layout, padding=padding)))
