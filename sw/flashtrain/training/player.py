"""Carrying out a training command sequence: storage moves tensors, a machine computes, and both overlap where
they may.

The player looks some steps ahead of the oldest unfinished one and starts every step that depends on no
unfinished step before it. So the tensors that a layer needs are on their way while the layers before it
compute, and appends complete behind its back. The result depends neither on how far it looks nor on the
timing of the storage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from flashtrain.spec import Port
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.training.arithmetic import one_thread
from flashtrain.training.arrays import Array, Arrays
from flashtrain.training.awaited import Finished
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Read,
    Repeat,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    TrainingSequence,
    Update,
)
from flashtrain.training.sequence.sequence import last_uses
from flashtrain.training.sequence.steps import defines, processor_of, uses

ValueT = TypeVar("ValueT", covariant=True)


class Pending(Protocol[ValueT]):
    """Something under way in the storage."""

    @property
    def done(self) -> bool:
        """Whether `result` would return at once. Does not wait."""
        ...

    def wait_beside(self, others: "Sequence[Pending[Any]]") -> None:
        """Wait until this or one of `others` is done."""
        ...

    def result(self) -> ValueT:
        """Wait for the end; raises what went wrong."""
        ...


class Storage(Protocol):
    """Where tensors live. Each call starts something and returns at once."""

    def append(self, tensor: TensorInfo, array: Array, port: Port) -> Pending[None]: ...

    def read(self, tensor: TensorInfo, port: Port) -> Pending[Array]: ...

    def reset(self, stream: StreamRole, port: Port) -> Pending[None]: ...

    def initialise(
        self, tensors: Sequence[TensorInfo], arrays: Sequence[Array], program: OptimizerCode, port: Port
    ) -> Pending[None]: ...

    def update(
        self, tensors: Sequence[TensorInfo], gradients: Sequence[Array], constants: Array, port: Port
    ) -> Pending[bool | None]:
        """Update the weights `tensors`; whether that was committed, not skipped.

        None after an update of some tensors, until all are updated.
        """
        ...


class Machine(Protocol):
    """The machine that computes the steps.

    It keeps the data between steps that is no tensor. That is the result of a layer for the next one, and the
    gradient on its way back.
    """

    def compute(self, step: Compute, tensors: Arrays) -> Arrays:
        """Carry out `step` on the tensors that it takes; return those that it gives."""
        ...

    def updated(self, steps: Sequence[Update], committed: bool) -> None:
        """The storage has carried out `steps`, which are of all of the state stream.

        Nothing that takes the new weights was computed yet.
        """
        ...


@dataclass(frozen=True)
class Playback:
    """A run as the machine saw it.

    peak_bytes: most bytes of tensors in memory at once, with those on their way to or from the storage;
    most_in_flight: most steps under way in the storage at once.
    """

    steps: int
    peak_bytes: int
    most_in_flight: int


def play(
    sequence: TrainingSequence,
    iterations: int,
    machine: Machine,
    storage: Storage,
    lookahead: int | None = None,
    on_iteration: Callable[[int], None] = lambda iteration: None,
    resumed: bool = False,
    pace: Callable[[Compute], Pending[object]] = lambda step: Finished(),
) -> Playback:
    """Carry out `iterations` of `sequence`; return when everything has finished.

    `lookahead` is the number of steps that may be under way, counted from the oldest unfinished one. By
    default it is the length of an iteration; with 1, the steps follow each other. `on_iteration` is called
    with the number of an iteration, from 1, when all its steps have finished. `resumed`: the prologue was
    carried out by an earlier run. `pace` begins the time that a compute step takes; by default it takes none.
    Raises `SequenceError` if `iterations` (unless resumed) or `lookahead` is below 1, and passes on the
    errors of the machine and the storage.
    """
    least = 0 if resumed else 1
    if iterations < least:
        raise SequenceError(f"iterations: expected at least {least}, got {iterations}")
    if lookahead is None:
        lookahead = max(1, sequence.iteration_steps)
    if lookahead < 1:
        raise SequenceError(f"lookahead: expected at least 1, got {lookahead}")
    sequence = sequence.unrolled()
    with one_thread():
        return _Player(sequence, iterations, machine, storage, lookahead, resumed, pace).run(on_iteration)


_Resource = TensorInfo | StreamRole | Port
"""A port stands for its processor, which computes one step after the other."""


@dataclass(frozen=True)
class _Needs:
    """The resources that a step needs exclusively, and those that it shares with other steps."""

    exclusive: frozenset[_Resource]
    shared: frozenset[_Resource] = frozenset()


class _Player:
    def __init__(
        self, sequence: TrainingSequence, iterations: int, machine: Machine, storage: Storage, lookahead: int,
        resumed: bool, pace: Callable[[Compute], Pending[object]],
    ) -> None:  # fmt: skip
        self._before = 0 if resumed else len(sequence.prologue)
        self._sequence = sequence
        self._machine = machine
        self._storage = storage
        self._lookahead = lookahead
        self._pace = pace
        self._steps = sequence.steps(iterations)[len(sequence.prologue) - self._before :]
        self._dying = last_uses(self._steps)
        self._needs = cache(self._needs_of)
        self._memory: Arrays = {}
        self._in_flight: dict[int, Pending[Any]] = {}
        self._computing: dict[int, Arrays] = {}  # what steps that take time will give
        self._updates: list[Update] = []  # until all of the state stream are updated
        self._finished: set[int] = set()
        self._oldest = 0
        self._incoming_bytes = 0
        self._peak_bytes = 0
        self._most_in_flight = 0

    def run(self, on_iteration: Callable[[int], None]) -> Playback:
        before, length = self._before, len(self._sequence.iteration)
        after = len(self._steps) - len(self._sequence.epilogue)
        while self._oldest < len(self._steps):
            self._finish_what_is_done()
            self._start_what_can_start()
            if self._oldest not in self._finished:
                self._await_any()
            while self._oldest in self._finished:
                self._finished.remove(self._oldest)
                self._oldest += 1
                if before < self._oldest <= after and (self._oldest - before) % length == 0:
                    on_iteration((self._oldest - before) // length)
        return Playback(len(self._steps), self._peak_bytes, self._most_in_flight)

    def _start_what_can_start(self) -> None:
        """Start every step in sight that needs nothing that an unfinished one before it needs."""
        taken: set[_Resource] = set()
        shared: set[_Resource] = set()
        for index in range(self._oldest, min(self._oldest + self._lookahead, len(self._steps))):
            if index in self._finished:
                continue
            step = self._steps[index]
            needs = self._needs(step)
            if index not in self._in_flight:
                free = needs.exclusive.isdisjoint(taken | shared) and needs.shared.isdisjoint(taken)
                if free and self._start(index, step):
                    continue
            taken |= needs.exclusive
            shared |= needs.shared

    def _start(self, index: int, step: Step) -> bool:
        """Start a step; return whether it has finished already."""
        match step:
            case Compute():
                given = self._machine.compute(step, {name: self._memory[name] for name in step.takes})
                for name in step.gives:
                    self._sequence.by_name[name].spec.check(name, given[name])
                self._computing[index] = given
                self._in_flight[index] = self._pace(step)
                if self._in_flight[index].done:
                    self._finish(index)
                    return True
                return False
            case Append():
                tensor = self._sequence.by_name[step.tensor]
                self._in_flight[index] = self._storage.append(tensor, self._memory[step.tensor], step.port)
            case Read():
                tensor = self._sequence.by_name[step.tensor]
                self._in_flight[index] = self._storage.read(tensor, step.port)
                self._incoming_bytes += tensor.spec.bytes
            case Reset():
                self._in_flight[index] = self._storage.reset(step.stream, step.port)
            case Initialise():
                tensors = [self._sequence.by_name[name] for name in step.tensors]
                arrays = [self._memory[name] for name in step.tensors]
                self._in_flight[index] = self._storage.initialise(tensors, arrays, step.program, step.port)
            case Update():
                tensors = [self._sequence.by_name[name] for name in step.tensors]
                gradients = [self._memory[name] for name in step.gradients]
                constants = self._memory[step.constants]
                self._updates.append(step)
                self._in_flight[index] = self._storage.update(tensors, gradients, constants, step.port)
        self._note_peak()
        in_storage = len(self._in_flight) - len(self._computing)
        self._most_in_flight = max(self._most_in_flight, in_storage)
        return False

    def _await_any(self) -> None:
        """Wait until a step is done: not the oldest, which others need not depend on.

        The end of a compute step is a time, and not an event of the storage, so it is waited for.
        """
        oldest = min(self._computing or self._in_flight)
        self._in_flight[oldest].wait_beside([p for step, p in self._in_flight.items() if step != oldest])

    def _finish_what_is_done(self) -> None:
        for index in [index for index, pending in self._in_flight.items() if pending.done]:
            self._finish(index)

    def _finish(self, index: int) -> None:
        """Wait for a step in the storage and take what it brings."""
        step = self._steps[index]
        result = self._in_flight.pop(index).result()
        match step:
            case Read():
                spec = self._sequence.by_name[step.tensor].spec
                spec.check(step.tensor, result)
                self._memory[step.tensor] = result
                self._incoming_bytes -= spec.bytes
            case Compute():
                given = self._computing.pop(index)
                self._memory |= {name: given[name] for name in step.gives}
                self._note_peak()
            case Update():
                if result is not None:
                    self._machine.updated(self._updates, committed=result)
                    self._updates = []
        self._leave(index)

    def _leave(self, index: int) -> None:
        for name in self._dying[index]:
            del self._memory[name]
        self._finished.add(index)

    def _note_peak(self) -> None:
        resident = sum(array.nbytes for array in self._memory.values())
        self._peak_bytes = max(self._peak_bytes, resident + self._incoming_bytes)

    def _needs_of(self, step: Step) -> _Needs:
        match step:
            case Append() | Read():
                tensor = self._sequence.by_name[step.tensor]
                shared = frozenset() if tensor.stream is None else frozenset({tensor.stream})
                return _Needs(frozenset({tensor}), shared)
            case Reset():
                return _Needs(frozenset({step.stream}))
            case Compute():
                processor = processor_of(step.operation)
                tensors = (self._sequence.by_name[name] for name in (*uses(step), *defines(step)))
                return _Needs(frozenset({*tensors, processor}))
            case Initialise():
                tensors = (self._sequence.by_name[name] for name in step.tensors)
                return _Needs(frozenset({*tensors, StreamRole.STATE}))
            case Update():
                tensors = (self._sequence.by_name[name] for name in (*step.tensors, *step.gradients))
                shared = frozenset({self._sequence.by_name[step.constants]})
                if step not in self._sequence.completing:
                    return _Needs(frozenset(tensors), shared)
                # Weights are read before it or after it, not meanwhile.
                return _Needs(frozenset({*tensors, StreamRole.STATE}), shared)
            case Repeat():
                raise AssertionError("the sequence was unrolled")
