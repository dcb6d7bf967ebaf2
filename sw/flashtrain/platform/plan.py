"""From a training command sequence to the tasks of one iteration on a platform.

Inputs and activations lie on the activation nodes, which divide the micro-batches among them. Weights, state
and trained weights lie on the weight nodes, which divide them evenly. A read of weights by an activation node
goes through the storage of the weight nodes and the link. Gradients go over the link, and the weight nodes
update. Steps of the host and resets take no time.
"""

from collections.abc import Iterable
from dataclasses import replace

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.nodes import Platform
from flashtrain.platform.storage import Kind
from flashtrain.platform.tasks import STORAGE_OF, Part, Side, Space, Task
from flashtrain.spec.streams import Port
from flashtrain.training.sequence import (
    Append,
    Compute,
    Index,
    Operation,
    Read,
    Step,
    StreamRole,
    TrainingSequence,
    Update,
)
from flashtrain.training.sequence.steps import defines, processor_of, uses

WEIGHT_ROLES = (StreamRole.WEIGHTS, StreamRole.STATE, StreamRole.TRAINED)


def plan(sequence: TrainingSequence, platform: Platform, parallel: str = "micro_batch") -> list[Task]:
    """The tasks of an iteration, in the order of its steps.

    `parallel` is the index of the loops that the activation nodes divide among them. Raises `PlatformError`
    if it does not divide evenly.
    """
    nodes = platform.activation_nodes
    if nodes > 1:
        sequence = _of_one_node(sequence, nodes, parallel)
    flat = sequence.unrolled()
    _require_fit(flat, platform)
    planner = _Planner(flat, platform)
    for step, sides in zip(flat.iteration, _sides_of(flat.iteration), strict=True):
        planner.add(step, sides)
    return planner.tasks


