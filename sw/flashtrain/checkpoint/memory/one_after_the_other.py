"""One job on each accelerator, from its first iteration to its last."""

from collections.abc import Sequence

from flashtrain.checkpoint.memory.policy import JobView, MemoryPolicy, NodeView, Place


class OneAfterTheOther(MemoryPolicy):
    """Admits as many jobs as there are accelerators, in the order of their arrival. A wait of a job is a wait
    of its accelerator."""

    name = "one-after-the-other"

    def admitted(self, node: NodeView) -> Sequence[JobView]:
        known = super().admitted(node)
        begun = [job for job in known if job.place is not Place.FREED]
        others = [job for job in known if job.place is Place.FREED]
        return [*begun, *others][: node.accelerators]

    def next_restore(self, node: NodeView) -> JobView | None:
        return next((job for job in self.admitted(node) if job.place is Place.FREED), None)
