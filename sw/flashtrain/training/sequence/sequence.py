"""The training command sequence: a program of steps, and the rules that a sound one keeps."""

from dataclasses import dataclass
from functools import cached_property

from flashtrain.spec.optimizer import CONSTANT_WORDS
from flashtrain.spec.streams import UPDATE_NODE, Access, Port
from flashtrain.training.arrays import FLOAT32, ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence.steps import (
    LAYERLESS,
    Append,
    Compute,
    Initialise,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    Update,
    UpdatePlace,
    defines,
    processor_of,
    uses,
)

PHASES = ("prologue", "iteration", "epilogue")

CONSTANTS_SPEC = ArraySpec((CONSTANT_WORDS,))
"""Constants of a step, as a tensor."""


@dataclass(frozen=True)
class TrainingSequence:
    """`prologue` once, then `iteration` as often as there are iterations, then `epilogue` once.

    `network` and `optimizer` say what the sequence was made for; `batch` is the number of examples of one
    iteration. Steps are listed in an order in which they can be carried out one by one. Two steps may overlap
    or change places if they share no tensor and no reset, and if they are not both compute steps.

    A read, or a compute step with the tensor as a result, defines a tensor. It is in memory from there to the
    last use before its next definition; an update on the dies leaves no old weights there. Host and core have
    separate memories, and tensors pass between them through streams alone. The state stream is initialised
    once, in the prologue, and only updates of all of it change it.

    Raises `SequenceError`, with phase and step, in these cases:

    - A step names an unknown tensor.
    - A step's port has no right to its operation.
    - A step uses a tensor that is not in memory, or reads one that is not stored.
    """

    network: str
    optimizer: str
    batch: int
    tensors: tuple[TensorInfo, ...]
    prologue: tuple[Step, ...]
    iteration: tuple[Step, ...]
    epilogue: tuple[Step, ...]

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise SequenceError(f"batch: expected at least 1, got {self.batch}")
        if len(self.by_name) != len(self.tensors):
            names = [tensor.name for tensor in self.tensors]
            twice = next(name for name in names if names.count(name) > 1)
            raise SequenceError(f"tensors: the name {twice} is not unique")
        _Check(self).run()

    @cached_property
    def by_name(self) -> dict[str, TensorInfo]:
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def state(self) -> Initialise | None:
        """The step that initialises the state stream, if there is one."""
        return next((step for step in self.prologue if isinstance(step, Initialise)), None)

    @property
    def update(self) -> UpdatePlace:
        return UpdatePlace.CORE if self.state is None else UpdatePlace.DIE

    def steps(self, iterations: int) -> list[Step]:
        """All steps of a run of `iterations`."""
        return [*self.prologue, *(self.iteration * iterations), *self.epilogue]


def last_uses(steps: list[Step]) -> list[tuple[str, ...]]:
    """For each step, the tensors in memory that no later step needs: they leave memory after it."""
    dying: list[tuple[str, ...]] = []
    needed: set[str] = set()
    for step in reversed(steps):
        here = dict.fromkeys((*uses(step), *defines(step)))
        dying.append(tuple(name for name in here if name not in needed))
        needed.difference_update(defines(step))
        needed.update(uses(step))
    return dying[::-1]


def _memory_of(step: Step) -> Port:
    """The port in whose memory the tensors are that a step uses and defines."""
    match step:
        case Compute():
            return processor_of(step.operation)
        case _:
            return step.port


