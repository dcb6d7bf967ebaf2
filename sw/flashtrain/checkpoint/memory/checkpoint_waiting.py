"""Jobs that wait are checkpointed when others need their memory, and restored before they are due."""

from math import inf

from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, NodeView, Place, Turn


class CheckpointWaiting(MemoryPolicy):
    """Frees memory of the job that is due last, only when a job that is due sooner needs it.

    Of a job the cached data go first, which the storage has. The state is saved whole. A restore brings the
    state back, and the cached data that the next slice reads: a data loader knows its order ahead.

    A restore begins ahead of the time at which its job is due. Its lead is the time of its own reads and of
    the writes that make room, times `margin`; 0 restores on demand. A job that computes gives up its memory
    only after its slice, and only to a job that is due already.
    """

    name = "checkpoint-waiting"

    def __init__(self, margin: float = 1.5) -> None:
        self.margin = margin

    def next_restore(self, node: NodeView) -> JobView | None:
        job = self._first_due(node)
        return job if job is not None and node.now >= self._begin(node, job) else None

    def wake(self, node: NodeView) -> float:
        job = self._first_due(node)
        return inf if job is None else self._begin(node, job)

    def victim(self, node: NodeView, job: JobView) -> JobView | None:
        # A job that is due sooner is restored after this one, which therefore is as urgent.
        next_one = self._first_due(node)
        due = job.due if next_one is None else min(job.due, next_one.due)
        able = [
            other
            for other in self.admitted(node)
            if other is not job and other.evictable_bytes and self._may_give(other, due, node.now)
        ]
        return max(able, key=lambda other: (other.due, other.turn is not Turn.COMPUTING), default=None)

    def _may_give(self, other: JobView, due: float, now: float) -> bool:
        if other.turn is Turn.COMPUTING:
            return other.slice_over and due <= now < other.due
        # A job that lacks memory computes after the restore in flight anyway.
        return other.place is Place.FREED or (other.place is Place.RESIDENT and other.due > due)

    def _first_due(self, node: NodeView) -> JobView | None:
        freed = [job for job in self.admitted(node) if job.place is Place.FREED and job.due < inf]
        return min(freed, key=lambda job: job.due, default=None)

    def _begin(self, node: NodeView, job: JobView) -> float:
        """The time at which the restore of `job` begins."""
        missing = job.lacking_bytes - node.free_bytes
        others = [
            other
            for other in self.admitted(node)
            if other.turn is not Turn.COMPUTING and other.evictable_bytes and other.due > job.due
        ]
        writes = 0.0
        for other in sorted(others, key=lambda other: -other.due):
            if missing <= 0:
                break
            writes += node.save_seconds(other)
            missing -= other.evictable_bytes
        return job.due - self.margin * (node.restore_seconds(job) + writes)
