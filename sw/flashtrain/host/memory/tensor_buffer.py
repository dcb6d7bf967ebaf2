"""The data part of the tensor buffer: regions for commands, and arrays that lie in it."""

import weakref
from bisect import bisect
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flashtrain.host.errors import BufferFull

from .arrays import blocks_of, element_type, nbytes_of


class Region(NamedTuple):
    """A run of logical blocks of the tensor buffer; `address` in bytes."""

    address: int
    blocks: int


class BlockAllocator:
    """First-fit allocator of runs of the blocks `first` to `first + count - 1`."""

    def __init__(self, first: int, count: int) -> None:
        self._free = [(first, count)] if count else []  # (start, length), by start; never adjacent

    @property
    def free(self) -> int:
        """Number of free blocks."""
        return sum(length for _, length in self._free)

    @property
    def largest(self) -> int:
        """Number of blocks of the longest free run."""
        return max((length for _, length in self._free), default=0)

    def take(self, count: int) -> int | None:
        """The first block of a run of `count`, or None when no free run is that long."""
        for i, (start, length) in enumerate(self._free):
            if length >= count:
                self._free[i : i + 1] = [(start + count, length - count)] if length > count else []
                return start
        return None

    def give_back(self, start: int, count: int) -> None:
        """Free a run from :meth:`take`, and join it with its free neighbours."""
        first = end = bisect(self._free, (start, count))
        if end < len(self._free) and start + count == self._free[end][0]:
            count += self._free[end][1]
            end += 1
        if first and sum(self._free[first - 1]) == start:
            first -= 1
            start, before = self._free[first]
            count += before
        self._free[first:end] = [(start, count)]


class TensorBuffer:
    """Allocates logical blocks of `memory` from byte `start` on."""

    def __init__(self, memory: NDArray[np.uint8], start: int, block_bytes: int) -> None:
        self.memory = memory
        self._address = _address(memory)
        self.block_bytes = block_bytes
        first = -(-start // block_bytes)
        self.blocks = len(memory) // block_bytes - first
        self._allocator = BlockAllocator(first, self.blocks)
        # An array's blocks are freed in the thread that drops the last reference to it.
        self._lock = RLock()
        self._exact: dict[int, int] = {}  # address of each array from `array` -> its bytes without padding

    @property
    def free_blocks(self) -> int:
        return self._allocator.free

    def take(self, blocks: int) -> Region | None:
        """A region of `blocks`, or None when there is no room now."""
        with self._lock:
            start = self._allocator.take(blocks)
        return None if start is None else Region(start * self.block_bytes, blocks)

    def give_back(self, region: Region) -> None:
        with self._lock:
            self._allocator.give_back(region.address // self.block_bytes, region.blocks)

    def view(self, region: Region) -> NDArray[np.uint8]:
        """The region's bytes."""
        return self.memory[region.address : region.address + region.blocks * self.block_bytes]

    def full(self, blocks: int) -> BufferFull:
        """The exception for a request that does not fit."""
        return BufferFull(
            f"the tensor buffer has no room for {blocks} blocks of {self.block_bytes} bytes: "
            f"{self.free_blocks} of {self.blocks} are free, the longest run is {self._allocator.largest}"
        )

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """An array of zeros in the tensor buffer; its blocks are freed with the last view of it."""
        kind = element_type(dtype)
        nbytes = nbytes_of(shape, kind)
        region = self.take(blocks_of(nbytes, self.block_bytes))
        if region is None:
            raise self.full(blocks_of(nbytes, self.block_bytes))
        self.view(region)[:] = 0
        # Every view of an array from a memoryview keeps that array alive, so its end frees the region.
        owner = np.frombuffer(self.view(region)[:nbytes].data, np.uint8)
        self._exact[region.address] = nbytes
        weakref.finalize(owner, self._release, region)
        return owner.view(kind).reshape(shape)

    def _release(self, region: Region) -> None:
        del self._exact[region.address]
        self.give_back(region)

    def address_of(self, array: NDArray, unit: int = 0) -> int | None:
        """The address of an array that the device can access in place; None if it cannot.

        Such an array is contiguous and starts at a block. It also ends at a block, or is a whole array from
        :meth:`array`, whose padding is zeros. With `unit`, bytes of a part of a page, it starts and ends at
        one instead.
        """
        if not array.flags.c_contiguous:
            return None
        address = _address(array) - self._address
        if address % (unit or self.block_bytes) or not 0 <= address <= len(self.memory) - array.nbytes:
            return None
        if unit:
            return None if array.nbytes % unit else address
        if array.nbytes % self.block_bytes and self._exact.get(address) != array.nbytes:
            return None
        return address

    def fill(self, region: Region, data: NDArray[np.uint8]) -> None:
        """Copy `data` into the region and zeros after it."""
        view = self.view(region)
        view[: len(data)] = data
        view[len(data) :] = 0


def _address(array: NDArray) -> int:
    """The address of an array's first byte in the process."""
    return array.__array_interface__["data"][0]
