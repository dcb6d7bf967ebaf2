"""The memory of a host, as a function of PCI Express reaches it."""

import mmap
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from numpy.typing import NDArray


class Unreachable(Exception):
    """An address at which the host has no memory: the completion is an Unsupported Request."""


class Memory(Protocol):
    """Reads and writes in place.

    `views` has the bytes, in pieces where they do not lie side by side; :class:`Unreachable` if one of them
    is no memory.
    """

    def views(self, address: int, length: int) -> list[memoryview]: ...


class HostMemory(Memory, Protocol):
    """All requests of a function: reads and writes of memory, and messages.

    `message` is a write of four bytes to an address that may belong to an interrupt controller. It follows
    all earlier writes.
    """

    def message(self, address: int, data: int) -> None: ...


Regions = list[tuple[int, memoryview]]
"""Bytes of a host's memory, by the address of the first one."""


class SharedMemory(HostMemory, Protocol):
    """Memory whose bytes may be read and written without a call.

    `watch` calls a function with the regions, now and whenever they are others.
    """

    def watch(self, changed: Callable[[Regions], object]) -> None: ...


class Span(NamedTuple):
    """Bytes of the host's memory that lie side by side."""

    address: int
    length: int


def read(memory: Memory, address: int, length: int) -> bytes:
    return b"".join(memory.views(address, length))


def gather(views: Iterable[memoryview], space: NDArray) -> None:
    """Copy the host's bytes into the beginning of `space`."""
    place = 0
    for view in views:
        space[place : place + len(view)] = view
        place += len(view)


def scatter(data: bytes | bytearray | memoryview, views: Iterable[memoryview]) -> None:
    """Copy data to the host, as many as there are: `views` may have room for more."""
    source, place = memoryview(data), 0
    for view in views:
        part = source[place : place + len(view)]
        view[: len(part)] = part
        place += len(part)


@dataclass(frozen=True)
class Region:
    """Addresses of a host that are memory: `length` bytes from `address` on, at `offset` of a file."""

    address: int
    length: int
    file: int
    offset: int


class MappedMemory:
    """Regions of files that this process maps: reads and writes of the host's memory are in place.

    :meth:`map` closes the descriptors of its regions. A mapping stays until :meth:`close`: memory that comes
    and goes is mapped once.
    """

    def __init__(self) -> None:
        self._files: dict[tuple[int, int], memoryview] = {}
        self._starts: list[int] = []
        self._views: list[memoryview] = []
        self._watchers: list[Callable[[Regions], object]] = []

    def map(self, regions: Iterable[Region]) -> None:
        """Replace the regions."""
        found = sorted((one.address, self._file(one.file), one) for one in regions if one.length)
        self._starts = [address for address, _, _ in found]
        self._views = [view[one.offset : one.offset + one.length] for _, view, one in found]
        self._tell()

    def watch(self, changed: Callable[[Regions], object]) -> None:
        self._watchers.append(changed)
        self._tell()

    def views(self, address: int, length: int) -> list[memoryview]:
        found = []
        while length:
            number = bisect_right(self._starts, address) - 1
            if number < 0:
                raise Unreachable(f"{address:#x}")
            offset = address - self._starts[number]
            view = self._views[number][offset : offset + length]
            if not view:
                raise Unreachable(f"{address:#x}")
            found.append(view)
            address += len(view)
            length -= len(view)
        return found

    def close(self) -> None:
        self._starts, self._views = [], []
        self._tell()
        self._files.clear()

    def _tell(self) -> None:
        for changed in self._watchers:
            changed(list(zip(self._starts, self._views, strict=True)))

    def _file(self, descriptor: int) -> memoryview:
        found = os.fstat(descriptor)
        key = (found.st_dev, found.st_ino)
        if key not in self._files:
            self._files[key] = memoryview(mmap.mmap(descriptor, found.st_size))
        os.close(descriptor)
        return self._files[key]
