"""A node that jobs share."""

from dataclasses import dataclass
from math import isfinite

from flashtrain.checkpoint.memory.backing_store import BackingStore
from flashtrain.checkpoint.memory.errors import JobError


@dataclass(frozen=True)
class Node:
    """DRAM, accelerators and a storage.

    Members
    -------
    quantum_seconds: a job that computes for so long gives its accelerator to another that is ready.
    aging_seconds: each such time in which a job is ready raises its priority by one.
    chunk_bytes: memory is freed and taken in such pieces.
    """

    dram_bytes: int
    accelerators: int
    store: BackingStore
    quantum_seconds: float
    aging_seconds: float = 3600.0
    chunk_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        for name in ("dram_bytes", "accelerators", "chunk_bytes"):
            if getattr(self, name) < 1:
                raise JobError(f"{name} is {getattr(self, name)}; expected at least 1")
        for name in ("quantum_seconds", "aging_seconds"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise JobError(f"{name} is {getattr(self, name)}; expected a number above 0")
