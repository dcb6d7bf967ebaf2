"""Where an array lies in a stream."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Extent(NamedTuple):
    """Consecutive blocks of a stream."""

    lba: int
    blocks: int


@dataclass(frozen=True)
class StoredArray:
    """The handle of an array in a stream: what `DeviceStream.append` gives and `read` takes.

    A large array lies in several extents, one per zone. The handle is good until the stream, or one of its
    zones, is reset.
    """

    nsid: int
    extents: tuple[Extent, ...]
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def lba(self) -> int:
        """Address of the first block."""
        return self.extents[0].lba

    @property
    def blocks(self) -> int:
        return sum(extent.blocks for extent in self.extents)

    @property
    def nbytes(self) -> int:
        """Bytes of the array, without the padding of its last block."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def join(extents: Iterable[Extent], zone_size: int) -> tuple[Extent, ...]:
    """The same blocks in the same order, in as few extents as possible; none goes past the end of a zone."""
    joined: list[Extent] = []
    for extent in extents:
        if joined and sum(joined[-1]) == extent.lba and extent.lba % zone_size:
            joined[-1] = Extent(joined[-1].lba, joined[-1].blocks + extent.blocks)
        else:
            joined.append(extent)
    return tuple(joined)
