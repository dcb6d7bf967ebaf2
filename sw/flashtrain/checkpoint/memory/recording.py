"""Records what the jobs of a simulation do."""

from collections.abc import Sequence

from flashtrain.checkpoint.memory.job_run import JobRun
from flashtrain.checkpoint.memory.node import Node
from flashtrain.checkpoint.memory.policy import Place, Turn
from flashtrain.checkpoint.memory.report import (
    Activity,
    Checkpoint,
    JobReport,
    MemoryLevel,
    NodeReport,
    Span,
)

_OF_PLACE = {Place.FREED: Activity.FREED, Place.SAVING: Activity.SAVING, Place.RESTORING: Activity.RESTORING}


class Recording:
    """Spans, levels of memory and checkpoints of `runs`; `now` is the time of all notes."""

    def __init__(self, runs: Sequence[JobRun]) -> None:
        self.now = 0.0
        self._runs = runs
        self._open: dict[str, tuple[Activity, int | None, float]] = {}
        self._spans: list[Span] = []
        self._levels: list[MemoryLevel] = []
        self._checkpoints: list[Checkpoint] = []
        self._held = {run.name: 0 for run in runs}
        self._used = self._peak = 0

    def note(self) -> None:
        """Note the activity of each job from now on."""
        for run in self._runs:
            activity = _activity_of(run)
            known = self._open.get(run.name)
            if known is not None and known[:2] == (activity, run.accelerator):
                continue
            if known is not None:
                del self._open[run.name]
                if known[2] < self.now:
                    self._spans.append(Span(run.name, known[0], known[2], self.now, known[1]))
            if activity is not None:
                self._open[run.name] = (activity, run.accelerator, self.now)

    def note_level(self, run: JobRun) -> None:
        """Note the bytes of DRAM that a job holds from now on."""
        held = run.resident_bytes
        self._used += held - self._held[run.name]
        self._held[run.name] = held
        self._peak = max(self._peak, self._used)
        self._levels.append(MemoryLevel(self.now, run.name, held))

    def note_checkpoint(self, run: JobRun, written: int) -> None:
        self._checkpoints.append(Checkpoint(run.name, self.now, written))

    def report(self, policy: str, node: Node) -> NodeReport:
        jobs = {
            run.name: JobReport(
                run.name, run.completion, run.iteration, run.computing, run.stall, run.longest_ready,
                run.saves, run.restores, run.written, run.read,
            )
            for run in self._runs
        }  # fmt: skip
        return NodeReport(
            policy,
            max(job.completion_seconds for job in jobs.values()),
            self._peak,
            node.store.pe_cycles(sum(job.written_bytes for job in jobs.values())),
            jobs,
            tuple(sorted(self._spans, key=lambda span: (span.start, span.job))),
            tuple(self._levels),
            tuple(self._checkpoints),
        )


def _activity_of(run: JobRun) -> Activity | None:
    if run.turn in (Turn.ABSENT, Turn.FINISHED):
        return None
    if run.turn is Turn.COMPUTING:
        return Activity.COMPUTING
    if run.place in _OF_PLACE:
        return _OF_PLACE[run.place]
    return Activity.WAITING if run.turn is Turn.WAITING else Activity.QUEUED
