"""The order in which jobs get accelerators, and the times at which they are due by it."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import Protocol

from flashtrain.checkpoint.memory.policy import Turn


class Scheduled(Protocol):
    """A job as the scheduler sees it.

    Members
    -------
    rank: of a job that computes: its priority when it began, aged.
    ready_since: of a job that is ready or was so last.
    ready_at: the time at which a job that waits will be ready; infinite if that is not known.
    quantum_end: of a job that computes: the end of its quantum, or of its iterations to the next wait before.
    remaining_seconds: of its iterations to the next wait.
    """

    turn: Turn
    due: float

    @property
    def priority(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def ready_since(self) -> float: ...
    @property
    def ready_at(self) -> float: ...
    @property
    def quantum_end(self) -> float: ...
    @property
    def remaining_seconds(self) -> float: ...


class Scheduler:
    """Priorities, and time quanta among equals: a job that has waited longest is next.

    A job that is ready gains a level of priority with every `aging_seconds`, so that none starves. Aged jobs
    take turns with those of a higher priority; they preempt none within its quantum, and none preempts them.
    """

    def __init__(self, quantum_seconds: float, aging_seconds: float) -> None:
        self.quantum_seconds = quantum_seconds
        self.aging_seconds = aging_seconds

    def _ready(self, job: Scheduled) -> float:
        """The time from which a job can use an accelerator."""
        if job.turn is Turn.COMPUTING:
            return job.quantum_end
        return job.ready_since if job.turn is Turn.READY else job.ready_at

    def key(self, job: Scheduled, now: float) -> tuple[int, float]:
        """Jobs with a lower key are before others."""
        ready = self._ready(job)
        aged = int(max(0.0, now - ready) / self.aging_seconds)
        return -(job.priority + aged), ready

    def outranks(self, candidate: Scheduled, running: Scheduled, now: float) -> bool:
        """Whether a job that is ready takes the accelerator of one that computes."""
        if candidate.priority > running.rank:
            return True
        return running.quantum_end <= now and self.rank(candidate, now) >= running.priority

    def rank(self, job: Scheduled, now: float) -> int:
        """The priority of a job, aged."""
        return -self.key(job, now)[0]

    def assign_due(self, jobs: Sequence[Scheduled], accelerators: int, now: float) -> None:
        """Set `due` of all `jobs`: the queue is played with quanta of full length.

        Of a job that computes it is the time at which it is due again.
        """
        running = [job for job in jobs if job.turn is Turn.COMPUTING]
        free = [now] * (accelerators - len(running))
        slots = [*free, *(job.quantum_end for job in running)]
        heapify(slots)
        for job in sorted(jobs, key=lambda job: self.key(job, now)):
            ready = self._ready(job)
            if ready == inf:
                job.due = inf
            elif job.turn is not Turn.COMPUTING and any(job.priority > other.rank for other in running):
                job.due = max(now, ready)
            else:
                job.due = max(now, ready, heappop(slots))
                heappush(slots, job.due + min(self.quantum_seconds, job.remaining_seconds))
