"""The interface of memory policies: which jobs get memory, and which release it.

A policy decides; who asks it, the simulator or the runner of real jobs, moves the bytes. It is asked again
after each decision, and has no state of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from math import inf
from typing import ClassVar, Protocol


class Place(StrEnum):
    """Where a job's memory is."""

    FREED = "freed"
    RESTORING = "restoring"
    RESIDENT = "resident"
    SAVING = "saving"


class Turn(StrEnum):
    """The turn of a job, wherever its memory is. An absent one has not arrived."""

    ABSENT = "absent"
    WAITING = "waiting"
    READY = "ready"
    COMPUTING = "computing"
    FINISHED = "finished"


class JobView(Protocol):
    """A job as policies see it.

    Members
    -------
    lacking_bytes: that it needs for its next quantum and that are not in DRAM.
    evictable_bytes: that can be freed now.
    due: the time at which it computes next, as far as it is known; infinite if it is not.
    ready_since: of a job that is ready.
    quantum_end: of a job that computes: the end of its quantum, or of its run before.
    quantum_over: it has computed so long.
    granted: it has an accelerator.
    last_computed: the time at which it last computed.
    """

    @property
    def name(self) -> str: ...
    @property
    def lacking_bytes(self) -> int: ...
    @property
    def evictable_bytes(self) -> int: ...
    @property
    def place(self) -> Place: ...
    @property
    def turn(self) -> Turn: ...
    @property
    def due(self) -> float: ...
    @property
    def ready_since(self) -> float: ...
    @property
    def quantum_end(self) -> float: ...
    @property
    def quantum_over(self) -> bool: ...
    @property
    def granted(self) -> bool: ...
    @property
    def last_computed(self) -> float: ...


class NodeView(Protocol):
    """A node as policies see it; `jobs` in the order of their arrival."""

    @property
    def now(self) -> float: ...
    @property
    def free_bytes(self) -> int: ...
    @property
    def accelerators(self) -> int: ...
    @property
    def quantum_seconds(self) -> float: ...
    @property
    def jobs(self) -> Sequence[JobView]: ...

    def restore_seconds(self, job: JobView) -> float:
        """To read what `job` lacks for its next quantum."""
        ...

    def save_seconds(self, job: JobView) -> float:
        """To write what only `job` has."""
        ...


class MemoryPolicy(ABC):
    """Decides which jobs hold memory.

    Members
    -------
    name: for reports.
    demand_paged: a job gets an accelerator first and its pages then, by page faults; pages leave memory as
        others need room. Otherwise a job computes when all that its quantum needs is resident.
    needs_all_resident: the node must have memory for all jobs at once.
    """

    name: ClassVar[str]
    demand_paged: ClassVar[bool] = False
    needs_all_resident: ClassVar[bool] = False

    def admitted(self, node: NodeView) -> Sequence[JobView]:
        """The jobs that may hold memory and compute now."""
        return [job for job in node.jobs if job.turn not in (Turn.ABSENT, Turn.FINISHED)]

    @abstractmethod
    def next_restore(self, node: NodeView) -> JobView | None:
        """The job whose restore begins now; None: no job's. One restore is in flight at a time."""

    def victim(self, node: NodeView, job: JobView) -> JobView | None:
        """The job that releases memory for the restore of `job`; None: `job` waits for free memory."""
        return None

    def wake(self, node: NodeView) -> float:
        """The time at which `next_restore` may answer otherwise, although nothing has happened."""
        return inf