class _Check:
    """Goes through a sequence, with the tensors in each memory and those stored at each step."""

    def __init__(self, sequence: TrainingSequence) -> None:
        self.sequence = sequence
        self.memory: dict[Port, set[str]] = {port: set() for port in Port}
        self.stored: set[str] = set()

    def run(self) -> None:
        # The second pass through the iteration starts from what the first one left.
        passes = {"prologue": 1, "iteration": 2, "epilogue": 1}
        for phase in PHASES:
            steps: tuple[Step, ...] = getattr(self.sequence, phase)
            for _ in range(passes[phase]):
                for index, step in enumerate(steps):
                    self._step(f"{phase}[{index}]", step)

    def _step(self, where: str, step: Step) -> None:
        updated = step.tensors if isinstance(step, Update) else ()
        for name in (*uses(step), *defines(step), *updated):
            if name not in self.sequence.by_name:
                raise SequenceError(f"{where}: no tensor is called {name}")
        for name in uses(step):
            if not any(name in memory for memory in self.memory.values()):
                raise SequenceError(f"{where}: uses {name}, which is not in memory")
        match step:
            case Append():
                role = self._stream(where, step.tensor)
                self._permit(where, step.port, Access.APPEND, role)
                self._not_state(where, role)
                self.stored.add(step.tensor)
            case Read():
                self._permit(where, step.port, Access.READ, self._stream(where, step.tensor))
                self._is_stored(where, "reads", step.tensor)
            case Reset():
                self._permit(where, step.port, Access.APPEND, step.stream)
                self._not_state(where, step.stream)
                self.stored -= self._stored_in(step.stream)
            case Compute():
                if (step.layer == "") != (step.operation in LAYERLESS):
                    raise SequenceError(f"{where}: {step.operation} with layer {step.layer!r}")
            case Initialise():
                self._initialise(where, step)
            case Update():
                self._update(where, step)
        self._move(where, step)

    def _move(self, where: str, step: Step) -> None:
        """Tensors in and out of the memory of the step's port."""
        port = _memory_of(step)
        own, other = self.memory[port], self.memory[Port.HOST if port is Port.CORE else Port.CORE]
        for name in uses(step):
            if name not in own:
                owner = "core" if port is Port.HOST else "host"
                raise SequenceError(
                    f"{where}: uses {name}, which only the {owner} has in memory; "
                    f"expected a read of it by the {port.name.lower()} port before"
                )
        if isinstance(step, Compute):
            other.difference_update(step.gives)  # these are versions before
        own.update(defines(step))

    def _initialise(self, where: str, step: Initialise) -> None:
        self._permit(where, step.port, Access.APPEND, StreamRole.STATE)
        if not where.startswith("prologue") or self._stored_in(StreamRole.STATE):
            raise SequenceError(f"{where}: initialises the state stream; expected once, in the prologue")
        if not step.tensors or len(set(step.tensors)) != len(step.tensors):
            raise SequenceError(f"{where}: expected different tensors, got {list(step.tensors)}")
        for name in step.tensors:
            role, spec = self._stream(where, name), self.sequence.by_name[name].spec
            if role is not StreamRole.STATE or spec.dtype != FLOAT32:
                raise SequenceError(f"{where}: {name} is {spec} of stream {role}; expected float32 of state")
        self.stored.update(step.tensors)

    def _update(self, where: str, step: Update) -> None:
        self._permit(where, step.port, Access.APPEND, StreamRole.STATE)
        for name in step.tensors:
            self._is_stored(where, "updates", name)
        if sorted(step.tensors) != sorted(self._stored_in(StreamRole.STATE)):
            raise SequenceError(f"{where}: updates {list(step.tensors)}; expected all of the state stream")
        if len(step.gradients) != len(step.tensors):
            raise SequenceError(
                f"{where}: {len(step.gradients)} gradients, expected one for each of {len(step.tensors)}"
            )
        specs = {name: tensor.spec for name, tensor in self.sequence.by_name.items()}
        expected = [(g, specs[w]) for g, w in zip(step.gradients, step.tensors, strict=True)]
        for name, spec in (*expected, (step.constants, CONSTANTS_SPEC)):
            if specs[name] != spec:
                raise SequenceError(f"{where}: {name} is {specs[name]}, expected {spec}")
        for of_port in self.memory.values():
            of_port.difference_update(step.tensors)

    def _stream(self, where: str, tensor: str) -> StreamRole:
        role = self.sequence.by_name[tensor].stream
        if role is None:
            raise SequenceError(f"{where}: {tensor} has no stream")
        return role

    def _stored_in(self, stream: StreamRole) -> set[str]:
        return {name for name in self.stored if self.sequence.by_name[name].stream is stream}

    def _is_stored(self, where: str, verb: str, tensor: str) -> None:
        if tensor not in self.stored:
            raise SequenceError(f"{where}: {verb} {tensor}, which is not stored")

    def _not_state(self, where: str, stream: StreamRole) -> None:
        if stream is StreamRole.STATE:
            raise SequenceError(f"{where}: only updates change the stream {stream}")

    def _permit(self, where: str, port: Port, access: Access, stream: StreamRole) -> None:
        if any(access not in UPDATE_NODE.named(name).access(port) for name in stream.streams):
            verb = "read" if access is Access.READ else "append to or reset"
            raise SequenceError(f"{where}: the {port.name.lower()} port may not {verb} the stream {stream}")
