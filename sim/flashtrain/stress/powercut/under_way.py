"""Blocks below the write pointers of a stream from appends that were perhaps never acknowledged."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flashtrain.host import CodedStream, DeviceStream, StaleHandle
from flashtrain.host.memory.arrays import as_bytes, blocks_of
from flashtrain.host.queues.command_errors import MediaError, UnwrittenBlock
from flashtrain.host.streams.stored import Extent
from flashtrain.numerics.codec import encode
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
        for lba in range(zone.start, zone.start + zone.written):
            try:
                found = stream.read_blocks(lba, 1)
            except MediaError:
                below.refused += 1
            else:
                if found.tobytes() not in whole:
                    if coded or not (known | found == found).all(axis=1).any():
                        raise Lost(f"stream {stream.name}: block {lba} holds what nobody has appended")
                    below.spoilt += 1
            below.blocks += 1
    return below


def judge_encoded(stream: CodedStream, appended: Iterable[Array]) -> Below:
    """Each append that can be read has to be one of an array that was; :class:`Lost` if it is not.

    Every block is tried as the first one of an append, with all lengths that the arrays have. An array is
    small enough for a single append. The driver refuses to read blocks that their user has dropped.
    """
    known = _encoded_appends(stream, appended)
    below = Below()
    for zone in stream.report():
        lba, end = zone.start, zone.start + zone.written
        while lba < end:
            found = _append_at(stream, lba, known)
            below.refused += found.refused
            below.blocks += found.blocks
            lba += found.blocks
    return below


class _Length(NamedTuple):
    """The length of an append: its pages, its blocks of data, and the type of an array with its codec."""

    stored: int
    data_blocks: int
    dtype: np.dtype


class _Found(NamedTuple):
    """An append, or a block that begins none."""

    blocks: int = 1
    refused: bool = False


def _encoded_appends(stream: CodedStream, appended: Iterable[Array]) -> dict[_Length, set[bytes]]:
    """The data of all appends by their lengths, and of the shortest ones of both codecs, known or not."""
    size = stream.block_bytes
    types = {stream.codec_of(dtype): np.dtype(dtype) for dtype in (np.uint8, np.float32)}
    known: dict[_Length, set[bytes]] = {_Length(1, 1, dtype): set() for dtype in types.values()}
    for array in appended:
        data, codec = b"".join(_pages(array, size)), stream.codec_of(array.dtype)
        length = _Length(len(encode(data, codec, size)), len(data) // size, types[codec])
        known.setdefault(length, set()).add(data)
    return known


def _append_at(stream: CodedStream, lba: int, known: dict[_Length, set[bytes]]) -> _Found:
    """The append that begins at a block below the write pointer."""
    dropped = False
    for length, contents in known.items():
        shape = (length.data_blocks * stream.block_bytes // length.dtype.itemsize,)
        extent = Extent(lba, length.stored)
        try:
            found = stream.read(stream.stored_at([extent], shape, length.dtype, [length.data_blocks]))
        except (MediaError, UnwrittenBlock):
            pass
        except StaleHandle:
            dropped = True
        else:
            if found.tobytes() not in contents:
                raise Lost(f"stream {stream.name}: block {lba} begins an append that nobody has made")
            return _Found(length.stored)
    return _Found(refused=not dropped)


def _pages(array: Array, size: int) -> Iterable[bytes]:
    data = as_bytes(np.ascontiguousarray(array)).tobytes()
    padded = data.ljust(blocks_of(len(data), size) * size, b"\0")
    return (padded[start : start + size] for start in range(0, len(padded), size))
