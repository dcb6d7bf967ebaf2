"""Cells: parameters of a group that take all their steps together, so the same constants hold for them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from torch import Tensor

from flashtrain.host import TensorGroup
from flashtrain.torch.ranks.shards import shard

from .formats import Formats
from .group_step import Region

K = TypeVar("K")


class Kind(NamedTuple):
    """Properties that all parameters of a cell share.

    - formats: of gradients, of copies, and on the dies.
    - counts: whether the gradients count on this rank.
    - rate_factor: the factor of the learning rate that is the parameter's own.
    """

    formats: Formats
    counts: bool = True
    rate_factor: float = 1.0


KindOf = Callable[[Tensor], Kind]


@dataclass(frozen=True, eq=False)
class Cell:
    """Parameters of one group with the same kind and the same number of steps.

    Of distributed parameters the dies hold the shards of this rank. New cells have their parameters in the
    reverse order of the group, in which a backward pass mostly gives their gradients.

    Members
    -------
    group: the number of the parameter group.
    parameters: in the order of their places on the dies.
    formats: of gradients, of copies, and on the dies.
    steps: steps that its parameters have taken.
    """

    group: int
    parameters: tuple[Tensor, ...]
    formats: Formats
    steps: int = 0

    def tensors(self, regions: Sequence[Region]) -> tuple[TensorGroup, ...]:
        """The cell on the dies: a group of tensors for each region."""
        shapes = tuple(tuple(shard(parameter).shape) for parameter in self.parameters)
        return tuple(
            TensorGroup(
                one.code,
                shapes,
                one.formats.gradient,
                one.formats.sent,
                one.arrays,
                one.formats.storage.formats_of(one.arrays),
                one.formats.storage.rounding,
                one.formats.storage.seed,
            )
            for one in regions
        )


def made(groups: Sequence[Iterable[Tensor]], steps: Callable[[Tensor], int], kind_of: KindOf) -> list[Cell]:
    """The fewest cells of these parameters."""
    return [
        Cell(number, tuple(members), kind.formats, taken)
        for number, group in enumerate(groups)
        for (kind, taken), members in _by(reversed(list(group)), lambda p: (kind_of(p), steps(p)))
    ]


def groups_of(groups: Sequence[Iterable[Tensor]]) -> dict[Tensor, int]:
    """The number of the group of each parameter."""
    return {parameter: number for number, group in enumerate(groups) for parameter in group}


def refined(
    cells: Iterable[Cell],
    groups: Sequence[Iterable[Tensor]],
    stepping: Collection[Tensor],
    kind_of: KindOf,
) -> list[Cell]:
    """The cells, and cells of parameters that are in none yet, such that each steps as a whole or not at all.

    stepping: the parameters that take the next step. Others that never took one are left out, because they
    have no state. So are parameters that are in no group any more.
    """
    number_of = groups_of(groups)
    fine = []
    for cell in cells:
        parts = _by(cell.parameters, lambda p: (number_of.get(p), p in stepping, kind_of(p)))
        for (number, steps_now, kind), members in parts:
            if number is not None and (steps_now or cell.steps):
                fine.append(replace(cell, group=number, parameters=tuple(members), formats=kind.formats))
    placed = {parameter for cell in fine for parameter in cell.parameters}
    new = [[p for p in group if p in stepping and p not in placed] for group in groups]
    return sorted([*fine, *made(new, lambda _: 0, kind_of)], key=lambda cell: cell.group)


def in_order_of_arrival(cells: Iterable[Cell], arrivals: Mapping[Tensor, int]) -> list[Cell]:
    """The cells in the order in which the dies can take most gradients early, if those arrive so.

    A cell is complete before the next one begins. So each place gets the cell that the others wait least
    for, counted by parameters and time.

    arrivals: the places of gradients in time, from 0.
    """
    left, ordered, now = list(cells), list[Cell](), 0
    while left:
        ends = {one: max(now, *(arrivals.get(p, 0) for p in one.parameters)) for one in left}

        def waits(first: Cell, now: int = now, ends: dict[Cell, int] = ends) -> int:
            return sum(
                max(0, ends[first] - max(now, arrivals.get(p, 0))) * p.numel()
                for one in left
                if one is not first
                for p in one.parameters
            )

        ordered.append(min(left, key=waits))
        left.remove(ordered[-1])
        now = ends[ordered[-1]]
    return ordered


def _by(parameters: Iterable[Tensor], key: Callable[[Tensor], K]) -> Iterator[tuple[K, list[Tensor]]]:
    """The parameters by key, keys in the order in which they occur."""
    found: dict[K, list[Tensor]] = {}
    for parameter in parameters:
        found.setdefault(key(parameter), []).append(parameter)
    yield from found.items()
