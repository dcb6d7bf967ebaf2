"""An update of optimizer state in flight: the commands of each group, and their results."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import BufferFull, ForeignGeneration
from flashtrain.host.queues.command_errors import CommandError
from flashtrain.host.queues.pending import Pending
from flashtrain.numerics import Statistics

from .state_stream import StateStream, TileStep
from .tensor_group import PlacedGroup, ZonePart
from .tiling import Pages, split_tensors

GroupStatistics = tuple[Statistics, ...]
"""The statistics of each die for a group of tensors."""

GroupCopies = list[NDArray[Any]] | None
"""The 16-bit copies of the new weights of a group of tensors, if it has any."""


class GroupUpdate:
    """The commands that update one group of tensors: constants, tiles, statistics.

    The dies read tiles from `source`, and append the updated ones to `destination`, whose zones have
    `zone_rows` rows each; `gradients` has the group's pages.
    """

    def __init__(
        self, destination: StateStream, source: StateStream, placed: PlacedGroup, step: TileStep,
        gradients: Pages, zone_rows: int,
    ) -> None:  # fmt: skip
        self._destination = destination
        self._placed = placed
        self._copies = np.empty_like(gradients) if step.tile.copy_pages else None
        self._parts = list(placed.zone_parts(zone_rows))
        self._constants = destination.set_constants_async(step)
        self._tiles = [self._update(source, part, gradients) for part in self._parts]
        self._statistics = destination.statistics_async()

    @property
    def pendings(self) -> tuple[Pending[Any], ...]:
        return (self._constants, *self._tiles, self._statistics)

    def result(self) -> tuple[GroupCopies, GroupStatistics]:
        """Wait for all commands; raises the first failure, or `ForeignGeneration` for a used destination."""
        self._constants.result()
        destination, layout = self._destination, self._placed.layout
        for part, tiles in zip(self._parts, self._tiles, strict=True):
            if tiles.result() != part.zone * destination.zone_size + part.offset * destination.row_blocks:
                raise ForeignGeneration(f"stream {destination.name!r} has another user: it was not empty")
        statistics = self._statistics.result()
        if self._copies is None:
            return None, statistics
        vector = layout.copies(self._copies[:, : layout.tile.copy_pages])
        return split_tensors(vector, self._placed.group.shapes), statistics

    def _update(self, source: StateStream, part: ZonePart, gradients: Pages) -> Pending[int]:
        some = slice(part.rows.start, part.rows.stop)
        copies = None if self._copies is None else self._copies[some]
        return self._destination.update_async(
            source, part.zone, gradients[some], copies, self._placed.layout.tile.copy_pages
        )


class Attempt:
    """An attempt at an update of all groups, each with its place, step and pages of gradients.

    The constructor submits the commands. If that raises an exception, the destination is reset.
    """

    def __init__(
        self, destination: StateStream, source: StateStream,
        groups: Iterable[tuple[PlacedGroup, TileStep, Pages]], zone_rows: int,
    ) -> None:  # fmt: skip
        self.destination = destination
        self._groups: list[GroupUpdate] = []
        try:
            for placed, step, gradients in groups:
                # The statistics of one group are fetched before the next one resets them.
                destination.settle(self.pendings)
                self._groups.append(GroupUpdate(destination, source, placed, step, gradients, zone_rows))
        except (CommandError, BufferFull):
            destination.reset()
            raise

    @property
    def pendings(self) -> list[Pending[Any]]:
        return [pending for group in self._groups for pending in group.pendings]

    def results(self) -> list[tuple[GroupCopies, GroupStatistics]]:
        """Wait for all groups before the first failure is raised, so that nothing stays in flight."""
        self.destination.settle(self.pendings)
        return [group.result() for group in self._groups]


class StateUpdate:
    """The result of :meth:`OptimizerState.update_async`: a wait, and the copies of each group."""

    def __init__(self, pendings: Sequence[Pending[Any]], finish: Callable[[], list[GroupCopies]]) -> None:
        self._pendings = pendings
        self._finish = finish
        self._copies: list[GroupCopies] | None = None

    @property
    def done(self) -> bool:
        """Whether the dies have finished, without a wait."""
        return all(pending.done for pending in self._pendings)

    def result(self) -> list[GroupCopies]:
        """Wait for the dies; raises the errors of :meth:`OptimizerState.update`."""
        if self._copies is None:
            self._copies = self._finish()
        return self._copies
