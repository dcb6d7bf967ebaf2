"""The place of an array in a stream."""

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
    """The handle of an array in a stream: `DeviceStream.append` returns it, and `read` takes it.

    A large array lies in several extents, one per zone. The handle is valid on its device until its zones or
    the stream are reset, or the device is formatted. It stays valid after a refresh, and after a recovery if
    the stream is non-volatile. A read with a stale handle raises :class:`StaleHandle`.

    Members
    -------
    device: identity of the device (`DeviceGenerations.device`).
    nsid, generation: the stream, and the generation of its content that the array belongs to.
    extents: blocks of the stream, in the order of the array's bytes.
    shape, dtype: of the array.
    data_blocks: of a stream with a codec, the blocks of data that each extent was encoded from; else empty.
    """

    device: str
    nsid: int
    generation: int
    extents: tuple[Extent, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    data_blocks: tuple[int, ...] = ()

    @property
    def lba(self) -> int:
        """Address of the first block."""
        return self.extents[0].lba

    @property
    def blocks(self) -> int:
        """Blocks that it takes on the flash."""
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
