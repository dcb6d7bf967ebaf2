"""Runs of bytes in a stream."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flashtrain.host.streams.stored import Extent


class Run(NamedTuple):
    """Consecutive bytes of a zone. `address` counts bytes from the start of the stream.

    A negative address is *relative*: -1 - n is byte n of the append that its index comes with.
    """

    address: int
    nbytes: int

    @property
    def end(self) -> int:
        return self.address + self.nbytes

    @classmethod
    def relative(cls, offset: int, nbytes: int) -> "Run":
        return cls(-1 - offset, nbytes)


def runs_in(extents: Iterable[Extent], offset: int, nbytes: int, block_bytes: int) -> list[Run]:
    """The bytes from `offset` on of an append to these extents."""
    runs, begin = [], 0
    for extent in extents:
        end = begin + extent.blocks * block_bytes
        low, high = max(offset, begin), min(offset + nbytes, end)
        if low < high:
            runs.append(Run(extent.lba * block_bytes + low - begin, high - low))
        begin = end
    return runs


def resolved(runs: Iterable[Run], extents: Sequence[Extent], block_bytes: int, zone_bytes: int) -> list[Run]:
    """The runs with addresses in the stream, in as few as possible; relative ones are in these extents."""
    found: list[Run] = []
    for run in runs:
        if run.address < 0:
            found += runs_in(extents, -1 - run.address, run.nbytes, block_bytes)
        else:
            found.append(run)
    joined: list[Run] = []
    for run in found:
        if joined and joined[-1].end == run.address and run.address % zone_bytes:
            joined[-1] = Run(joined[-1].address, joined[-1].nbytes + run.nbytes)
        else:
            joined.append(run)
    return joined
