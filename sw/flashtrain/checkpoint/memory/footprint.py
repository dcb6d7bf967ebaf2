"""The host memory that a job of training holds, by kind of content."""

from dataclasses import dataclass, fields

from flashtrain.checkpoint.memory.errors import JobError


@dataclass(frozen=True)
class Footprint:
    """Bytes of a job in DRAM.

    Members
    -------
    dataset_bytes: decoded samples that the job caches; the storage has them, too.
    weights_bytes, optimizer_bytes: the state, which every iteration changes.
    buffer_bytes: pinned buffers for transfers, without content between iterations.
    """

    dataset_bytes: int
    weights_bytes: int
    optimizer_bytes: int
    buffer_bytes: int

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise JobError(f"{field.name} is {getattr(self, field.name)}; expected 0 or more")
        if not self.total_bytes:
            raise JobError("a footprint of 0 bytes; expected at least 1")

    @property
    def state_bytes(self) -> int:
        return self.weights_bytes + self.optimizer_bytes

    @property
    def total_bytes(self) -> int:
        return self.dataset_bytes + self.state_bytes + self.buffer_bytes
