"""A discrete-event simulation of jobs that share a node.

Time advances from event to event: a job arrives, its data arrive, its quantum or its run ends, a chunk of a
transfer ends, or a policy has asked for it. After the events of an instant these steps follow, until nothing
changes:

1. The policy chooses the job whose restore begins, and the jobs that release memory for it.
2. Jobs that compute make way for jobs that outrank them, at the end of an iteration.
3. Transfers move chunks. A restore takes the memory of a chunk before its read, and a save frees it after
   its write.
4. Idle accelerators go to jobs that are ready.
"""

from collections.abc import Sequence
from enum import Enum, auto
from heapq import heappop, heappush
from itertools import count
from math import ceil, inf

from flashtrain.checkpoint.memory.errors import JobError, JobTooLarge
from flashtrain.checkpoint.memory.job import Job
from flashtrain.checkpoint.memory.job_run import JobRun
from flashtrain.checkpoint.memory.node import Node
from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, Place, Turn
from flashtrain.checkpoint.memory.recording import Recording
from flashtrain.checkpoint.memory.report import NodeReport
from flashtrain.checkpoint.memory.schedule import Scheduler
from flashtrain.checkpoint.memory.transfer_engine import TransferEngine
from flashtrain.checkpoint.memory.transfers import Transfer, restore_of, save_of


class Event(Enum):
    """Something that happens at a time; the end of a quantum, of a run and of a chunk has a number."""

    ARRIVAL = auto()
    DATA = auto()
    QUANTUM = auto()
    RUN = auto()
    CHUNK = auto()
    WAKE = auto()


def simulate(node: Node, jobs: Sequence[Job], policy: MemoryPolicy) -> NodeReport:
    """Play all jobs to their ends.

    :class:`JobTooLarge` when the memory is too small for a job, or for all where the policy needs that.
    """
    return NodeSimulation(node, jobs, policy).run()


