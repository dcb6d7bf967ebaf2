"""A job while it is simulated."""

from dataclasses import dataclass, field
from math import ceil, inf

from flashtrain.checkpoint.memory.job import Job
from flashtrain.checkpoint.memory.memory_part import MemoryPart
from flashtrain.checkpoint.memory.node import Node
from flashtrain.checkpoint.memory.policy import Place, Turn

BOUNDARY = 1e-6
"""Of an iteration: a time that is so close to its end is its end."""


@dataclass(eq=False)
class JobRun:
    """State of a job on a node: its memory, its turn, and what it has done.

    Members
    -------
    buffers, state, dataset: the parts of its memory; `parts` in the order in which they are freed.
    rank: its priority when its run began, aged.
    loaded: it was resident once.
    iteration: iterations that are done; run_iterations: that the run in progress does.
    stopped: the time at which it became ready, or stopped to compute.
    run: counts runs, so that events of earlier ones are recognised.
    cut: the run ends at the end of an iteration, in favour of another job.
    releasing: its memory is to be saved when its run ends.
    """

    job: Job
    quantum_seconds: float
    buffers: MemoryPart
    state: MemoryPart
    dataset: MemoryPart
    place: Place = Place.FREED
    turn: Turn = Turn.ABSENT
    due: float = inf
    loaded: bool = False
    accelerator: int | None = None
    iteration: int = 0
    next_wait: int = 0
    ready_since: float = 0.0
    stopped: float = 0.0
    ready_at: float = inf
    rank: int = 0
    run: int = 0
    run_start: float = 0.0
    run_iterations: int = 0
    quantum_end: float = inf
    quantum_over: bool = False
    cut: bool = False
    releasing: bool = False
    last_computed: float = -inf
    completion: float = 0.0
    computing: float = 0.0
    stall: float = 0.0
    longest_ready: float = 0.0
    saves: int = 0
    restores: int = 0
    written: int = 0
    read: int = 0
    parts: tuple[MemoryPart, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.parts = (self.buffers, self.dataset, self.state)

    @classmethod
    def of(cls, job: Job, node: Node, demand_paged: bool) -> "JobRun":
        """demand_paged: as the operating system sees it. Pinned buffers stay, and the data set is memory
        without a file behind it."""
        f, on_dies = job.footprint, node.store.state_on_dies
        state = f.weights_bytes if on_dies else f.state_bytes
        return cls(
            job,
            node.quantum_seconds,
            MemoryPart(f.buffer_bytes, durable=True, without_content=True, pinned=demand_paged),
            MemoryPart(state, durable=on_dies),
            MemoryPart(f.dataset_bytes, durable=not demand_paged),
        )

    @property
    def name(self) -> str:
        return self.job.name

    @property
    def priority(self) -> int:
        return self.job.priority

    @property
    def lacking_bytes(self) -> int:
        return sum(self.lacking())

    @property
    def held_bytes(self) -> int:
        return sum(part.bytes for part in self.parts)

    @property
    def resident_bytes(self) -> int:
        return sum(part.resident for part in self.parts)

    @property
    def evictable_bytes(self) -> int:
        return sum(part.resident for part in self.parts if not part.pinned)

    @property
    def granted(self) -> bool:
        return self.accelerator is not None

    @property
    def run_end(self) -> float:
        return self.run_start + self.run_iterations * self.job.iteration_seconds

    @property
    def until_wait(self) -> int:
        """Iterations to the next wait, or to the end."""
        waits = self.job.waits
        end = waits[self.next_wait].iteration if self.next_wait < len(waits) else self.job.iterations
        return end - self.iteration

    @property
    def remaining_seconds(self) -> float:
        return self.until_wait * self.job.iteration_seconds

    def boundary(self, now: float) -> int:
        """Iterations of the run that have begun by `now`; at least one."""
        return max(1, ceil((now - self.run_start) / self.job.iteration_seconds - BOUNDARY))

    def reads(self, part: MemoryPart) -> bool:
        """Whether a load of `part` reads its content: the state of a new job is made, not read."""
        return not part.without_content and (self.loaded or part is self.dataset or part.durable)

    def lacking(self) -> tuple[int, int, int]:
        """Bytes of buffers, state and data set that the next quantum needs and DRAM lacks.

        A job loads its data set whole at first. Later a quantum reads samples of it, of which DRAM has the
        same share as of all of them.
        """
        data = self.dataset
        lacking = data.missing
        if self.loaded and lacking:
            quantum_iterations = ceil(self.quantum_seconds / self.job.iteration_seconds)
            touched = min(self.until_wait, quantum_iterations) * self.job.batch_bytes
            lacking = -(-min(data.bytes, touched) * lacking // data.bytes)
        return self.buffers.missing, self.state.missing, lacking
