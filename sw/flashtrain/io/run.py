"""Runs jobs on a device: lay-out, measurement, and verification."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flashtrain.host import Device

from .checks import is_ring_job
from .content import WrongBlock
from .job import Job
from .patterns import Direction
from .samples import Samples
from .worker import Worker


@dataclass(frozen=True)
class JobResult:
    """The result of one copy of a job.

    - samples: by direction, those of the job's pattern.
    - depths: commands by the number in flight.
    - checked, wrong_count, wrong: logical blocks that were checked, and those that were wrong.
    """

    name: str
    job: Job
    samples: dict[Direction, Samples]
    depths: dict[int, int]
    checked: int
    wrong_count: int
    wrong: tuple[WrongBlock, ...]


class IoRun:
    """Jobs on a device that is opened with streams for all of them; `check_jobs` has accepted the jobs.

    `timed`: whether the Link counts cycles. Without time, rates and times of the jobs have no effect.

    Call in this order: :meth:`lay_out`, :meth:`measure`, :meth:`verify`, :meth:`results`.
    """

    def __init__(self, device: Device, jobs: Sequence[Job], timed: bool) -> None:
        self._device = device
        self._timed = timed
        self.workers: list[Worker] = []
        for job in jobs:
            for copy in range(job.numjobs):
                self.workers.append(Worker(device, job, copy, len(self.workers)))

    def lay_out(self, progress: Callable[[str], None] = lambda text: None) -> None:
        """Store all data that will be read, and program them to the flash."""
        for worker in self.workers:
            if worker.job.rw.reads:
                progress(f"{worker.name}: laying out {worker.job.blocks * worker.job.bs:,} bytes")
            worker.lay_out()
        self._begin_rings()

    def _begin_rings(self) -> None:
        """Use streams as rings before the measurement, for the first drop of a stream reads a zone report."""
        rings = {worker.stream.name: worker.stream for worker in self.workers if is_ring_job(worker.job)}
        for name, stream in rings.items():
            stream.drop_all_but(
                stored for worker in self.workers if worker.stream.name == name for stored in worker.stored
            )

    def measure(self, progress: Callable[[str], None] = lambda text: None) -> None:
        """Run all jobs until their ends, at the same time."""
        device, workers = self._device, self.workers
        begin = device.cycles
        for worker in workers:
            worker.start(begin, self._timed)
        done = 0
        while True:
            for worker in workers:
                done += worker.collect()
            issuing = list(workers)
            while issuing:  # a command of each job in turn
                issuing = [worker for worker in issuing if worker.issue(device.cycles)]
            in_flight = [pending for worker in workers for pending in worker.in_flight]
            times = [time for worker in workers if (time := worker.next_time()) is not None]
            if not in_flight and not times:
                break
            device.wait_any(in_flight, min(times) if times else None)
            progress(
                f"{done:,} commands, {(device.cycles - begin) / device.config.timing.clock_hz * 1e3:.3f} ms"
            )

    def verify(self) -> None:
        """Read and check all that the jobs with `verify` have appended."""
        for worker in self.workers:
            if worker.job.verify and worker.job.rw.appends:
                worker.verify()

    def results(self) -> list[JobResult]:
        """The results, in the order of the jobs."""
        return [
            JobResult(
                worker.name,
                worker.job,
                {each: worker.samples(each) for each in worker.job.rw.directions},
                dict(worker.depths),
                worker.checked,
                worker.wrong_count,
                tuple(worker.wrong),
            )
            for worker in self.workers
        ]
