"""The training command sequence: a program of steps, and the rules that a sound one keeps."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from flashtrain.reading import repeated
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence.check import SoundnessCheck
from flashtrain.training.sequence.loops import placeholders, unrolled, unrolled_tensors, with_times
from flashtrain.training.sequence.steps import (
    Index,
    Initialise,
    Step,
    TensorInfo,
    Update,
    UpdatePlace,
    defines,
    uses,
)

PHASES = ("prologue", "iteration", "epilogue")

MOST_STEPS = 1 << 20
"""Of a sequence without its loops, tensors counted with them: more than a simulator plays in a day."""

_INDEX = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class TrainingSequence:
    """`prologue` once, then `iteration` as often as there are iterations, then `epilogue` once.

    `network` and `optimizer` say what the sequence was made for; `batch` is the number of examples of one
    iteration. Steps are listed in an order in which they can be carried out one by one. Two steps may overlap
    or change places if they share no tensor and no reset, and if they are not both compute steps.

    A read, or a compute step with the tensor as a result, defines a tensor. It is in memory from there to the
    last use before its next definition; an update on the dies leaves no old weights there. Host and core have
    separate memories, and tensors pass between them through streams alone. The state stream is initialised
    once, in the prologue. Only updates change it, and those of an iteration are of all of it.

    A sequence may have loops over `indices`. A tensor or layer with an index in its name stands for one of
    each value; a step names it in a loop over that index. A loop takes all values, so after it all of these
    tensors are stored, or in memory, if each was in its turn. In loops no stream is reset or updated, and the
    core alone computes. The soundness of a sequence thus does not depend on the counts.

    Raises `SequenceError`, with phase and step, in these cases:

    - A step names an unknown tensor.
    - A step's port has no right to its operation.
    - A step uses a tensor that is not in memory, or reads one that is not stored.
    - A loop or a name has an unknown index, or a step is not allowed in a loop.
    """

    network: str
    optimizer: str
    batch: int
    tensors: tuple[TensorInfo, ...]
    prologue: tuple[Step, ...]
    iteration: tuple[Step, ...]
    epilogue: tuple[Step, ...]
    indices: tuple[Index, ...] = ()

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise SequenceError(f"batch: expected at least 1, got {self.batch}")
        if len(self.by_name) != len(self.tensors):
            twice = repeated(tensor.name for tensor in self.tensors)
            raise SequenceError(f"tensors: the name {twice} is not unique")
        self._check_indices()
        check = SoundnessCheck(self.by_name, self.counts)
        # The second pass through the iteration starts from what the first one left.
        for phase in ("prologue", "iteration", "iteration", "epilogue"):
            check.run(phase, getattr(self, phase))

    @cached_property
    def by_name(self) -> dict[str, TensorInfo]:
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def counts(self) -> dict[str, int]:
        """The counts of the indices, by name."""
        return {index.name: index.count for index in self.indices}

    @cached_property
    def state(self) -> Initialise | None:
        """The step that initialises the state stream, if there is one."""
        return next((step for step in self.prologue if isinstance(step, Initialise)), None)

    @property
    def update(self) -> UpdatePlace:
        return UpdatePlace.CORE if self.state is None else UpdatePlace.DIE

    @cached_property
    def completing(self) -> frozenset[Update]:
        """The updates with which all of the state stream are updated."""
        missing: set[str] = set()
        found = set[Update]()
        for step in self.iteration:
            if isinstance(step, Update) and self.state is not None:
                missing = (missing or set(self.state.tensors)).difference(step.tensors)
                if not missing:
                    found.add(step)
        return frozenset(found)

    @property
    def overlaps(self) -> bool:
        """Whether the dies begin an update before all gradients are there."""
        return any(isinstance(step, Update) and step not in self.completing for step in self.iteration)

    @property
    def iteration_steps(self) -> int:
        """Steps of an iteration without its loops."""
        return self._steps_of(self.iteration)

    def steps(self, iterations: int) -> list[Step]:
        """All steps of a run of `iterations`, without loops."""
        prologue, iteration, epilogue = (
            tuple(unrolled(steps, self.counts)) for steps in (self.prologue, self.iteration, self.epilogue)
        )
        return [*prologue, *(iteration * iterations), *epilogue]

    def unrolled(self) -> "TrainingSequence":
        """The same sequence without loops. Raises `SequenceError` if it has more than `MOST_STEPS` steps."""
        if not self.indices:
            return self
        tensors = sum(prod(self.counts[name] for name in set(placeholders(t.name))) for t in self.tensors)
        steps = tensors + sum(self._steps_of(getattr(self, phase)) for phase in PHASES)
        if steps > MOST_STEPS:
            raise SequenceError(
                f"{self.network} has {steps} steps and tensors; expected at most {MOST_STEPS}"
            )
        return replace(
            self,
            tensors=tuple(t for tensor in self.tensors for t in unrolled_tensors(tensor, self.counts)),
            prologue=tuple(unrolled(self.prologue, self.counts)),
            iteration=tuple(unrolled(self.iteration, self.counts)),
            epilogue=tuple(unrolled(self.epilogue, self.counts)),
            indices=(),
        )

    def _steps_of(self, steps: tuple[Step, ...]) -> int:
        return sum(times for _, times in with_times(steps, self.counts))

    def _check_indices(self) -> None:
        for index in self.indices:
            if not _INDEX.fullmatch(index.name) or index.count < 1:
                raise SequenceError(
                    f"indices: {index.name!r} to {index.count}; expected a name of lower-case letters, digits"
                    " and '_', and at least 1"
                )
        if len(self.counts) != len(self.indices):
            raise SequenceError(f"indices: expected different names, got {[i.name for i in self.indices]}")
        for tensor in self.tensors:
            for name in placeholders(tensor.name):
                if name not in self.counts:
                    raise SequenceError(f"tensors: {tensor.name} has no known index {name!r}")


def last_uses(steps: list[Step]) -> list[tuple[str, ...]]:
    """The tensors in memory that no later step needs, for each step: they leave memory after it."""
    dying: list[tuple[str, ...]] = []
    needed: set[str] = set()
    for step in reversed(steps):
        touched = dict.fromkeys((*uses(step), *defines(step)))
        dying.append(tuple(name for name in touched if name not in needed))
        needed.difference_update(defines(step))
        needed.update(uses(step))
    return dying[::-1]