def _of_one_node(sequence: TrainingSequence, nodes: int, parallel: str) -> TrainingSequence:
    count = sequence.counts.get(parallel)
    if count is None:
        raise PlatformError(f"{sequence.network} has no index {parallel!r} that {nodes} nodes could share")
    if count % nodes:
        raise PlatformError(
            f"{nodes} activation nodes for {count} of {parallel!r} in {sequence.network}; expected a divisor"
        )
    indices = tuple(
        Index(index.name, count // nodes) if index.name == parallel else index for index in sequence.indices
    )
    return replace(sequence, indices=indices)


def _require_fit(sequence: TrainingSequence, platform: Platform) -> None:
    """Raise `PlatformError` unless one version of each tensor fits into the storage of its side."""
    stored = dict.fromkeys(Side, 0.0)
    for tensor in sequence.tensors:
        if tensor.stream in WEIGHT_ROLES:
            stored[Side.WEIGHT] += tensor.spec.bytes / platform.weight_nodes
        elif tensor.stream is not None:
            stored[Side.ACTIVATION] += tensor.spec.bytes
    nodes = {Side.ACTIVATION: platform.activation, Side.WEIGHT: platform.weight}
    for side, node in nodes.items():
        capacity = node.storage.capacity_bytes
        if stored[side] > capacity:
            raise PlatformError(
                f"{sequence.network} stores {stored[side] / 1e9:,.0f} GB on each {side.value};"
                f" expected at most {capacity / 1e9:,.0f} GB, the capacity of storage {node.storage.name}"
            )


def _side_of(step: Step) -> Side:
    """The side on which a step uses its tensors."""
    if isinstance(step, Update) or (isinstance(step, Compute) and step.operation is Operation.UPDATE):
        return Side.WEIGHT
    return Side.ACTIVATION


def _sides_of(steps: Iterable[Step]) -> list[set[Side]]:
    """For each read, the sides on which its tensor is used before it is read or given again."""
    found: list[set[Side]] = []
    users: dict[str, set[Side]] = {}
    for step in reversed(list(steps)):
        here: set[Side] = set()
        for name in defines(step):
            here |= users.pop(name, set())
        found.append(here)
        if not isinstance(step, Append):
            for name in uses(step):
                users.setdefault(name, set()).add(_side_of(step))
    return found[::-1]


class _Planner:
    def __init__(self, sequence: TrainingSequence, platform: Platform) -> None:
        self.tasks: list[Task] = []
        self._platform = platform
        self._tensors = sequence.by_name
        self._present: dict[tuple[Side, str], tuple[Task, Space]] = {}
        """The task that brings a tensor to a side, and its space there."""
        self._stored: dict[str, Task] = {}

    def add(self, step: Step, sides: set[Side]) -> None:
        match step:
            case Read() if step.port is Port.CORE:
                self._read(step.tensor, sides)
            case Append() if step.port is Port.CORE:
                self._append(step.tensor)
            case Compute() if processor_of(step.operation) is Port.CORE:
                self._compute(step)
            case Update():
                self._update(step)
            case _:
                pass

    def _task(self, task: Task) -> Task:
        self.tasks.append(task)
        return task

    def _bytes(self, name: str, side: Side) -> float:
        """Bytes of a tensor on each node of a side: the weight nodes divide it among them."""
        nodes = self._platform.weight_nodes if side is Side.WEIGHT else 1
        return self._tensors[name].spec.bytes / nodes

    def _take(self, task: Task, side: Side, name: str) -> None:
        """The task brings the tensor to this side."""
        space = Space(side, self._bytes(name, side))
        task.takes.append(space)
        task.use(space)
        self._present[side, name] = task, space

    def _use(self, task: Task, side: Side, name: str) -> None:
        """The task uses the tensor on this side."""
        if (side, name) in self._present:
            brought, space = self._present[side, name]
            if brought is not task:
                task.before.append(brought)
            task.use(space)

    def _read(self, name: str, sides: set[Side]) -> None:
        role = self._tensors[name].stream
        side = Side.WEIGHT if role in WEIGHT_ROLES else Side.ACTIVATION
        read = self._task(self._request(Kind.READ, name, side))
        if name in self._stored:
            read.before.append(self._stored[name])
        if side is Side.ACTIVATION or Side.WEIGHT in sides:
            self._take(read, side, name)
        if side is Side.WEIGHT and Side.ACTIVATION in sides:
            seconds = self._tensors[name].spec.bytes / self._platform.link_bytes_per_second
            moved = self._task(Task(f"move {name}", Part.WEIGHTS_IN, seconds, before=[read]))
            # The space is taken before the read, so that what was read can leave the weight nodes.
            self._take(moved, Side.ACTIVATION, name)
            read.takes.append(moved.takes.pop())

    def _request(self, kind: Kind, name: str, side: Side) -> Task:
        """A request for a tensor to the storage of a side."""
        stream = str(self._tensors[name].stream)
        return Task(
            f"{kind} {name}",
            STORAGE_OF[side],
            kind=kind,
            bytes=self._bytes(name, side),
            stream=stream,
            tensor=name,
        )

    def _append(self, name: str) -> None:
        role = self._tensors[name].stream
        side = Side.WEIGHT if role in WEIGHT_ROLES else Side.ACTIVATION
        append = self._request(Kind.APPEND, name, side)
        self._use(append, side, name)
        self._stored[name] = self._task(append)

    def _compute(self, step: Compute) -> None:
        side = _side_of(step)
        node = self._platform.weight if side is Side.WEIGHT else self._platform.activation
        part = Part.WEIGHT_CORE if side is Side.WEIGHT else Part.CORE
        nodes = self._platform.weight_nodes if side is Side.WEIGHT else 1
        task = Task(
            f"{step.operation} {step.layer}".strip(), part, step.duration(node.flops_per_second) / nodes
        )
        for name in step.takes:
            if side is Side.WEIGHT:
                self._to_weight_nodes(name)
            self._use(task, side, name)
        for name in step.gives:
            if (side, name) in self._present and name in step.takes:
                self._present[side, name] = task, self._present[side, name][1]
            else:
                self._take(task, side, name)
        self._task(task)

    def _to_weight_nodes(self, name: str) -> None:
        """Move a tensor that only an activation node has."""
        if (Side.WEIGHT, name) in self._present or (Side.ACTIVATION, name) not in self._present:
            return
        seconds = self._tensors[name].spec.bytes / self._platform.link_bytes_per_second
        moved = Task(f"move {name}", Part.GRADIENTS_OUT, seconds)
        self._use(moved, Side.ACTIVATION, name)
        self._take(moved, Side.WEIGHT, name)
        self._task(moved)

    def _update(self, step: Update) -> None:
        """The dies update: gradients go into the storage of the weight nodes, tensor by tensor."""
        for weights, gradient in zip(step.tensors, step.gradients, strict=True):
            self._to_weight_nodes(gradient)
            update = Task(
                f"update {weights}",
                Part.WEIGHT_STORAGE,
                kind=Kind.UPDATE,
                bytes=self._bytes(gradient, Side.WEIGHT),
                stream=str(StreamRole.STATE),
                tensor=f"state of {weights}",
            )
            self._use(update, Side.WEIGHT, gradient)
            self._stored[weights] = self._task(update)
