"""Runs real jobs on one accelerator, in the tensor buffer of a device, by a memory policy.

Time is the number of iterations of all jobs. Moves take none of it, so that a restore on demand is in time;
the device counts their cycles.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from flashtrain.checkpoint.memory.errors import JobError, JobTooLarge
from flashtrain.checkpoint.memory.managed_job import ManagedJob
from flashtrain.checkpoint.memory.memory_pool import MemoryPool
from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, Place, Turn
from flashtrain.checkpoint.memory.schedule import Scheduler


@dataclass(eq=False)
class RunningJob:
    """A job of a `JobRunner`: what policies and scheduler see of it."""

    job: ManagedJob
    pool: MemoryPool
    turn: Turn = Turn.READY
    due: float = inf
    iteration: int = 0
    ready_since: float = 0.0
    ready_at: float = 0.0
    quantum_end: float = inf
    quantum_over: bool = False
    last_computed: float = -inf
    priority: int = 0
    rank: int = 0
    granted: bool = False

    @property
    def name(self) -> str:
        return self.job.name

    @property
    def place(self) -> Place:
        return Place.RESIDENT if self.pool.is_resident(self.job) else Place.FREED

    @property
    def lacking_bytes(self) -> int:
        return self.job.layout.nbytes - self.evictable_bytes

    @property
    def evictable_bytes(self) -> int:
        return self.job.layout.nbytes if self.pool.is_resident(self.job) else 0

    @property
    def remaining_seconds(self) -> float:
        return self.job.iterations - self.iteration


@dataclass(frozen=True)
class SwitchReport:
    """The cost of the memory of jobs, in bytes and cycles of the device.

    Members
    -------
    peak_bytes: of regions that jobs held; saves, restores: of whole jobs.
    """

    peak_bytes: int
    saves: int
    restores: int
    saved_bytes: int
    restored_bytes: int
    save_cycles: int
    restore_cycles: int
    zones_reset: int


class JobRunner:
    """The node of the real jobs, as their policy sees it.

    `quantum_iterations`: of a job, before another that is ready gets the accelerator.
    """

    accelerators = 1

    def __init__(
        self, pool: MemoryPool, jobs: Sequence[ManagedJob], policy: MemoryPolicy, quantum_iterations: int
    ) -> None:
        if policy.demand_paged:
            raise JobError(f"policy {policy.name} pages on demand; expected one that moves whole jobs")
        if quantum_iterations < 1:
            raise JobError(f"a quantum of {quantum_iterations} iterations; expected at least 1")
        if len({job.name for job in jobs}) != len(jobs):
            raise JobError(f"jobs named {[job.name for job in jobs]}; expected distinct names")
        self.now = 0.0
        self.dram_bytes = pool.free_bytes
        self._pool = pool
        self._policy = policy
        self._quantum = quantum_iterations
        self.quantum_seconds = float(quantum_iterations)
        # Equal priorities: jobs take turns, and none grows old.
        self._scheduler = Scheduler(quantum_iterations, inf)
        self.jobs = [RunningJob(job, pool) for job in jobs]
        self._saves = self._restores = 0

    @property
    def free_bytes(self) -> int:
        return self._pool.free_bytes

    def restore_seconds(self, job: JobView) -> float:
        return 0.0

    def save_seconds(self, job: JobView) -> float:
        return 0.0

    def run(self, progress: Callable[[str, int], None] = lambda name, iteration: None) -> SwitchReport:
        """Run all jobs to their ends; `progress` is called after each quantum.

        :class:`JobTooLarge` for a job that the tensor buffer does not hold, whatever else is saved.
        """
        for job in self.jobs:
            if job.job.layout.nbytes > self.dram_bytes:
                raise self._too_large(job)
        while any(job.turn is not Turn.FINISHED for job in self.jobs):
            running = self._next()
            self._compute(running)
            progress(running.name, running.iteration)
        pool = self._pool
        return SwitchReport(
            pool.peak_bytes, self._saves, self._restores, pool.saved_bytes, pool.restored_bytes,
            pool.save_cycles, pool.restore_cycles, pool.zones_reset,
        )  # fmt: skip

    def _next(self) -> RunningJob:
        """The job that computes next, which is resident then."""
        admitted = [self._running(job) for job in self._policy.admitted(self)]
        self._scheduler.assign_due(admitted, self.accelerators, self.now)
        while (chosen := self._policy.next_restore(self)) is not None:
            self._restore(self._running(chosen))
        resident = [job for job in admitted if job.place is Place.RESIDENT]
        if not resident:
            raise JobError(f"policy {self._policy.name} makes no job resident")
        return min(resident, key=lambda job: self._scheduler.key(job, self.now))

    def _running(self, job: JobView) -> RunningJob:
        assert isinstance(job, RunningJob)
        return job

    def _restore(self, running: RunningJob) -> None:
        while not self._pool.restore(running.job):
            victim = self._policy.victim(self, running)
            if victim is None:
                raise self._too_large(running)
            self._pool.save(self._running(victim).job)
            self._saves += 1
        self._restores += running.iteration > 0

    def _too_large(self, running: RunningJob) -> JobTooLarge:
        return JobTooLarge(
            f"job {running.name} needs {running.job.layout.nbytes} bytes; {self._pool.free_bytes} of the"
            f" tensor buffer's {self.dram_bytes} are free, and policy {self._policy.name} frees no other job"
        )

    def _compute(self, running: RunningJob) -> None:
        """A quantum of iterations."""
        arrays = self._pool.arrays(running.job)
        for _ in range(min(self._quantum, running.job.iterations - running.iteration)):
            running.job.step(arrays)
            running.iteration += 1
            self.now += 1
        running.ready_since = running.ready_at = running.last_computed = self.now
        del arrays
        if running.iteration == running.job.iterations:
            running.turn = Turn.FINISHED
            self._pool.release(running.job)
