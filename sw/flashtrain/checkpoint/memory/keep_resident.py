"""All jobs in memory, all the time."""

from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, NodeView, Place


class KeepResident(MemoryPolicy):
    """Loads each job once. The node needs memory for all of them."""

    name = "keep-resident"
    needs_all_resident = True

    def next_restore(self, node: NodeView) -> JobView | None:
        freed = [job for job in self.admitted(node) if job.place is Place.FREED]
        return min(freed, key=lambda job: job.due, default=None)
