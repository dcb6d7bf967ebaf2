"""Pages to swap: least recently used first, and back by page faults."""

from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, NodeView, Place, Turn


class Swap(MemoryPolicy):
    """The operating system's paging, without knowledge of jobs.

    A job computes as soon as it has an accelerator, and faults its pages in. The job that computed longest
    ago releases pages, as many as are needed. Pinned buffers stay.
    """

    name = "swap"
    demand_paged = True

    def next_restore(self, node: NodeView) -> JobView | None:
        faulting = (job for job in self.admitted(node) if job.granted and job.place is Place.FREED)
        return next(faulting, None)

    def victim(self, node: NodeView, job: JobView) -> JobView | None:
        able = [
            other
            for other in self.admitted(node)
            if other.turn is not Turn.COMPUTING and other is not job
            and other.place is not Place.SAVING and other.evictable_bytes
        ]  # fmt: skip
        return min(able, key=lambda other: other.last_computed, default=None)
