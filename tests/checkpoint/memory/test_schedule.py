"""The order of jobs and the times at which they are due, by hand."""

from dataclasses import dataclass
from math import inf

import pytest

from flashtrain.checkpoint.memory.policy import Turn
from flashtrain.checkpoint.memory.schedule import Scheduler


@dataclass
class Entry:
    turn: Turn = Turn.READY
    priority: int = 0
    rank: int = 0
    ready_since: float = 0.0
    ready_at: float = 0.0
    quantum_end: float = inf
    remaining_seconds: float = 1000.0
    due: float = -1.0


def due(jobs, accelerators, now=0.0, quantum_seconds=10.0, aging_seconds=100.0):
    Scheduler(quantum_seconds, aging_seconds).assign_due(jobs, accelerators, now)
    return [job.due for job in jobs]


def test_the_queue_is_played_in_quanta():
    jobs = [Entry(ready_since=float(n)) for n in range(5)]
    assert due(jobs, 2, now=5.0) == [5, 5, 15, 15, 25]
    short = [Entry(remaining_seconds=3.0), Entry(ready_since=1.0), Entry(ready_since=2.0)]
    assert due(short, 1, now=2.0) == [2, 5, 15]


def test_a_job_that_computes_is_due_again_behind_those_that_are_ready():
    running = Entry(Turn.COMPUTING, quantum_end=8.0)
    assert due([running, Entry(ready_since=3.0)], 1, now=5.0) == [18, 8]


def test_waits():
    waiting = [Entry(Turn.WAITING, ready_at=30.0), Entry(Turn.WAITING, ready_at=inf), Entry()]
    assert due(waiting, 1, now=2.0) == [30, inf, 2]


def test_priority_and_age():
    scheduler = Scheduler(10.0, 100.0)
    low, high = Entry(), Entry(priority=1, ready_since=150.0)
    assert [scheduler.rank(job, 160.0) for job in (low, high)] == [1, 1]
    assert scheduler.key(low, 160.0) < scheduler.key(high, 160.0) < scheduler.key(low, 90.0)
    running = Entry(Turn.COMPUTING, rank=0, quantum_end=200.0)
    assert scheduler.outranks(high, running, 160.0)
    assert not scheduler.outranks(low, running, 160.0)
    assert scheduler.outranks(low, running, 200.0)
    aged = Entry(Turn.COMPUTING, rank=1, quantum_end=200.0)
    assert not scheduler.outranks(high, aged, 160.0)
    assert due([running, high], 1, now=160.0)[1] == pytest.approx(160)
    assert due([aged, high], 1, now=160.0)[1] == pytest.approx(200)
