"""Bytes of SRAM in the controller, against those of Behemoth's."""

from collections.abc import Sequence
from typing import Protocol

from .measurement import Measurement

MIB = 1 << 20
METADATA_BYTES = 6 * MIB
BUFFER_BYTES = 10 * MIB
"""Behemoth's SRAM (FAST'21). A buffer of 10 MiB is 160 KiB a channel."""
ITEMS = 8
"""So many are named, the largest; the rest is one sum."""


class MemoryBytes(Protocol):
    """A memory of the design, or several alike; see `flashtrain.cli.info`."""

    @property
    def name(self) -> str: ...
    @property
    def bytes(self) -> float: ...
    @property
    def holds_pages(self) -> bool: ...


def metadata_bytes(memories: Sequence[MemoryBytes]) -> Measurement:
    """All memories that hold no pages: block and zone tables, wear, queues, commands in flight.

    Counted in the elaborated design. Bound: what Behemoth's controller has for it, 6 MiB.
    """
    return _sum([memory for memory in memories if not memory.holds_pages], METADATA_BYTES)


def buffer_bytes(memories: Sequence[MemoryBytes]) -> Measurement:
    """The memories that hold pages, on their way to the dies or to the tensor buffer.

    Counted in the elaborated design. Bound: what Behemoth's controller has for it, 10 MiB.
    """
    return _sum([memory for memory in memories if memory.holds_pages], BUFFER_BYTES)


def _sum(memories: Sequence[MemoryBytes], bound: int) -> Measurement:
    largest = sorted(memories, key=lambda memory: -memory.bytes)
    total = sum(memory.bytes for memory in memories)
    parts = [f"{memory.name} {memory.bytes:,.0f}" for memory in largest[:ITEMS]]
    smaller = largest[ITEMS:]
    if smaller:
        parts.append(f"{len(smaller)} smaller ones {sum(memory.bytes for memory in smaller):,.0f}")
    return Measurement(
        value=total,
        unit="bytes",
        bound=bound,
        cycles=0,
        asked="the bound",
        met=total <= bound,
        note=", ".join(parts),
    )
