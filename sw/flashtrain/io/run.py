"""Runs jobs on a drive: lay-out, measurement, and verification."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

from .content import WrongBlock
from .drive import Drive
from .job import ExitWhat, Job
from .patterns import Direction
from .samples import Samples, joined
from .worker import Worker


@dataclass(frozen=True)
class JobResult:
    """The result of one copy of a job, or with `group_reporting` of all copies and jobs of a group.

    - copies: of jobs that are in it. group: the number of the group of reports.
    - samples: by direction, of the jobs' patterns.
    - depths: commands by the number in flight.
    - checked, wrong_count, wrong: logical blocks that were checked, and those that were wrong.
    """

    name: str
    job: Job
    copies: int
    group: int
    samples: dict[Direction, Samples]
    depths: dict[int, int]
    checked: int
    wrong_count: int
    wrong: tuple[WrongBlock, ...]


class IoRun:
    """Jobs on a drive that is open; `jobs_for_flash` or `jobs_for_ssd` has accepted them.

    Without time (:attr:`Drive.timed`), rates and times of the jobs have no effect.

    Call in this order: :meth:`lay_out`, :meth:`measure`, :meth:`verify`, :meth:`results`.
    """

    def __init__(self, drive: Drive, jobs: Sequence[Job]) -> None:
        self._drive = drive
        self.workers: list[Worker] = []
        for job in jobs:
            for copy in range(job.numjobs):
                self.workers.append(Worker(drive, job, copy, len(self.workers)))
        self._groups = _groups(self.workers)

    def lay_out(self, progress: Callable[[str], None] = lambda text: None) -> None:
        """Store all data that will be read or trimmed."""
        for worker in self.workers:
            if worker.job.rw.needs_data:
                progress(f"{worker.name}: laying out {worker.job.bytes:,} bytes")
            worker.file.lay_out()
        self._drive.begin([worker.file for worker in self.workers])

    def measure(self, progress: Callable[[str], None] = lambda text: None) -> None:
        """Run all jobs until their ends, at the same time; a stonewall waits for the ends of those before."""
        begin, done = self._drive.cycles, 0
        for together in _between_walls(self.workers):
            done = self._measure(together, begin, done, progress)

    def _measure(
        self, workers: Sequence[Worker], begin: int, done: int, progress: Callable[[str], None]
    ) -> int:
        drive = self._drive
        waiting, running = list(workers), list[Worker]()
        while True:
            for worker in running:
                done += worker.collect()
                if worker.job.exitall and worker.ended:
                    self._stop_with(worker, workers)
            for worker in [each for each in waiting if self._may_begin(each)]:
                waiting.remove(worker)
                running.append(worker)
                worker.start(drive.cycles, drive.timed)
            issuing = list(running)
            while issuing:  # a command of each job in turn
                issuing = [each for each in issuing if _flows(each, running) and each.issue(drive.cycles)]
            in_flight = [operation for worker in running for operation in worker.in_flight]
            times = [time for worker in running if (time := worker.next_time()) is not None]
            if not in_flight and not times:
                if any(self._may_begin(each) for each in waiting):
                    continue
                return done
            drive.wait_any(in_flight, min(times) if times else None)
            progress(f"{done:,} commands, {(drive.cycles - begin) / (drive.mhz * 1e3):.3f} ms")

    def _may_begin(self, worker: Worker) -> bool:
        """Whether all copies of the job that `wait_for` names have ended; they are before this one."""
        awaited = worker.job.wait_for
        return not awaited or all(
            each.ended for each in self.workers[: worker.number] if each.job.name == awaited
        )

    def _stop_with(self, ended: Worker, beside: Sequence[Worker]) -> None:
        """End the jobs that `exit_what` of a job names, which has ended."""
        what = ended.job.exit_what
        for worker in self.workers if what is ExitWhat.ALL else beside:
            if what is not ExitWhat.GROUP or self._groups[worker.number] == self._groups[ended.number]:
                worker.stop()

    def verify(self) -> None:
        """Read and check all that the jobs with `verify` have written."""
        for worker in self.workers:
            if worker.job.checks_at_end:
                worker.file.verify()

    def results(self) -> list[JobResult]:
        """The results, in the order of the jobs."""
        results = [
            JobResult(
                worker.name,
                worker.job,
                1,
                group,
                {each: worker.samples(each) for each in worker.job.rw.directions},
                dict(worker.depths),
                worker.file.checked,
                worker.file.wrong_count,
                tuple(worker.file.wrong),
            )
            for worker, group in zip(self.workers, self._groups, strict=True)
        ]
        groups = (list(found) for _, found in groupby(results, lambda result: result.group))
        return [result for found in groups for result in _reported(found)]


def _flows(worker: Worker, beside: Sequence[Worker]) -> bool:
    """Whether a worker is not ahead of the others of its flow."""
    job = worker.job
    return not job.flow or all(
        each.ended or worker.progress <= each.progress
        for each in beside
        if each.job.flow and each.job.flow_id == job.flow_id
    )


def _between_walls(workers: Sequence[Worker]) -> list[list[Worker]]:
    """The workers that run at the same time, part by part."""
    parts: list[list[Worker]] = [[]]
    for number, worker in enumerate(workers):
        is_first_copy = number == 0 or workers[number - 1].job is not worker.job
        if worker.job.stonewall and is_first_copy and parts[-1]:
            parts.append([])
        parts[-1].append(worker)
    return parts


def _groups(workers: Sequence[Worker]) -> list[int]:
    """The number of each worker's group of reports: stonewalls and `new_group` begin one."""
    groups, last = [0], workers[0].job
    for worker in workers[1:]:
        begins = worker.job is not last and (worker.job.stonewall or worker.job.new_group)
        groups.append(groups[-1] + begins)
        last = worker.job
    return groups


def _reported(results: Sequence[JobResult]) -> Sequence[JobResult]:
    """The results of a group: one for all if its jobs ask for it."""
    return [reduce(_together, results)] if results[0].job.group_reporting else results


def _together(first: JobResult, second: JobResult) -> JobResult:
    samples = {
        each: joined([part.samples[each] for part in (first, second) if each in part.samples])
        for each in Direction
        if each in first.samples or each in second.samples
    }
    return JobResult(
        first.job.name,
        first.job,
        first.copies + second.copies,
        first.group,
        samples,
        dict(Counter(first.depths) + Counter(second.depths)),
        first.checked + second.checked,
        first.wrong_count + second.wrong_count,
        first.wrong + second.wrong,
    )
