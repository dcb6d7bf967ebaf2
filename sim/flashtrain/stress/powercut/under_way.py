"""Blocks below the write pointers of a stream from appends that were never acknowledged."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flashtrain.host import DeviceStream
from flashtrain.host.memory.arrays import as_bytes, blocks_of
from flashtrain.host.queues.command_errors import MediaError, UnwrittenBlock
from flashtrain.spec import ZoneState
from flashtrain.training.arrays import Array

from .lost import Lost


@dataclass
class Below:
    """Counts of blocks below the write pointers.

    `refused`: reads that ended with an error; `spoilt`: blocks with ones in place of zeros, which a device
    without a code cannot detect.
    """

    blocks: int = 0
    refused: int = 0
    spoilt: int = 0


def judge_below(stream: DeviceStream, appended: Iterable[Array], coded: bool) -> Below:
    """Each block has to be refused, or just what was appended; :class:`Lost` if it is not.

    appended: all arrays that ever were, whether or not that was acknowledged; coded: pages have a code.
    """
    whole = {page for array in appended for page in _pages(array, stream.block_bytes)}
    known = np.frombuffer(b"".join(whole), np.uint8).reshape(-1, stream.block_bytes)
    below = Below()
    for zone in stream.report():
        if zone.state is ZoneState.EMPTY:
            continue
        for lba in range(zone.start, zone.start + zone.capacity):
            try:
                found = stream.read_blocks(lba, 1)
            except UnwrittenBlock:
                break
            except MediaError:
                below.refused += 1
            else:
                if found.tobytes() not in whole:
                    if coded or not (known | found == found).all(axis=1).any():
                        raise Lost(f"stream {stream.name}: block {lba} holds what nobody has appended")
                    below.spoilt += 1
            below.blocks += 1
    return below


def _pages(array: Array, size: int) -> Iterable[bytes]:
    data = as_bytes(np.ascontiguousarray(array)).tobytes()
    padded = data.ljust(blocks_of(len(data), size) * size, b"\0")
    return (padded[start : start + size] for start in range(0, len(padded), size))
