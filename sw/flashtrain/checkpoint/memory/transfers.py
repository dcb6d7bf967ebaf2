"""Moves of jobs' memory between DRAM and the storage, chunk by chunk."""

from dataclasses import dataclass

from flashtrain.checkpoint.memory.job_run import JobRun
from flashtrain.checkpoint.memory.memory_part import MemoryPart


@dataclass(eq=False)
class Transfer:
    """The move of one job.

    Members
    -------
    is_restore: from the storage to DRAM; otherwise it is a save.
    left: bytes of each part that are still to move.
    by_faults: the reads are page faults.
    written: bytes that went to the storage.
    """

    run: JobRun
    is_restore: bool
    left: list[tuple[MemoryPart, int]]
    by_faults: bool = False
    written: int = 0

    @property
    def left_bytes(self) -> int:
        return sum(count for _, count in self.left)

    def take(self, most: int) -> tuple[MemoryPart, int] | None:
        """The next chunk, of at most `most` bytes; None at the end."""
        while self.left and not self.left[0][1]:
            self.left.pop(0)
        if not self.left or most < 1:
            return None
        part, count = self.left[0]
        chunk = min(count, most)
        self.left[0] = (part, count - chunk)
        return part, chunk


def restore_of(run: JobRun, by_faults: bool) -> Transfer:
    """All that the job lacks for its next quantum. A first load reads the data set in order in any case."""
    parts = (run.buffers, run.state, run.dataset)
    left = list(zip(parts, run.lacking(), strict=True))
    return Transfer(run, True, left, by_faults=by_faults and run.loaded)


def save_of(run: JobRun, wanted: int, whole_state: bool) -> Transfer:
    """`wanted` bytes of the job, or all that it can free.

    whole_state: the state is freed whole or not at all, so that what is written is a checkpoint.
    """
    left = []
    for part in run.parts:
        count = 0 if part.pinned else min(part.resident, max(0, wanted))
        if count and whole_state and part is run.state:
            count = part.resident
        wanted -= count
        left.append((part, count))
    return Transfer(run, False, left)
