"""An update of optimizer state in flight: its gradients, the commands of each group, and their results."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import BufferFull, ForeignGeneration, NothingToCommit, TensorMismatch, UpdateError
from flashtrain.host.queues.command_errors import CommandError
from flashtrain.host.queues.pending import Pending
from flashtrain.numerics import Statistics

from .group_gradients import GroupGradients
from .state_stream import GenerationPlace
from .tensor_group import ZonePart
from .tiling import split_tensors

GroupStatistics = tuple[Statistics, ...]
"""The statistics of each die for a group of tensors."""

GroupCopies = list[NDArray[Any]] | None
"""The 16-bit copies of the new weights of a group of tensors, if it has any."""


class ConstantsReplaced(UpdateError):
    """Another update has sent its constants to the dies before this one had sent all its gradients."""


class GroupUpdate:
    """The commands that update one group of tensors: constants, tiles, statistics.

    The dies read tiles from `source`, and append the updated ones at `destination`, in streams whose zones
    have `zone_rows` rows each. The constructor sends the constants; :meth:`advance` sends the rest as the
    gradients come.
    """

    def __init__(
        self,
        destination: GenerationPlace,
        source: GenerationPlace,
        gradients: GroupGradients,
        zone_rows: int,
    ) -> None:
        layout, g = gradients.placed.layout, gradients.placed.layout.tile.geometry
        self._destination = stream = destination.stream
        self._first_row = destination.row
        self._source = source
        self._gradients = gradients
        self._zone_rows = zone_rows
        shape = (layout.rows, layout.tile.gradient_pages, g.channels, g.page_bytes)
        self._copies = np.empty(shape, np.uint8) if layout.tile.copy_pages else None
        self._sent = 0
        self._parts: list[tuple[ZonePart, Pending[int]]] = []
        self._statistics: Pending[GroupStatistics] | None = None
        with stream.alone():
            self._constants = stream.set_constants_async(gradients.step, destination.page)
            self._constants_sent = stream.constants_sent

    @property
    def pendings(self) -> list[Pending[Any]]:
        last = [] if self._statistics is None else [self._statistics]
        return [self._constants, *(tiles for _, tiles in self._parts), *last]

    @property
    def is_sent(self) -> bool:
        """Whether all its commands are sent."""
        return self._statistics is not None

    @property
    def is_replaced(self) -> bool:
        """Whether another update has replaced the constants."""
        return self._destination.constants_sent != self._constants_sent

    def advance(self) -> None:
        """Send the rows whose gradients have come, and ask for the statistics behind the last one."""
        layout = self._gradients.placed.layout
        with self._destination.alone():
            if self.is_sent or self.is_replaced:
                return
            ready = self._gradients.ready_rows
            for part in self._gradients.placed.zone_parts(range(self._sent, ready), self._zone_rows):
                some = slice(part.rows.start, part.rows.stop)
                tiles = self._destination.update_async(
                    self._source.stream, part.zone, self._source.row + part.offset,
                    self._gradients.pages(part.rows),
                    None if self._copies is None else self._copies[some], layout.tile.copy_pages,
                )  # fmt: skip
                self._parts.append((part, tiles))
                self._sent = part.rows.stop
            if self._sent == layout.rows:
                self._statistics = self._destination.statistics_async()

    def result(self) -> tuple[GroupCopies, GroupStatistics]:
        """Wait for all commands; raises the first failure, or `ForeignGeneration` for a used destination."""
        assert self._statistics is not None
        self._constants.result()
        destination, layout = self._destination, self._gradients.placed.layout
        for part, tiles in self._parts:
            first = (self._first_row + part.offset) * destination.row_blocks
            if tiles.result() != part.zone * destination.zone_size + first:
                raise ForeignGeneration(f"stream {destination.name!r} has another user, who appended to it")
        statistics = self._statistics.result()
        if self._copies is None:
            return None, statistics
        vector = layout.copies(self._copies[:, : layout.tile.copy_pages])
        return split_tensors(vector, self._gradients.placed.group.shapes), statistics


class Attempt:
    """An attempt at an update of all groups, in their order."""

    def __init__(
        self,
        destination: GenerationPlace,
        source: GenerationPlace,
        groups: Sequence[GroupGradients],
        zone_rows: int,
    ) -> None:
        self.destination = destination
        self._source = source
        self._zone_rows = zone_rows
        self._waiting = deque(groups)
        self._groups: list[GroupUpdate] = []

    @property
    def pendings(self) -> list[Pending[Any]]:
        return [pending for group in self._groups for pending in group.pendings]

    @property
    def is_sent(self) -> bool:
        """Whether all commands are sent."""
        return not self._waiting and self._groups[-1].is_sent

    def advance(self, wait: bool) -> None:
        """Send what the gradients allow.

        The constants of a group wait for the statistics of the one before. wait: the call waits for that;
        otherwise the group begins with a later call.
        """
        while not self._groups or self._groups[-1].is_sent:
            if not self._waiting or not (wait or all(pending.done for pending in self.pendings)):
                return
            gradients = self._waiting.popleft()
            self._groups.append(GroupUpdate(self.destination, self._source, gradients, self._zone_rows))
            self._groups[-1].advance()
        self._groups[-1].advance()
        if self._groups[-1].is_sent:
            self.advance(wait)

    def results(self) -> list[tuple[GroupCopies, GroupStatistics]]:
        """Wait for all groups before the first failure is raised, so that nothing stays in flight.

        :class:`ConstantsReplaced` if a group was not sent as a whole.
        """
        self.advance(wait=True)
        self.destination.stream.settle(self.pendings)
        if not self.is_sent:
            raise ConstantsReplaced("another update has replaced the constants of this one")
        return [group.result() for group in self._groups]


class StateUpdate:
    """An update under way: gradients go in, one by one and in any order; the copies of each group come out.

    The dies begin with the first rows of tiles all of whose gradients are there, and go on in the order of
    the rows. So most of the update is done when the last gradient comes, if gradients come nearly in the
    order of groups and tensors. :meth:`OptimizerState.begin` makes it.
    """

    def __init__(
        self,
        groups: Sequence[GroupGradients],
        attempt: Attempt,
        finish: Callable[[], list[GroupCopies]],
        drop: Callable[[], None],
    ) -> None:
        self._groups = groups
        self._attempt = attempt
        self._finish = finish
        self._drop = drop
        self._copies: list[GroupCopies] | None = None
        self._is_under_way = True

    def given(self, group: int, tensor: int) -> NDArray[Any]:
        """The gradient of a tensor as it was given, flat."""
        return self._groups[group].own(tensor)

    def give(self, group: int, tensor: int, gradient: NDArray[Any]) -> None:
        """Give the gradient of a tensor of a group, in the group's format; waits for room in the buffer only.

        :class:`TensorMismatch` if it is not that of the tensor, or was given before. After any other error
        the update is dropped.
        """
        if not self._is_under_way:
            raise NothingToCommit("a gradient for an update that has ended")
        self._groups[group].give(tensor, gradient)
        self.advance(wait=False)

    def advance(self, wait: bool) -> None:
        """Send what the gradients allow; see :meth:`Attempt.advance`."""
        try:
            self._attempt.advance(wait)
        except (CommandError, BufferFull):
            self.drop()
            raise

    @property
    def sent(self) -> Sequence[Pending[Any]]:
        """The commands that were sent so far."""
        return self._attempt.pendings

    @property
    def done(self) -> bool:
        """Whether the dies have finished, without a wait."""
        if self._is_under_way:
            self.advance(wait=False)
        return self._attempt.is_sent and all(pending.done for pending in self._attempt.pendings)

    def result(self) -> list[GroupCopies]:
        """Wait for the dies; raises the errors of :meth:`OptimizerState.update`.

        :class:`TensorMismatch` while gradients are missing; the update then goes on.
        """
        if self._copies is None:
            missing = [
                f"tensor {tensor} of group {group.placed.number}"
                for group in self._groups
                for tensor in group.missing
            ]
            if missing:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                raise TensorMismatch(f"no gradient of {missing[0]}{more}; expected all before the result")
            if not self._is_under_way:
                raise NothingToCommit("the result of an update that was dropped")
            self._is_under_way = False
            self._copies = self._finish()
        return self._copies

    def drop(self) -> None:
        """End an update without its result. The current generation is as it was."""
        if self._is_under_way:
            self._is_under_way = False
            self._drop()
