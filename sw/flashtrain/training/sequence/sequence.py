"""The training command sequence: a program of steps, and the rules that a sound one keeps."""

from dataclasses import dataclass
from functools import cached_property

from flashtrain.spec.streams import SINGLE_NODE, Access, Port
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence.steps import (
    LAYERLESS,
    Append,
    Compute,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    defines,
    uses,
)

PHASES = ("prologue", "iteration", "epilogue")


@dataclass(frozen=True)
class TrainingSequence:
    """`prologue` once, then `iteration` as often as there are iterations, then `epilogue` once.

    `network` and `optimizer` say what the sequence was made for; `batch` is the number of examples of one
    iteration. Steps are listed in an order in which they can be carried out one by one. Two steps may overlap
    or change places if they share no tensor and no reset, and if they are not both compute steps.

    A tensor is in memory from the step that defines it (a read, or a compute step that gives it) to the last
    step that uses it before it is defined again. Raises `SequenceError`, naming phase and step, if a step
    names an unknown tensor, if its port has no right to what it does, if it uses what is not in memory, or
    reads what is not stored.
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


class _Check:
    """Walks through a sequence, with what is in memory and what is stored at each step."""

    def __init__(self, sequence: TrainingSequence) -> None:
        self.sequence = sequence
        self.memory: set[str] = set()
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
        for name in (*uses(step), *defines(step)):
            if name not in self.sequence.by_name:
                raise SequenceError(f"{where}: no tensor is called {name}")
        for name in uses(step):
            if name not in self.memory:
                raise SequenceError(f"{where}: uses {name}, which is not in memory")
        match step:
            case Append():
                self._permit(where, step.port, Access.APPEND, self._stream(step.tensor))
                self.stored.add(step.tensor)
            case Read():
                self._permit(where, step.port, Access.READ, self._stream(step.tensor))
                if step.tensor not in self.stored:
                    raise SequenceError(f"{where}: reads {step.tensor}, which is not stored")
            case Reset():
                self._permit(where, step.port, Access.APPEND, step.stream)
                self.stored = {name for name in self.stored if self._stream(name) != step.stream}
            case Compute():
                if (step.layer == "") != (step.operation in LAYERLESS):
                    raise SequenceError(f"{where}: {step.operation} with layer {step.layer!r}")
        self.memory.update(defines(step))

    def _stream(self, tensor: str) -> StreamRole:
        return self.sequence.by_name[tensor].stream

    def _permit(self, where: str, port: Port, access: Access, stream: StreamRole) -> None:
        if access not in SINGLE_NODE.named(stream).access(port):
            verb = "read" if access is Access.READ else "append to or reset"
            raise SequenceError(f"{where}: the {port.name.lower()} port may not {verb} the stream {stream}")
