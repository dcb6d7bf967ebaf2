"""The tasks of a rank in an iteration.

All ranks do the same at the same time. A layer is gathered for each pass, and its gradients are scattered
behind its backward pass. The all-gather of a layer begins when the core begins the layer before, as FSDP2
prefetches. The dies update the shard, in the steps of `flashtrain.torch`: updates, an all-reduce of the
statistics, the record of the commit, the new weights, and the all-reduce that is the barrier.
"""

from dataclasses import dataclass
from enum import StrEnum

from flashtrain.platform.ranks.job import RankJob, RankLayer
from flashtrain.platform.ranks.link import RankLink
from flashtrain.platform.storage import Kind
from flashtrain.platform.tasks import Part, Side, Space, Task
from flashtrain.spec.streams import JOURNAL
from flashtrain.spec.update import WORD_BYTES
from flashtrain.training.sequence import StreamRole

STATISTICS_BYTES, BARRIER_BYTES = 64, 8
"""Bytes of the two all-reduces of a step, for each rank (`flashtrain.torch.ranks`)."""


class Weights(StrEnum):
    """The place of a rank's shard of the weights between its uses; its dies have it in any case."""

    FLASH = "flash"
    MEMORY = "memory"


@dataclass(frozen=True)
class RankChoices:
    """How a rank uses its device.

    - `weights`: FLASH reads the shard for each all-gather, MEMORY once behind the step.
    - `overlap`: the dies update a layer as soon as its gradients are scattered; otherwise all together.
    - `waits`: each operation waits for the flash, as with `save_on_flash`; otherwise reads go ahead and
      appends stay behind.
    """

    weights: Weights = Weights.FLASH
    overlap: bool = True
    waits: bool = False


def rank_plan(job: RankJob, link: RankLink, flops_per_second: float, choices: RankChoices) -> list[Task]:
    """The tasks of rank 0, whose shards are the largest; the core has so many FLOP per second."""
    planner = _Planner(job, link, flops_per_second, choices)
    for layer in job.layers:
        planner.forward(layer)
    for layer in reversed(job.layers):
        planner.backward(layer)
    planner.step()
    return planner.tasks


