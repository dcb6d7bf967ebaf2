"""A report of jobs on a node: times, bytes, and a timeline."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Activity(StrEnum):
    """The activity of a job in a span of the timeline. Moves of its memory hide its waits."""

    WAITING = "waiting for data"
    QUEUED = "waiting for an accelerator"
    FREED = "freed"
    SAVING = "saving"
    RESTORING = "restoring"
    COMPUTING = "computing"


@dataclass(frozen=True)
class Span:
    """An activity of a job, in seconds; `accelerator` while it computes, else None."""

    job: str
    activity: Activity
    start: float
    end: float
    accelerator: int | None = None


@dataclass(frozen=True)
class MemoryLevel:
    """Bytes of DRAM that a job holds from a time on."""

    time: float
    job: str
    bytes: int


@dataclass(frozen=True)
class Checkpoint:
    """The memory of a job written to the storage; `bytes` that had no copy there."""

    job: str
    time: float
    bytes: int


@dataclass(frozen=True)
class JobReport:
    """A job.

    Members
    -------
    completion_seconds: from the start of the simulation.
    iterations, computing_seconds: that it did.
    stall_seconds: it was ready, an accelerator was idle or its own, and its memory was not resident.
    longest_ready_seconds: the longest time from being ready to computing.
    saves, restores: of its memory, without its first load.
    """

    name: str
    completion_seconds: float
    iterations: int
    computing_seconds: float
    stall_seconds: float
    longest_ready_seconds: float
    saves: int
    restores: int
    written_bytes: int
    read_bytes: int


@dataclass(frozen=True)
class NodeReport:
    """All jobs of a node under a policy.

    Members
    -------
    seconds: until the last job has finished.
    peak_bytes: most DRAM in use.
    pe_cycles: P/E cycles of all cells of the storage that the writes used.
    levels: of each job, at each change.
    """

    policy: str
    seconds: float
    peak_bytes: int
    pe_cycles: float
    jobs: Mapping[str, JobReport]
    spans: tuple[Span, ...]
    levels: tuple[MemoryLevel, ...]
    checkpoints: tuple[Checkpoint, ...]

    @property
    def mean_completion_seconds(self) -> float:
        return sum(job.completion_seconds for job in self.jobs.values()) / len(self.jobs)

    @property
    def stall_seconds(self) -> float:
        """Of all jobs."""
        return sum(job.stall_seconds for job in self.jobs.values())

    @property
    def written_bytes(self) -> int:
        return sum(job.written_bytes for job in self.jobs.values())

    @property
    def read_bytes(self) -> int:
        return sum(job.read_bytes for job in self.jobs.values())

    def dram_levels(self) -> tuple[tuple[float, int], ...]:
        """Times and the bytes of DRAM in use from then on, at each change."""
        held: dict[str, int] = {}
        total, found = 0, []
        for level in self.levels:
            total += level.bytes - held.get(level.job, 0)
            held[level.job] = level.bytes
            found.append((level.time, total))
        return tuple(found)
