"""Jobs that wait are checkpointed when others need their memory, and restored before they are due."""

from collections.abc import Iterator
from math import inf

from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, NodeView, Place, Turn


class CheckpointWaiting(MemoryPolicy):
    """Frees memory of the job that is due last, only when a job that is due sooner needs it.

    Of a job the cached data go first, which the storage has. The state is saved whole. A restore brings the
    state back, and the cached data that the next quantum reads: a data loader has its order ahead.

    A restore begins ahead of the time at which its job is due. Its lead is the time of its own reads and of
    the writes that make room, times `margin`; 0 restores on demand. A job that computes
    releases its memory only after its quantum, and only to a job that is due already.

    Others overtake a job for which there is no room beside those that compute. After the quanta in which each
    job has a turn, and two more, it gets memory as it becomes free.
    """

    name = "checkpoint-waiting"

    def __init__(self, margin: float = 1.5) -> None:
        self.margin = margin

    def next_restore(self, node: NodeView) -> JobView | None:
        return min(self._beginning(node), key=lambda job: job.due, default=None)

    def wake(self, node: NodeView) -> float:
        begins = (self._begin(node, job) for job in self._freed(node))
        return min((begin for begin in begins if begin > node.now), default=inf)

    def victim(self, node: NodeView, job: JobView) -> JobView | None:
        # A job that is due sooner is restored after this one, which therefore is as urgent.
        due = min(each.due for each in (job, *self._beginning(node)))
        able = [
            other
            for other in self._giving(node, job, due)
            if other.turn is not Turn.COMPUTING or (other.quantum_over and due <= node.now)
        ]
        return max(able, key=lambda other: (other.due, other.turn is not Turn.COMPUTING), default=None)

    def _freed(self, node: NodeView) -> list[JobView]:
        return [job for job in self.admitted(node) if job.place is Place.FREED and job.due < inf]

    def _beginning(self, node: NodeView) -> Iterator[JobView]:
        """The jobs whose restore may begin now."""
        return (job for job in self._freed(node) if self._begin(node, job) <= node.now)

    def _giving(self, node: NodeView, job: JobView, due: float) -> list[JobView]:
        """The jobs whose memory may be freed for `job`; those that compute after their quantum."""
        return [
            other
            for other in self.admitted(node)
            if other is not job and other.evictable_bytes and (
                # A job that lacks memory computes after the restore in flight anyway.
                other.place is Place.FREED or (other.place is Place.RESIDENT and other.due > due)
            )
        ]  # fmt: skip

    def _begin(self, node: NodeView, job: JobView) -> float:
        """The time at which the restore of `job` begins."""
        missing, writes, room_at = job.lacking_bytes - node.free_bytes, 0.0, -inf
        for other in sorted(self._giving(node, job, job.due), key=_readiness):
            if missing <= 0:
                break
            if other.turn is Turn.COMPUTING:
                room_at = other.quantum_end
            writes += node.save_seconds(other)
            missing -= other.evictable_bytes
        lead = self.margin * (node.restore_seconds(job) + writes)
        begin = max(job.due, room_at if missing <= 0 else inf) - lead
        if job.turn is not Turn.READY:
            return begin
        turns = len(self.admitted(node)) / node.accelerators + 2
        return min(begin, job.ready_since + turns * node.quantum_seconds)


def _readiness(other: JobView) -> tuple[float, float]:
    """Jobs that do not compute before those that do; the latter by the ends of their quanta."""
    return (other.quantum_end if other.turn is Turn.COMPUTING else -inf), -other.due
