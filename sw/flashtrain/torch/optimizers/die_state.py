"""Parameters of PyTorch on the dies, in cells: stored, stepped, read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from flashtrain.host import (
    Device,
    Generation,
    GenerationPinned,
    JournalMissing,
    OptimizerState,
    StateMissing,
    TensorGroup,
)
from flashtrain.host.state.tensor_group import ARRAYS
from flashtrain.numerics import Constants, Totals, copy_of
from flashtrain.spec import FlashtrainError, Port
from flashtrain.spec.optimizer import Input
from flashtrain.torch.ranks.errors import RankLost
from flashtrain.torch.ranks.ranks import OneProcess, OwnStep
from flashtrain.torch.ranks.shards import shard
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.die_step import GradientReport, take_step
from flashtrain.training.errors import ParameterError
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.optimizers.hold import hold

from .cell import Cell, groups_of, used
from .formats import checksum, float32_of, gradient_of, set_weights

NoteOf = Callable[[Sequence[Cell], Sequence[TensorGroup], bool, bytes, int], bytes]
"""The note of cells, each with its tensors on the dies, after a step or before any, with the host's state, of
the generation of the ranks that is so many ahead."""

Values = Mapping[Input, Mapping[Tensor, FloatArray]]
"""Weights and state by parameter, as far as they are not those of the parameter, and zeros."""


class DieState:
    """Weights and optimizer state of cells of parameters on the dies of `device`.

    A step updates all cells in one generation. Cells without gradients are held: their numbers stay. The
    commit of a generation records `note_of` it, if the node has a journal.

    Members
    -------
    cells: in the order of their place on the dies.
    stores: how often the weights were stored from the host.
    streams: names of its streams.
    """

    def __init__(
        self, device: Device, streams: Iterable[str], port: Port, note_of: NoteOf, ranks: OneProcess
    ) -> None:
        self.cells: tuple[Cell, ...] = ()
        self.stores = 0
        self._device = device
        self.streams = tuple(streams)
        self._port = port
        self._note_of = note_of
        self._ranks = ranks
        self._host: bytes | None = None  # the host's state that the last step has recorded
        self._state: OptimizerState | None = None
        self._sums: dict[Tensor, int] = {}

    @property
    def updates(self) -> int:
        """Steps that were committed."""
        return 0 if self._state is None else self._state.current.updates

    @property
    def steps(self) -> dict[Tensor, int]:
        """The steps that each parameter on the dies has taken."""
        return {parameter: cell.steps for cell in self.cells for parameter in cell.parameters}

    @property
    def contents(self) -> list[tuple[Cell, tuple[Input, ...]]]:
        """Each cell, and the arrays that it has on the dies."""
        groups = () if self._state is None else self._state.groups
        return [(cell, group.arrays) for cell, group in zip(self.cells, groups, strict=True)]

    def changed(self) -> list[Tensor]:
        """Parameters on the dies to which somebody else has written since the last step."""
        return [parameter for parameter, known in self._sums.items() if checksum(parameter) != known]

    @property
    def stored(self) -> OptimizerState:
        """The state on the dies; :class:`StateMissing` if there is none."""
        if self._state is None:
            raise StateMissing("no parameter is on the dies")
        return self._state

    # Content.

    def store(
        self,
        cells: Sequence[Cell],
        optimizers: Sequence[Optimizer],
        given: Values,
        updates: int,
        host: bytes | None = None,
        same: bool = False,
    ) -> None:
        """Store a first generation: weights of the parameters and state of zeros, unless others are given.

        optimizers: of each parameter group; updates: the number of steps that led to it; host: the host's
        state that the last of them recorded; same: the content is that of the present generation, in other
        cells. :class:`GenerationPinned` while a generation is pinned.
        """
        if self._state is not None and self._ranks.pins(self._state):
            raise GenerationPinned(
                "a checkpoint is pinned while the weights are to be stored anew; expected its release before"
            )
        state = None
        if cells:
            codes = [optimizers[cell.group].code for cell in cells]
            groups = [cell.tensors(code) for cell, code in zip(cells, codes, strict=True)]
            state = self._device.optimizer_state(groups, self.streams, self._port)

            def of(array: Input, default: Callable[[Tensor], FloatArray]) -> list[list[FloatArray]]:
                own = given.get(array, {})
                return [
                    [own[p] if p in own else default(p) for p in cell.parameters]
                    if array in group.arrays
                    else []
                    for cell, group in zip(cells, groups, strict=True)
                ]

            m, v = (of(array, lambda p: np.zeros(shard(p).shape, np.float32)) for array in ARRAYS[1:])
            self._ranks.begin(state)
            ahead = 0 if same else 1
            note = self._commit_note(state, cells, host, ahead)
            state.initialise(of(Input.W, float32_of), m, v, updates, note)
            self._ranks.advance(ahead)
        self._state, self.cells, self._sums, self._host = state, tuple(cells), {}, host
        self._note(parameter for cell in cells for parameter in cell.parameters)
        self.stores += 1

    def rearrange(self, cells: Sequence[Cell], optimizers: Sequence[Optimizer]) -> None:
        """Store everything anew in these cells; changed parameters bring their own weights.

        :class:`ParameterError` if an optimizer does not have all state of its group.
        """
        before = {p: arrays for cell, arrays in self.contents for p in cell.parameters}
        for cell in cells:
            optimizer, arrays = optimizers[cell.group], before.get(cell.parameters[0], ())
            if cell.steps and set(used(optimizer.code)) < set(arrays):
                lost = ", ".join(array.name for array in arrays[len(used(optimizer.code)) :])
                raise ParameterError(
                    f"group {cell.group} has {lost} on the dies, which {optimizer.name} does not use; "
                    "expected hyperparameters that use it, or a new optimizer"
                )
        changed = set(self.changed())
        kept = {array: self.read(array) for array in ARRAYS}
        kept[Input.W] = {p: w for p, w in kept[Input.W].items() if p not in changed}
        self.store(cells, optimizers, kept, self.updates, self._host, same=not changed)

    def recorded(self) -> list[bytes]:
        """The notes of the generations in the streams, newest first."""
        streams = (self._device.state_stream(name, self._port) for name in self.streams)
        entries = [entry for stream in streams if (entry := stream.committed) is not None]
        return [entry.note for entry in sorted(entries, key=lambda entry: -entry.commit)]

    def attach(
        self, cells: Sequence[Cell], groups: Sequence[TensorGroup], host: bytes | None, note: bytes
    ) -> None:
        """Attach the generation in the streams that has this note, of these cells, and drop the newer one;
        parameters get its weights."""
        state = self._device.optimizer_state(groups, self.streams, self._port, recovered=True)
        if state.note() != note:
            state.fall_back(next(one for one in state.pinned if state.note(one) == note))
        self._state = state
        self._take(cells, host)

    def revert(self, generation: Generation, cells: Sequence[Cell], host: bytes | None, note: bytes) -> None:
        """Make a copy of a pinned generation, of these cells and with this note, current; parameters get its
        weights."""
        self._ranks.prepare(self.stored)
        if generation != self.stored.current:
            self.stored.revert(generation, note)
            self._ranks.advance(1)
        self._take(cells, host)

    def _take(self, cells: Sequence[Cell], host: bytes | None) -> None:
        self.cells, self._sums, self._host = tuple(cells), {}, host
        weights, steps = self.read(Input.W), self.steps
        self.write({p: w for p, w in weights.items() if steps[p]})
        for parameter, exact in weights.items():
            if not steps[parameter]:  # never rounded to the format of the copies
                set_weights(parameter, exact)
                self._note([parameter])

    def read(self, array: Input) -> dict[Tensor, FloatArray]:
        """Weights or state of all parameters that have them on the dies."""
        return {
            parameter: values
            for number, (cell, arrays) in enumerate(self.contents)
            if array in arrays
            for parameter, values in zip(cell.parameters, self.stored.read_group(array, number), strict=True)
        }

    def read_one(self, parameter: Tensor, array: Input) -> FloatArray:
        """Weights or state of one parameter; `KeyError` if it has none on the dies."""
        for number, (cell, arrays) in enumerate(self.contents):
            for index, member in enumerate(cell.parameters):
                if member is parameter and array in arrays:
                    return self.stored.read_tensor(array, number, index)
        raise KeyError(parameter)

    def write(self, weights: Mapping[Tensor, FloatArray]) -> None:
        """Write weights that are on the dies to their parameters, as after a step."""
        for cell in self.cells:
            for parameter in cell.parameters:
                if parameter in weights:
                    copy = copy_of(weights[parameter], cell.formats.copy)
                    set_weights(parameter, weights[parameter] if copy is None else copy)
                    self._note([parameter])

    # Steps.

    def fits(
        self,
        groups: Sequence[Iterable[Tensor]],
        stepping: Iterable[Tensor],
        optimizers: Sequence[Optimizer],
    ) -> bool:
        """Whether each cell is of one group, has the state of its optimizer, and steps as a whole or not."""
        number_of, stepping = groups_of(groups), set(stepping)
        for cell, arrays in self.contents:
            members = set(cell.parameters)
            if any(number_of.get(parameter) != cell.group for parameter in members):
                return False
            if members & stepping and not members <= stepping:
                return False
            if members & stepping and used(optimizers[cell.group].code) != arrays:
                return False
            stepping -= members
        return not stepping

    def step(
        self,
        gradients: Mapping[Tensor, Tensor],
        negated: Sequence[bool],
        optimizers: Sequence[Optimizer],
        unscale: float,
        max_norm: float | None,
        host: bytes,
        agreement: OwnStep,
    ) -> GradientReport:
        """One step of the parameters with gradients; the parameters then hold their new weights.

        negated, optimizers: by group; host: the host's state, recorded with the commit; agreement: with the
        steps of other ranks. After an overflow nothing is changed, and the report says so.
        """
        state = self.stored
        sent = [self._sent(cell, gradients, negated[cell.group]) for cell in self.cells]
        stepping = [cell.parameters[0] in gradients for cell in self.cells]
        copies: list[Sequence[Array] | None] = []
        after = [
            replace(cell, steps=cell.steps + step) for cell, step in zip(self.cells, stepping, strict=True)
        ]
        joint: list[Totals] = []
        self._ranks.prepare(state)

        def constants(number: int, clip: float) -> Constants:
            cell = self.cells[number]
            if not stepping[number]:
                return hold(len(state.groups[number].arrays))
            return optimizers[cell.group].constants(cell.steps + 1, unscale, clip)

        def update(clip: float) -> GradientReport:
            broadcast = [constants(number, clip) for number in range(len(self.cells))]
            before = state.renewals
            copies[:] = state.update(sent, broadcast)
            if not joint:
                try:
                    joint.append(agreement.joined(self._totals(state), self.updates))
                except Exception:
                    state.skip()
                    raise
            return GradientReport.of(joint[0], unscale, renewed=state.renewals > before)

        def new_weights(number: int) -> Sequence[Array]:
            own = copies[number]
            return state.read_group(Input.W, number) if own is None else own

        def commit() -> None:
            try:
                note = self._commit_note(state, after, host, 1)
                self._ranks.commits.commit(state, note)
            except FlashtrainError:
                state.skip()
                raise
            before = self.cells, self._host
            self.cells, self._host = tuple(after), host
            try:
                weights = {number: new_weights(number) for number, step in enumerate(stepping) if step}
                agreement.committed()
            except RankLost:
                raise
            except Exception:
                if self._ranks.undo(state):
                    self.cells, self._host = before
                raise
            self._ranks.advance(1)
            for number, own in weights.items():
                for parameter, new in zip(self.cells[number].parameters, own, strict=True):
                    set_weights(parameter, new)
                self._note(self.cells[number].parameters)

        return take_step(update, commit, state.skip, max_norm)

    # Implementation.

    def _totals(self, state: OptimizerState) -> Totals:
        """The statistics of the gradients that count on this rank; an overflow counts on each."""
        every, counted = [], []
        for cell, dies in zip(self.cells, state.statistics, strict=True):
            every += dies
            counted += dies if self._ranks.counts(cell.parameters[0]) else ()
        return replace(Totals.of(counted), overflow=Totals.of(every).overflow)

    def _commit_note(
        self, state: OptimizerState, cells: Sequence[Cell], host: bytes | None, ahead: int
    ) -> bytes:
        if state.takes_notes:
            return self._note_of(cells, state.groups, host is not None, host or b"", ahead)
        node = self._device.node.name
        if self._ranks.count > 1:
            raise JournalMissing(f"node {node!r} has no journal, which records the steps of several ranks")
        if host:
            raise JournalMissing(f"node {node!r} does not record the host's state with a step in a journal")
        return b""

    def _sent(self, cell: Cell, gradients: Mapping[Tensor, Tensor], negated: bool) -> list[Array]:
        form = cell.formats.gradient
        # The gradients of a held cell are zeros.
        return [
            gradient_of(
                gradients[p] if p in gradients else torch.zeros(shard(p).shape),
                form,
                negated and p in gradients,
            )
            for p in cell.parameters
        ]

    def _note(self, parameters: Iterable[Tensor]) -> None:
        self._sums.update((parameter, checksum(parameter)) for parameter in parameters)
