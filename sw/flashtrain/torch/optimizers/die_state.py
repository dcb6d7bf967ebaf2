"""Parameters of PyTorch on the dies, in cells: stored, stepped, read."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain

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
from flashtrain.host.state.state_update import GroupCopies
from flashtrain.host.state.tensor_group import ARRAYS
from flashtrain.numerics import Totals
from flashtrain.numerics.state_format import rounded
from flashtrain.spec import FlashtrainError, Port
from flashtrain.spec.optimizer import Input
from flashtrain.spec.state_format import StateFormat
from flashtrain.torch.ranks.errors import RankLost
from flashtrain.torch.ranks.ranks import OneProcess, OwnStep
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.die_step import GradientReport, take_step
from flashtrain.training.errors import ParameterError

from .cell import Cell, KindOf, groups_of
from .formats import checksum, float32_of, set_weights
from .group_step import GroupStep, arrays_of
from .open_step import CellUpdate, OpenStep

NoteOf = Callable[[Sequence[Cell], Sequence[Sequence[TensorGroup]], bool, bytes, int], bytes]
"""The note of cells, each with its regions on the dies, after a step or before any, with the host's state, of
the generation of the ranks that is so many ahead."""

ReadCell = Callable[[Input], list[FloatArray]]
"""Gives an array of all parameters of a cell from the current generation."""

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
        self._regions: tuple[int, ...] = ()  # how many each cell has
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
        return [(cell, arrays_of(layout)) for cell, layout in self._layouts()]

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
        steps: Sequence[GroupStep],
        given: Values,
        updates: int,
        host: bytes | None = None,
        same: bool = False,
    ) -> None:
        """Store a first generation: weights of the parameters and initial state, unless others are given.

        steps: of each parameter group; updates: the number of steps that led to it; host: the host's
        state that the last of them recorded; same: the content is that of the present generation, in other
        cells. :class:`GenerationPinned` while a generation is pinned.
        """
        if self._state is not None and self._ranks.pins(self._state):
            raise GenerationPinned(
                "a checkpoint is pinned while the weights are to be stored anew; expected its release before"
            )
        state, regions = None, [cell.tensors(steps[cell.group].regions(cell.formats)) for cell in cells]
        if cells:
            state = self._device.optimizer_state(list(chain(*regions)), self.streams, self._port)

            def of(array: Input, default: Callable[[Cell, Tensor], FloatArray]) -> list[list[FloatArray]]:
                own = given.get(array, {})
                return [
                    [own[p] if p in own else default(cell, p) for p in cell.parameters]
                    if array in region.arrays
                    else []
                    for cell, groups in zip(cells, regions, strict=True)
                    for region in groups
                ]

            def weights(cell: Cell, p: Tensor) -> FloatArray:
                own = given.get(Input.W, {})
                return own[p] if p in own else float32_of(p)

            def initial(array: Input, cell: Cell, p: Tensor) -> FloatArray:
                stored = rounded(cell.formats.storage.weight, weights(cell, p))
                return steps[cell.group].initial(array, stored)

            m, v = (of(array, partial(initial, array)) for array in ARRAYS[1:])
            self._ranks.begin(state)
            ahead = 0 if same else 1
            note = self._commit_note(state, cells, regions, host, ahead)
            state.initialise(of(Input.W, weights), m, v, updates, note)
            self._ranks.advance(ahead)
        self._state, self.cells, self._sums, self._host = state, tuple(cells), {}, host
        self._regions = tuple(map(len, regions))
        self._round(cells)
        self._note(parameter for cell in cells for parameter in cell.parameters)
        self.stores += 1

    def rearrange(self, cells: Sequence[Cell], steps: Sequence[GroupStep]) -> None:
        """Store everything anew in these cells; changed parameters bring their own weights.

        :class:`ParameterError` if a step does not have all state of its group, or keeps it otherwise.
        """
        before = {p: layout for cell, layout in self._layouts() for p in cell.parameters}
        for cell in cells:
            step, layout = steps[cell.group], before.get(cell.parameters[0], ())
            lost = [array for array in arrays_of(layout) if array not in step.arrays]
            if cell.steps and (lost or len(layout) != len(step.layout)):
                held = ", ".join(array.name for array in lost or arrays_of(layout))
                raise ParameterError(
                    f"group {cell.group} has {held} on the dies, which {step.name} does not use; "
                    "expected hyperparameters that use it, or a new optimizer"
                )
        changed = set(self.changed())
        taken = self.steps
        # State before the first step follows from the weights, which may have changed.
        kept = {array: {p: one for p, one in self.read(array).items() if taken[p]} for array in ARRAYS[1:]}
        kept[Input.W] = {p: w for p, w in self.read(Input.W).items() if p not in changed}
        self.store(cells, steps, kept, self.updates, self._host, same=not changed)

    def recorded(self) -> list[bytes]:
        """The notes of the generations in the streams, newest first."""
        streams = (self._device.state_stream(name, self._port) for name in self.streams)
        entries = [entry for stream in streams if (entry := stream.committed) is not None]
        return [entry.note for entry in sorted(entries, key=lambda entry: -entry.commit)]

    def attach(
        self, cells: Sequence[Cell], regions: Sequence[Sequence[TensorGroup]], host: bytes | None, note: bytes
    ) -> None:
        """Attach the generation in the streams that has this note, of these cells and their regions, and drop
        the newer one; parameters get its weights."""
        groups = list(chain(*regions))
        state = self._device.optimizer_state(groups, self.streams, self._port, recovered=True)
        if state.note() != note:
            state.fall_back(next(one for one in state.pinned if state.note(one) == note))
        self._state, self._regions = state, tuple(map(len, regions))
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
            for cell, number in self._groups_with(array)
            for parameter, values in zip(cell.parameters, self.stored.read_group(array, number), strict=True)
        }

    def read_one(self, parameter: Tensor, array: Input) -> FloatArray:
        """Weights or state of one parameter; `KeyError` if it has none on the dies."""
        for cell, number in self._groups_with(array):
            for index, member in enumerate(cell.parameters):
                if member is parameter:
                    return self.stored.read_tensor(array, number, index)
        raise KeyError(parameter)

    def write(self, weights: Mapping[Tensor, FloatArray]) -> None:
        """Write weights that are on the dies to their parameters, as after a step."""
        for cell in self.cells:
            for parameter in cell.parameters:
                if parameter in weights:
                    set_weights(parameter, cell.formats.given(weights[parameter]))
                    self._note([parameter])

    # Steps.

    def fits(
        self,
        groups: Sequence[Iterable[Tensor]],
        stepping: Iterable[Tensor],
        steps: Sequence[GroupStep],
        kind_of: KindOf,
    ) -> bool:
        """Whether each cell is of one group and kind, and has the state of its step; whether all of it steps,
        or nothing."""
        number_of, stepping = groups_of(groups), set(stepping)
        for cell, layout in self._layouts():
            members = set(cell.parameters)
            if any(number_of.get(parameter) != cell.group for parameter in members):
                return False
            if members & stepping and not members <= stepping:
                return False
            if members & stepping and steps[cell.group].layout != layout:
                return False
            if len({kind_of(parameter) for parameter in members}) > 1:
                return False
            stepping -= members
        return not stepping

    def begin(
        self,
        stepping: Collection[Tensor],
        negated: Sequence[bool],
        steps: Sequence[GroupStep],
        unscale: float,
    ) -> OpenStep:
        """Begin a step of these parameters, whose gradients come one by one; arguments as of :meth:`step`."""
        self._ranks.prepare(self.stored)
        return OpenStep(self.stored, self._updates(stepping, negated, steps, unscale, 1.0, whole=False))

    def difference(
        self,
        begun: OpenStep,
        gradients: Mapping[Tensor, Tensor],
        negated: Sequence[bool],
        steps: Sequence[GroupStep],
        unscale: float,
    ) -> str | None:
        """The reason why this step is another one than that which was begun; None if it is the same."""
        return begun.difference(
            self._updates(gradients, negated, steps, unscale, 1.0, whole=False), gradients
        )

    def step(
        self,
        gradients: Mapping[Tensor, Tensor],
        negated: Sequence[bool],
        steps: Sequence[GroupStep],
        unscale: float,
        max_norm: float | None,
        host: bytes,
        agreement: OwnStep,
        begun: OpenStep | None,
    ) -> GradientReport:
        """One step of the parameters with gradients; the parameters then hold their new weights.

        negated, steps: by group; host: the host's state, recorded with the commit; agreement: with the
        steps of other ranks; begun: the same step, if it is under way. After an overflow nothing is changed,
        and the report says so.
        """
        state = self.stored
        stepping = [cell.parameters[0] in gradients for cell in self.cells]
        copies: list[Sequence[Array] | None] = []
        after = [
            replace(cell, steps=cell.steps + step) for cell, step in zip(self.cells, stepping, strict=True)
        ]
        joint: list[Totals] = []
        if begun is None:
            self._ranks.prepare(state)

        def computed(clip: float) -> list[GroupCopies]:
            if begun is not None and not joint:
                return begun.complete(gradients).result()
            updates = self._updates(gradients, negated, steps, unscale, clip, whole=True)
            sent: list[list[Array]] = []
            for one in updates:
                tensors = [one.tensors(n, gradients.get(p)) for n, p in enumerate(one.cell.parameters)]
                sent += map(list, zip(*tensors, strict=True))
            return state.update(sent, [constants for one in updates for constants in one.constants])

        def update(clip: float) -> GradientReport:
            before = state.renewals
            copies[:] = computed(clip)
            if not joint:
                try:
                    joint.append(agreement.joined(self._totals(state, steps), self.updates))
                except Exception:
                    state.skip()
                    raise
            return GradientReport.of(joint[0], unscale, renewed=state.renewals > before)

        def new_weights(cell: int) -> Sequence[Array]:
            number = self._group_with(Input.W, cell)
            own = copies[number]
            if own is None and self.cells[cell].formats.are_halves:
                return state.read_bfloat16(number)
            return state.read_group(Input.W, number) if own is None else own

        def commit() -> None:
            try:
                note = self._commit_note(state, after, self._tensors(state), host, 1)
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

    def _updates(
        self,
        stepping: Collection[Tensor],
        negated: Sequence[bool],
        steps: Sequence[GroupStep],
        unscale: float,
        clip: float,
        whole: bool,
    ) -> list[CellUpdate]:
        """The update of each cell. whole: arrays of a cell are read all at once, and not one by one."""
        updates = []
        for number, cell in enumerate(self.cells):
            own = steps[cell.group] if cell.parameters[0] in stepping else None
            read = cache(partial(self._read_cell, number))

            def read_one(array: Input, index: int, cell: int = number, read: ReadCell = read) -> FloatArray:
                if whole:
                    return read(array)[index]
                return self.stored.read_tensor(array, self._group_with(array, cell), index)

            updates.append(
                CellUpdate(
                    cell,
                    self._numbers(number),
                    own,
                    negated[cell.group],
                    unscale,
                    clip,
                    self.stored,
                    read_one,
                )
            )
        return updates

    def _round(self, cells: Iterable[Cell]) -> None:
        """Write to parameters what the dies have stored of their weights, where that has fewer bits."""
        for cell in cells:
            form = cell.formats.storage.weight
            for parameter in cell.parameters if form is not StateFormat.FP32 else ():
                set_weights(parameter, rounded(form, float32_of(parameter)))

    def _layouts(self) -> list[tuple[Cell, tuple[tuple[Input, ...], ...]]]:
        """Each cell, and the arrays of each of its regions."""
        if self._state is None:
            return []
        tensors = self._tensors(self._state)
        return [
            (cell, tuple(group.arrays for group in groups))
            for cell, groups in zip(self.cells, tensors, strict=True)
        ]

    def _numbers(self, cell: int) -> range:
        """The numbers of the regions of a cell among the groups on the dies."""
        first = sum(self._regions[:cell])
        return range(first, first + self._regions[cell])

    def _tensors(self, state: OptimizerState) -> list[list[TensorGroup]]:
        """The regions of each cell."""
        return [[state.groups[one] for one in self._numbers(cell)] for cell in range(len(self.cells))]

    def _group_with(self, array: Input, cell: int) -> int:
        """The number of the region of a cell that has this array."""
        return next(one for one in self._numbers(cell) if array in self.stored.groups[one].arrays)

    def _groups_with(self, array: Input) -> list[tuple[Cell, int]]:
        """The cells that have this array, and the number of the region with it."""
        return [
            (cell, self._group_with(array, number))
            for number, (cell, arrays) in enumerate(self.contents)
            if array in arrays
        ]

    def _read_cell(self, cell: int, array: Input) -> list[FloatArray]:
        return self.stored.read_group(array, self._group_with(array, cell))

    def _totals(self, state: OptimizerState, steps: Sequence[GroupStep]) -> Totals:
        """The statistics of the gradients that count on this rank; an overflow counts on each."""
        every, counted = [], []
        for number, cell in enumerate(self.cells):
            regions = steps[cell.group].regions(cell.formats)
            for one, region in zip(self._numbers(number), regions, strict=True):
                if region.takes_gradients:
                    every += state.statistics[one]
                    counted += state.statistics[one] if self._ranks.counts(cell.parameters[0]) else ()
        return replace(Totals.of(counted), overflow=Totals.of(every).overflow)

    def _commit_note(
        self,
        state: OptimizerState,
        cells: Sequence[Cell],
        regions: Sequence[Sequence[TensorGroup]],
        host: bytes | None,
        ahead: int,
    ) -> bytes:
        if state.takes_notes:
            return self._note_of(cells, regions, host is not None, host or b"", ahead)
        node = self._device.node.name
        if self._ranks.count > 1:
            raise JournalMissing(f"node {node!r} has no journal, which records the steps of several ranks")
        if host:
            raise JournalMissing(f"node {node!r} does not record the host's state with a step in a journal")
        return b""

    def _note(self, parameters: Iterable[Tensor]) -> None:
        self._sums.update((parameter, checksum(parameter)) for parameter in parameters)
