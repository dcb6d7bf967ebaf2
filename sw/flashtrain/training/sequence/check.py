"""The rules that a sound training command sequence keeps, step by step."""

from collections.abc import Mapping

from flashtrain.spec.optimizer import CONSTANT_WORDS
from flashtrain.spec.streams import UPDATE_NODE, Access, Port
from flashtrain.training.arrays import FLOAT32, ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence.loops import placeholders
from flashtrain.training.sequence.steps import (
    LAYERLESS,
    Append,
    Compute,
    Initialise,
    Read,
    Repeat,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    Update,
    defines,
    processor_of,
    uses,
)

CONSTANTS_SPEC = ArraySpec((CONSTANT_WORDS,))
"""Constants of a step, as a tensor."""


def _memory_of(step: Step) -> Port:
    """The port in whose memory the tensors are that a step uses and defines."""
    match step:
        case Compute():
            return processor_of(step.operation)
        case Repeat():
            raise AssertionError("a loop has no memory")
        case _:
            return step.port


class SoundnessCheck:
    """Goes through a sequence, with the tensors in each memory and those stored at each step.

    `tensors` and `counts`: the tensors of the sequence and the counts of its indices, by name.
    """

    def __init__(self, tensors: Mapping[str, TensorInfo], counts: Mapping[str, int]) -> None:
        self.tensors = tensors
        self.counts = counts
        self.memory: dict[Port, set[str]] = {port: set() for port in Port}
        self.stored: set[str] = set()
        self.updated: dict[str, str] = {}
        """Tensors of an update that is not of all of the state stream yet, and its constants."""
        self.updating = ""

    def run(self, phase: str, steps: tuple[Step, ...]) -> None:
        """Go on with the steps of a phase. Raises `SequenceError` for the first fault."""
        self._steps(phase, steps, ())
        if self.updated:
            raise SequenceError(
                f"{self.updating}: updates {list(self.updated)}; expected all of the state stream"
            )

    def _steps(self, path: str, steps: tuple[Step, ...], loops: tuple[str, ...]) -> None:
        for index, step in enumerate(steps):
            where = f"{path}[{index}]"
            if isinstance(step, Repeat):
                self._loop(where, step, loops)
            else:
                self._in_loops(where, step, loops)
                self._step(where, step)

    def _loop(self, where: str, step: Repeat, loops: tuple[str, ...]) -> None:
        """One pass stands for all: within loops, tensors are only added to memory and to what is stored."""
        if step.over not in self.counts:
            known = ", ".join(self.counts) or "none"
            raise SequenceError(f"{where}: repeats over {step.over!r}; the indices are: {known}")
        if step.over in loops:
            raise SequenceError(f"{where}: repeats over {step.over!r} within a loop over it")
        self._steps(f"{where}.steps", step.steps, (*loops, step.over))

    def _in_loops(self, where: str, step: Step, loops: tuple[str, ...]) -> None:
        names = (*uses(step), *defines(step))
        if isinstance(step, Compute):
            names = (*names, step.layer)
        for name in names:
            for index in placeholders(name):
                if index not in loops:
                    raise SequenceError(f"{where}: names {name} outside a loop over {index!r}")
        by_host = isinstance(step, Compute) and processor_of(step.operation) is Port.HOST
        if loops and (by_host or isinstance(step, Reset | Initialise | Update)):
            raise SequenceError(
                f"{where}: expected appends, reads and compute steps of the core alone in a loop"
            )

    def _step(self, where: str, step: Step) -> None:
        updated = step.tensors if isinstance(step, Update) else ()
        for name in (*uses(step), *defines(step), *updated):
            if name not in self.tensors:
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
                if step.tensor in self.updated:
                    raise SequenceError(f"{where}: reads {step.tensor}, whose update is not complete")
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
            case Repeat():
                raise AssertionError("`_loop` takes loops apart")
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
            if given := set(step.gives).intersection(self.updated.values()):
                raise SequenceError(f"{where}: gives {min(given)}, the constants of an update under way")
        own.update(defines(step))

    def _initialise(self, where: str, step: Initialise) -> None:
        self._permit(where, step.port, Access.APPEND, StreamRole.STATE)
        if not where.startswith("prologue") or self._stored_in(StreamRole.STATE):
            raise SequenceError(f"{where}: initialises the state stream; expected once, in the prologue")
        if not step.tensors or len(set(step.tensors)) != len(step.tensors):
            raise SequenceError(f"{where}: expected different tensors, got {list(step.tensors)}")
        for name in step.tensors:
            role, spec = self._stream(where, name), self.tensors[name].spec
            if role is not StreamRole.STATE or spec.dtype != FLOAT32:
                raise SequenceError(f"{where}: {name} is {spec} of stream {role}; expected float32 of state")
        self.stored.update(step.tensors)

    def _update(self, where: str, step: Update) -> None:
        self._permit(where, step.port, Access.APPEND, StreamRole.STATE)
        for name in step.tensors:
            self._is_stored(where, "updates", name)
            if self.tensors[name].stream is not StreamRole.STATE:
                raise SequenceError(f"{where}: updates {name}; expected tensors of the state stream")
        if not step.tensors or len({*self.updated, *step.tensors}) < len(self.updated) + len(step.tensors):
            raise SequenceError(
                f"{where}: updates {[*self.updated, *step.tensors]}; expected each of the state stream once"
            )
        if others := set(self.updated.values()) - {step.constants}:
            raise SequenceError(
                f"{where}: updates with {step.constants}, and tensors before with {min(others)}; expected the"
                " same"
            )
        if len(step.gradients) != len(step.tensors):
            raise SequenceError(
                f"{where}: {len(step.gradients)} gradients, expected one for each of {len(step.tensors)}"
            )
        specs = {name: tensor.spec for name, tensor in self.tensors.items()}
        expected = [(g, specs[w]) for g, w in zip(step.gradients, step.tensors, strict=True)]
        for name, spec in (*expected, (step.constants, CONSTANTS_SPEC)):
            if specs[name] != spec:
                raise SequenceError(f"{where}: {name} is {specs[name]}, expected {spec}")
        for of_port in self.memory.values():
            of_port.difference_update(step.tensors)
        self.updated |= dict.fromkeys(step.tensors, step.constants)
        self.updating = where
        if self.updated.keys() == self._stored_in(StreamRole.STATE):
            self.updated = {}

    def _stream(self, where: str, tensor: str) -> StreamRole:
        role = self.tensors[tensor].stream
        if role is None:
            raise SequenceError(f"{where}: {tensor} has no stream")
        return role

    def _stored_in(self, stream: StreamRole) -> set[str]:
        return {name for name in self.stored if self.tensors[name].stream is stream}

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