class _Planner:
    def __init__(self, job: RankJob, link: RankLink, flops_per_second: float, choices: RankChoices) -> None:
        self.tasks: list[Task] = []
        self._job = job
        self._link = link
        self._rate = flops_per_second
        self._choices = choices
        self._ends: list[Task] = []  # the last step of the core in each layer and pass so far
        self._stored: dict[str, Task] = {}
        self._last: Task | None = None  # what the next operation waits for, if operations wait
        self._scattered: list[tuple[str, int, Task]] = []  # names, parameters, reduce-scatters
        self._updates: list[Task] = []
        self._units: list[tuple[str, int]] = []  # names and parameters of what is updated together

    def forward(self, layer: RankLayer) -> None:
        gathered = self._gather(layer)
        for number in range(self._job.micro_batches):
            core = self._core("forward", layer, gathered, layer.flops / 3)
            for index, nbytes in enumerate(layer.saved):
                space = Space(Side.ACTIVATION, nbytes)
                core.takes.append(space)
                name = f"{layer.name}/{number}/{index}"
                append = self._request(Kind.APPEND, StreamRole.ACTIVATIONS, name, nbytes)
                self._stored[name] = append
                append.before.append(core)
                append.use(space)
                self._in_turn(append)

    def backward(self, layer: RankLayer) -> None:
        gathered = self._gather(layer)
        gradients = Space(Side.ACTIVATION, self._job.scattered_bytes(layer))
        core = None
        for number in reversed(range(self._job.micro_batches)):
            reads = []
            for index, nbytes in reversed(list(enumerate(layer.saved))):
                name = f"{layer.name}/{number}/{index}"
                read = self._request(Kind.READ, StreamRole.ACTIVATIONS, name, nbytes)
                read.before.append(self._stored[name])
                self._take(read, nbytes)
                self._in_turn(read)
                reads.append(read)
            first = core is None
            core = self._core("backward", layer, gathered, layer.flops * 2 / 3)
            if first and layer.shapes:
                core.takes.append(gradients)
            for read in reads:
                core.before.append(read)
                core.use(read.takes[0])
        if layer.shapes and core is not None:
            scatter = self._collective("scatter", layer.name, self._job.scattered_bytes(layer))
            scatter.before.append(core)
            scatter.use(gradients)
            self._take(scatter, layer.padded(self._job.ranks) * WORD_BYTES)
            self._scattered.append((layer.name, layer.shard(0, self._job.ranks), scatter))
            if self._choices.overlap:
                self._update(layer.name, [self._scattered[-1]])

    def step(self) -> None:
        if not self._choices.overlap:
            self._update("all layers", self._scattered)
        ranks = self._job.ranks
        agreed = self._all_reduce("statistics", ranks * STATISTICS_BYTES)
        agreed.before += self._updates
        record = self._request(Kind.APPEND, JOURNAL, "commit", 1)
        record.before.append(agreed)
        last = [record]
        if self._choices.weights is Weights.MEMORY:
            for name, parameters in self._units:
                read = self._weights(name, parameters)
                read.before.append(record)
                last.append(read)
        barrier = self._all_reduce("barrier", ranks * BARRIER_BYTES)
        barrier.before += last
        # The core's stall behind its last step is explained by what this waits for.
        self._task(Task("end", Part.CORE, before=[barrier]))

    def _task(self, task: Task) -> Task:
        self.tasks.append(task)
        return task

    def _take(self, task: Task, count: float) -> Space:
        space = Space(Side.ACTIVATION, count)
        task.takes.append(space)
        task.use(space)
        return space

    def _in_turn(self, task: Task) -> None:
        """Let the task wait for the one before, if operations wait."""
        if self._choices.waits:
            if self._last is not None:
                task.before.append(self._last)
            self._last = task

    def _gather(self, layer: RankLayer) -> Task | None:
        """The all-gather of a layer for a pass; None without parameters."""
        if not layer.shapes:
            return None
        shards = []
        if self._choices.weights is Weights.FLASH:
            name = layer.name if self._choices.overlap else "all layers"
            read = self._weights(name, layer.shard(0, self._job.ranks))
            self._take(read, layer.padded(self._job.ranks) * WORD_BYTES)
            shards.append(read)
        gather = self._collective("gather", layer.name, self._job.gathered_bytes(layer))
        gather.before += [*shards, *self._ends[-2:-1]]
        for read in shards:
            gather.use(read.takes[0])
        self._take(gather, self._job.gathered_bytes(layer))
        return gather

    def _core(self, operation: str, layer: RankLayer, gathered: Task | None, flops: float) -> Task:
        core = self._task(Task(f"{operation} {layer.name}", Part.CORE, flops / self._rate))
        if gathered is not None:
            core.before.append(gathered)
            core.use(gathered.takes[0])
        if self._ends and self._ends[-1].name == core.name:
            self._ends.pop()
        self._ends.append(core)
        self._in_turn(core)
        return core

    def _update(self, name: str, scattered: list[tuple[str, int, Task]]) -> None:
        """The dies update these shards."""
        parameters = sum(count for _, count, _ in scattered)
        update = self._request(Kind.UPDATE, StreamRole.STATE, f"state of {name}", parameters * WORD_BYTES)
        for _, _, scatter in scattered:
            update.before.append(scatter)
            update.use(scatter.takes[0])
        self._updates.append(update)
        self._units.append((name, parameters))

    def _weights(self, name: str, parameters: int) -> Task:
        read = self._request(Kind.READ, StreamRole.STATE, f"state of {name}", parameters * WORD_BYTES)
        read.weights_only = True
        return read

    def _collective(self, operation: str, name: str, count: int) -> Task:
        seconds = self._link.ring(self._job.ranks, count)
        return self._task(Task(f"{operation} {name}", Part.COLLECTIVES, seconds, bytes=count))

    def _all_reduce(self, name: str, count: int) -> Task:
        seconds = self._link.all_reduce(self._job.ranks, count)
        return self._task(Task(f"reduce {name}", Part.COLLECTIVES, seconds, bytes=count))

    def _request(self, kind: Kind, stream: str, tensor: str, count: float) -> Task:
        named = Task(
            f"{kind} {tensor}", Part.STORAGE, kind=kind, bytes=count, stream=str(stream), tensor=tensor
        )
        return self._task(named)
