"""The training command sequence of a recorded iteration.

The placement is that of `flashtrain.training.sequence.build`. Names of tensors: ``input/<index>``,
``saved/<number>``, ``weights/<module>``, ``gradient/<module>``, ``trained/<module>``, ``constants``;
``state/<module>/<state array>`` if the core updates. The parameters that a module has itself are one vector.

Weights and gradients are float32, as the dies hold them, whatever the dtype of the module. Any other tensor
of a dtype that the flash does not have is a vector of bytes. Buffers stay in memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from flashtrain.spec.streams import Port
from flashtrain.torch.capturing.recording import (
    LOSS,
    ParameterGroup,
    RecordedOperation,
    RecordedSave,
    Recording,
)
from flashtrain.training.arrays import DTYPES, UINT8, ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.offload.processor import Processor
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    TrainingSequence,
    Update,
    UpdatePlace,
)
from flashtrain.training.sequence.build import (
    CONSTANTS,
    gradient_name,
    state_name,
    trained_name,
    weights_name,
)
from flashtrain.training.sequence.check import CONSTANTS_SPEC


def captured_sequence(
    recording: Recording,
    optimizer: Optimizer,
    update: UpdatePlace,
    processor: Processor | None,
    overlap: bool = False,
) -> TrainingSequence:
    """One iteration as it was recorded, with the steps of the optimizer.

    Inputs come from the host. A saved storage is appended after the operation that made it, and read before
    the first one of the backward pass that needs it. Each operation reads the weights that it uses, unless
    the one before has used them, too. Gradients stay in memory until the update.

    A compute step has the FLOPs of its operation and, with a `processor`, the seconds by which its memory
    bound exceeds them. Measured durations take the place of both.

    overlap: the dies update weights as soon as they have their gradient.
    """
    if overlap and update is not UpdatePlace.DIE:
        raise SequenceError("updates that overlap the backward pass are those of the dies; expected die")
    return _Builder(recording, optimizer, update, processor, overlap).sequence()


class _Builder:
    def __init__(
        self,
        recording: Recording,
        optimizer: Optimizer,
        update: UpdatePlace,
        processor: Processor | None,
        overlap: bool,
    ) -> None:
        self._recording = recording
        self._optimizer = optimizer
        self._processor = processor
        self._on_die = update is UpdatePlace.DIE
        self._groups = [_Group(group, optimizer, self._on_die) for group in recording.parameters]
        self._by_name = {group.source.name: group for group in self._groups}
        self._updated = [group for group in self._groups if group.source.updated]
        self._overlap = overlap and len(self._updated) > 1
        if self._overlap:  # in the order of their gradients
            names = [name for operation in recording.operations for name in operation.gradients]
            self._updated = [self._by_name[name] for name in names]
        self._inputs = [f"input/{index}" for index in range(len(recording.inputs))]

    def sequence(self) -> TrainingSequence:
        weights = tuple(group.weights for group in self._updated)
        initialised = (Initialise(weights, self._optimizer.code, Port.CORE),) if self._on_die else ()
        return TrainingSequence(
            network=self._recording.model,
            optimizer=self._optimizer.name,
            batch=self._recording.batch,
            tensors=tuple(self._tensors()),
            prologue=(*(step for group in self._groups for step in group.initialise()), *initialised),
            iteration=tuple(self._iteration()),
            epilogue=tuple(step for group in self._updated for step in group.publish()),
        )

    def _tensors(self) -> Iterator[TensorInfo]:
        for name, tensor in zip(self._inputs, self._recording.inputs, strict=True):
            yield TensorInfo(name, StreamRole.INPUTS, _spec(tensor.dtype, tensor.shape, tensor.bytes))
        for save in self._recording.saves:
            if save.input is None:
                yield TensorInfo(save.name, StreamRole.ACTIVATIONS, _spec(save.dtype, save.shape, save.bytes))
        for group in self._groups:
            yield from group.tensors()
        if self._on_die:
            yield TensorInfo(CONSTANTS, None, CONSTANTS_SPEC)

    def _iteration(self) -> Iterator[Step]:
        inputs = tuple(self._inputs)
        yield Compute(Operation.LOAD, gives=inputs)
        yield from (Append(name, Port.HOST) for name in inputs)
        yield from self._passes()
        if self._on_die and not self._overlap:
            yield _CONSTANTS
            yield _update_of(self._updated)
        yield Reset(StreamRole.ACTIVATIONS, Port.CORE)

    def _passes(self) -> Iterator[Step]:
        """The operations, each with the steps around it."""
        made, needed = self._made(), self._needed()
        present: set[str] = set()
        backward = False
        before: tuple[str, ...] = ()
        for index, operation in enumerate(self._recording.operations):
            if operation.backward and not backward:
                backward = True
                present.clear()  # inputs are read once more
                if self._overlap:
                    yield _CONSTANTS
            weights = tuple(self._by_name[name].weights for name in operation.weights)
            inputs = tuple(self._inputs[i] for i in operation.inputs)
            given = made.get(index, ())
            takes = (*dict.fromkeys((*inputs, *needed.get(index, ()))),)
            for name in takes:
                if name not in present:
                    present.add(name)
                    yield Read(name, Port.CORE)
            yield from (Read(name, Port.CORE) for name in weights if name not in before)
            before = weights
            gradients = tuple(self._by_name[name].gradient for name in operation.gradients)
            yield self._compute(operation, (*takes, *weights), (*given, *gradients))
            yield from (Append(name, Port.CORE) for name in given)
            for group in (self._by_name[name] for name in operation.gradients):
                if self._overlap:
                    yield _update_of([group])
                elif not self._on_die:
                    yield from group.update()

    def _compute(
        self, operation: RecordedOperation, takes: tuple[str, ...], gives: tuple[str, ...]
    ) -> Compute:
        kind, layer = Operation.FORWARD, operation.module
        if operation.backward:
            kind = Operation.BACKWARD
        elif operation.module == LOSS:
            kind, layer = Operation.LOSS, ""
        if operation.seconds is not None:
            return Compute(kind, layer, takes, gives, seconds=operation.seconds)
        seconds = self._processor.beyond_flops(operation.work) if self._processor else 0.0
        return Compute(kind, layer, takes, gives, operation.flops, seconds)

    def _made(self) -> dict[int, tuple[str, ...]]:
        """The saved storages by the operation that makes them; inputs are stored already."""
        return _by_operation((save.made, save) for save in self._recording.saves if save.input is None)

    def _needed(self) -> dict[int, tuple[str, ...]]:
        """The saved storages, and the inputs among them, by the operations that need them."""
        uses = ((index, save) for save in self._recording.saves for index in save.uses)
        return _by_operation(uses)


_CONSTANTS = Compute(Operation.CONSTANTS, gives=(CONSTANTS,))


def _update_of(groups: "Sequence[_Group]") -> Update:
    """The update of these groups by the dies."""
    weights, gradients = (group.weights for group in groups), (group.gradient for group in groups)
    return Update(tuple(weights), tuple(gradients), CONSTANTS, Port.CORE)


def _by_operation(saves: Iterable[tuple[int, RecordedSave]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for index, save in saves:
        name = save.name if save.input is None else f"input/{save.input}"
        found.setdefault(index, []).append(name)
    return {index: tuple(names) for index, names in found.items()}


@dataclass(frozen=True)
class _Group:
    """The steps and tensors of a group of parameters."""

    source: ParameterGroup
    optimizer: Optimizer
    on_die: bool

    @property
    def weights(self) -> str:
        return weights_name(self.source.name)

    @property
    def gradient(self) -> str:
        return gradient_name(self.source.name)

    @property
    def _states(self) -> tuple[str, ...]:
        if self.on_die or not self.source.updated:
            return ()
        return tuple(state_name(self.source.name, each) for each in self.optimizer.state_names)

    def tensors(self) -> Iterator[TensorInfo]:
        spec = ArraySpec((self.source.elements,))
        in_state = self.on_die and self.source.updated
        yield TensorInfo(self.weights, StreamRole.STATE if in_state else StreamRole.WEIGHTS, spec)
        for name in self._states:
            yield TensorInfo(name, StreamRole.WEIGHTS, spec)
        if self.source.updated:
            yield TensorInfo(self.gradient, None, spec)
            yield TensorInfo(trained_name(self.source.name), StreamRole.TRAINED, spec)

    def initialise(self) -> Iterator[Step]:
        names = (self.weights, *self._states)
        yield Compute(Operation.INITIALISE, self.source.name, gives=names)
        if not (self.on_die and self.source.updated):
            yield from (Append(name, Port.CORE) for name in names)

    def update(self) -> Iterator[Step]:
        """The core updates: it has the gradient, and reads weights and state."""
        names = (self.weights, *self._states)
        yield from (Read(name, Port.CORE) for name in names)
        yield Compute(Operation.UPDATE, self.source.name, takes=(self.gradient, *names), gives=names)
        yield from (Append(name, Port.CORE) for name in names)

    def publish(self) -> Iterator[Step]:
        trained = trained_name(self.source.name)
        yield Read(self.weights, Port.CORE)
        yield Compute(Operation.PUBLISH, self.source.name, takes=(self.weights,), gives=(trained,))
        yield Append(trained, Port.CORE)
        yield Read(trained, Port.HOST)
        yield Compute(Operation.COLLECT, self.source.name, takes=(trained,))


def _spec(dtype: str, shape: tuple[int, ...], size: int) -> ArraySpec:
    """The tensor as it is, if the flash has its dtype, else its bytes."""
    if dtype in DTYPES:
        spec = ArraySpec(shape, dtype)
        if spec.bytes == size and prod(shape):
            return spec
    return ArraySpec((size,), UINT8)