class NodeSimulation:
    """One run of :func:`simulate`; the policy's view of the node."""

    def __init__(self, node: Node, jobs: Sequence[Job], policy: MemoryPolicy) -> None:
        if len({job.name for job in jobs}) != len(jobs) or not jobs:
            raise JobError(f"jobs named {[job.name for job in jobs]}; expected distinct names, at least one")
        self.node = node
        self.policy = policy
        self.now = 0.0
        self.accelerators = node.accelerators
        self.quantum_seconds = node.quantum_seconds
        self.dram_bytes = node.dram_bytes
        self._runs = [JobRun.of(job, node, policy.demand_paged) for job in jobs]
        self._check_fits()
        self._scheduler = Scheduler(node.quantum_seconds, node.aging_seconds)
        self._recording = Recording(self._runs)
        self._engine = TransferEngine(node, self._recording)
        self._idle = list(range(node.accelerators))
        self._events: list[tuple[float, int, Event, JobRun | None, int]] = []
        self._numbers = count()
        self._wake = inf
        for run in self._runs:
            self._post(run.job.arrival_seconds, Event.ARRIVAL, run)

    # The policy's view.

    @property
    def jobs(self) -> Sequence[JobRun]:
        return [run for run in self._runs if run.turn is not Turn.ABSENT]

    @property
    def free_bytes(self) -> int:
        return self._engine.free_bytes

    def restore_seconds(self, job: JobView) -> float:
        run = self._run_of(job)
        parts = (run.buffers, run.state, run.dataset)
        read = sum(n for part, n in zip(parts, run.lacking(), strict=True) if run.reads(part))
        return read / self.node.store.read_bytes_per_second

    def save_seconds(self, job: JobView) -> float:
        unsaved = sum(part.unsaved for part in self._run_of(job).parts)
        return unsaved / self.node.store.write_bytes_per_second

    # The simulation.

    def run(self) -> NodeReport:
        while self._events:
            self._advance(self._events[0][0])
            while self._events and self._events[0][0] <= self.now:
                _, _, kind, run, number = heappop(self._events)
                self._happen(kind, run, number)
            self._settle()
        unfinished = [run.name for run in self._runs if run.turn is not Turn.FINISHED]
        if unfinished:
            raise JobError(f"{self.policy.name}: jobs {', '.join(unfinished)} never finish")
        return self._recording.report(self.policy.name, self.node)

    def _check_fits(self) -> None:
        if self.policy.needs_all_resident:
            needed, what = sum(run.held_bytes for run in self._runs), "all jobs"
        elif self.policy.demand_paged:
            pinned = sum(run.buffers.bytes for run in self._runs)
            largest = max(self._runs, key=lambda run: run.held_bytes - run.buffers.bytes)
            needed, what = pinned + largest.held_bytes - largest.buffers.bytes, f"job {largest.name}"
        else:
            largest = max(self._runs, key=lambda run: run.held_bytes)
            needed, what = largest.held_bytes, f"job {largest.name}"
        if needed > self.dram_bytes:
            raise JobTooLarge(
                f"{self.policy.name}: {what} needs {needed} bytes of DRAM; the node has {self.dram_bytes}"
            )

    def _post(self, time: float, kind: Event, run: JobRun | None = None, number: int = 0) -> None:
        heappush(self._events, (time, next(self._numbers), kind, run, number))

    def _advance(self, to: float) -> None:
        self._charge_stalls(to - self.now)
        self.now = to
        self._recording.now = to

    def _charge_stalls(self, seconds: float) -> None:
        """A stall is an accelerator's time: at most as many jobs stall as accelerators are idle."""
        lacking = [
            run for run in self._admitted() if run.turn is Turn.READY and run.place is not Place.RESIDENT
        ]
        granted = [run for run in lacking if run.granted]
        others = sorted(
            (run for run in lacking if not run.granted), key=lambda r: self._scheduler.key(r, self.now)
        )
        for run in (*granted, *others[: len(self._idle)]):
            run.stall += seconds

    def _happen(self, kind: Event, run: JobRun | None, number: int) -> None:
        if kind is Event.CHUNK:
            self._engine.end_chunk(number)
        elif run is None:
            self._wake = inf
        elif kind is Event.ARRIVAL:
            self._begin_wait_or_ready(run)
        elif kind is Event.DATA:
            self._make_ready(run)
        elif run.run == number and kind is Event.QUANTUM:
            run.quantum_over = True
        elif run.run == number:
            self._end_run(run)

    def _settle(self) -> None:
        changed = True
        while changed:
            self._scheduler.assign_due(self._admitted(), self.accelerators, self.now)
            changed = self._begin_restore()
            self._make_room()
            self._preempt()
            for time, number in self._engine.pump(self.now):
                self._post(time, Event.CHUNK, number=number)
            for transfer in self._engine.finished():
                self._end_transfer(transfer)
                changed = True
            changed |= self._dispatch()
        self._recording.note()
        wake = self.policy.wake(self) if self._engine.restoring is None else inf
        if self.now < wake < self._wake:
            self._wake = wake
            self._post(wake, Event.WAKE)

    def _admitted(self) -> list[JobRun]:
        return [self._run_of(job) for job in self.policy.admitted(self)]

    def _run_of(self, job: JobView) -> JobRun:
        assert isinstance(job, JobRun)
        return job

    # Turns.

    def _begin_wait_or_ready(self, run: JobRun) -> None:
        waits = run.job.waits
        if run.next_wait < len(waits) and waits[run.next_wait].iteration == run.iteration:
            wait = waits[run.next_wait]
            run.next_wait += 1
            run.turn = Turn.WAITING
            end = self.now + wait.seconds
            run.ready_at = end if wait.planned else inf
            self._post(end, Event.DATA, run)
        else:
            self._make_ready(run)

    def _make_ready(self, run: JobRun) -> None:
        run.turn = Turn.READY
        run.ready_since = run.ready_at = run.stopped = self.now

    def _preempt(self) -> None:
        """Computing jobs in favour of resident ones that outrank them, one for one."""
        able = sorted(
            (run for run in self._admitted() if self._can_compute(run) and not run.granted),
            key=lambda run: self._scheduler.key(run, self.now),
        )
        leaving = sum(run.cut for run in self._computing())
        for candidate in able[len(self._idle) + leaving :]:
            lower = [
                run
                for run in self._computing()
                if not run.cut and self._scheduler.outranks(candidate, run, self.now)
            ]
            if not lower:
                break
            self._cut(min(lower, key=lambda run: (run.priority, run.quantum_end)))

    def _computing(self) -> list[JobRun]:
        return [run for run in self._runs if run.turn is Turn.COMPUTING]

    def _can_compute(self, run: JobRun) -> bool:
        paged = self.policy.demand_paged
        if run.turn is not Turn.READY:
            return False
        return run.place is Place.RESIDENT or (paged and not run.granted and run.place is Place.FREED)

    def _cut(self, run: JobRun) -> None:
        """End a run with the iteration that has begun."""
        run.cut = True
        iterations = run.boundary(self.now)
        if iterations < run.run_iterations:
            run.run += 1
            run.run_iterations = iterations
            self._post(max(self.now, run.run_end), Event.RUN, run, run.run)

    def _dispatch(self) -> bool:
        able = sorted(
            (run for run in self._admitted() if self._can_compute(run)),
            key=lambda run: self._scheduler.key(run, self.now),
        )
        changed = False
        for run in able:
            if not run.granted:
                if not self._idle:
                    continue
                run.accelerator = self._idle.pop(0)
                changed = True
                if self.policy.demand_paged:
                    # Another job may have taken pages meanwhile: faults are looked for at each turn.
                    run.place = Place.FREED
            if run.place is Place.RESIDENT:
                self._begin_run(run)
                changed = True
        return changed

    def _begin_run(self, run: JobRun) -> None:
        run.longest_ready = max(run.longest_ready, self.now - run.stopped)
        run.rank = self._scheduler.rank(run, self.now)
        run.turn = Turn.COMPUTING
        run.run += 1
        run.run_start, run.run_iterations = self.now, run.until_wait
        run.quantum_over = run.cut = False
        seconds = run.job.iteration_seconds
        quantum_iterations = ceil(self.node.quantum_seconds / seconds)
        run.quantum_end = self.now + min(quantum_iterations, run.run_iterations) * seconds
        if run.dataset.missing:
            # Further samples are read before the next quantum.
            run.run_iterations = min(run.run_iterations, quantum_iterations)
        if quantum_iterations < run.run_iterations:
            self._post(run.quantum_end, Event.QUANTUM, run, run.run)
        self._post(run.run_end, Event.RUN, run, run.run)

    def _end_run(self, run: JobRun) -> None:
        assert run.accelerator is not None
        run.iteration += run.run_iterations
        run.computing += run.run_iterations * run.job.iteration_seconds
        run.run += 1
        run.state.change()
        self._idle.append(run.accelerator)
        self._idle.sort()
        run.accelerator = None
        run.last_computed = self.now
        releasing, run.releasing = run.releasing, False
        if run.iteration == run.job.iterations:
            run.turn, run.place, run.completion = Turn.FINISHED, Place.FREED, self.now
            self._engine.release(run)
            return
        ready_since = run.ready_since
        self._begin_wait_or_ready(run)
        if run.turn is Turn.READY and self.now < run.quantum_end:
            # Preempted within its quantum: it does not lose its age.
            run.ready_since = ready_since
        if run.lacking_bytes:
            run.place = Place.FREED
        if releasing and self._lacking:
            self._save(run, self._lacking)

    # Memory.

    def _begin_restore(self) -> bool:
        if self._engine.restoring is not None:
            return False
        chosen = self.policy.next_restore(self)
        if chosen is None:
            return False
        run = self._run_of(chosen)
        run.place = Place.RESTORING
        self._engine.restoring = restore_of(run, by_faults=self.policy.demand_paged)
        return True

    @property
    def _lacking(self) -> int:
        """Bytes of memory that the restore in flight lacks when all saves in flight have ended."""
        restore = self._engine.restoring
        left = 0 if restore is None else restore.left_bytes
        return max(0, left - self.free_bytes - self._engine.saving_bytes)

    def _make_room(self) -> None:
        restore = self._engine.restoring
        while restore is not None:
            leaving = sum(run.evictable_bytes for run in self._runs if run.releasing)
            lacking = self._lacking - leaving
            if lacking <= 0:
                return
            chosen = self.policy.victim(self, restore.run)
            if chosen is None:
                return
            run = self._run_of(chosen)
            if run.turn is Turn.COMPUTING:
                if run.releasing:
                    return
                run.releasing = True
                self._cut(run)
            else:
                self._save(run, lacking)

    def _save(self, run: JobRun, wanted: int) -> None:
        """Begin to free so many bytes of a job's memory, as far as it has them."""
        run.place = Place.SAVING
        self._engine.save(save_of(run, wanted, whole_state=not self.policy.demand_paged))

    def _end_transfer(self, transfer: Transfer) -> None:
        run = transfer.run
        if transfer.is_restore:
            run.place = Place.RESIDENT
            if run.loaded:
                run.restores += 1
            run.loaded = True
        else:
            run.place = Place.FREED
            run.saves += 1
            self._recording.note_checkpoint(run, transfer.written)
