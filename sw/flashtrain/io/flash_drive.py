"""Jobs on the flash memory system: the blocks of a file lie in a stream, wherever appends have put them."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import CommandError, Device, Pending, StoredArray, StreamFull
from flashtrain.host.queues.command_log import labelled
from flashtrain.host.streams.stored import Extent
from flashtrain.spec import Access

from .checks import is_ring_job, port_with
from .content import Content, WrongBlock
from .drive import Operation
from .errors import IoFailed
from .job import Job
from .patterns import Direction

MOST_WRONG = 1000
"""Wrong logical blocks that are kept of a job."""
LAY_OUT_BYTES = 256 << 10
"""Bytes of an append of the lay-out, at least."""
_NOWHERE = -1


@dataclass(frozen=True)
class _Transfer:
    """An operation on blocks of the file from `first` on; `buffer` has its data.

    read: the handle and the versions of what is read; None for a write or a flush.
    """

    first: int
    count: int
    buffer: int | None
    read: tuple[StoredArray, NDArray[np.int64]] | None
    pending: Pending[Any]

    @property
    def answered(self) -> bool:
        return self.pending.answered

    @property
    def completed(self) -> int:
        return self.pending.completed


class FlashFile:
    """The file of one copy of a job: for each logical block its place in the stream, and its version.

    A write appends, and drops the block's content before. A job that writes more than once over its file uses
    the stream as a ring (:meth:`flashtrain.host.DeviceStream.drop`).
    """

    def __init__(self, device: Device, job: Job, number: int, name: str) -> None:
        page = device.config.geometry.page_bytes
        self.job = job
        self.wrong: list[WrongBlock] = []
        self.wrong_count = self.checked = 0
        self.stream = device.stream(job.stream, job.port)
        self._device = device
        self._name = name
        self._page = page
        blocks = job.bytes // page
        random = np.random.default_rng((job.randseed, number))
        self._content = Content(job.randseed, number, page)
        self._buffers = [device.buffer((job.bs.most,), np.uint8) for _ in range(job.iodepth)]
        for buffer in self._buffers:
            buffer[:] = random.integers(0, 256, buffer.size, np.uint8)
        self._free = list(range(job.iodepth))
        self._lba = np.full(blocks, _NOWHERE, np.int64)
        self._versions = np.full(blocks, -1, np.int64)
        self._writing = np.zeros(blocks, np.bool_)

    @property
    def stored(self) -> StoredArray | None:
        """All blocks that are stored, in the order of their offsets."""
        places = self._lba[self._lba != _NOWHERE]
        return self._handle(places) if len(places) else None

    def lay_out(self) -> None:
        if not self.job.rw.reads:
            return
        port = port_with(self.stream.table, Access.APPEND, self.job.port)
        assert port is not None
        writer = self._device.stream(self.job.stream, port)
        step = max(self.job.bs.most, LAY_OUT_BYTES) // self._page
        random = np.random.default_rng((self.job.randseed, 0))
        appends = []
        for first in range(0, len(self._lba), step):
            count = min(step, len(self._lba) - first)
            self._versions[first : first + count] = 0
            data = (
                self._data(first, count)
                if self.job.verify
                else random.integers(0, 256, count * self._page, np.uint8)
            )
            appends.append((first, writer.append_async(data)))
        for first, append in appends:
            self._place(first, append.result())
        writer.flush()

    def readable(self, first: int, count: int) -> int:
        gaps = np.flatnonzero(self._lba[first : first + count] == _NOWHERE)
        return int(gaps[0]) if len(gaps) else count

    def writable(self, first: int, count: int) -> bool:
        return not self._writing[first : first + count].any()

    def begin(self, direction: Direction, first: int, count: int) -> Operation:
        return self.read(first, count) if direction is Direction.READ else self.write(first, count)

    def read(self, first: int, count: int) -> Operation:
        places = slice(first, first + count)
        stored, versions = self._handle(self._lba[places]), self._versions[places].copy()
        return self._begun(
            first, count, (stored, versions), lambda data: self.stream.read_async(stored, data)
        )

    def write(self, first: int, count: int) -> Operation:
        places = slice(first, first + count)
        old = self._lba[places][self._lba[places] != _NOWHERE]
        self._versions[places] += 1

        def append(data: NDArray[np.uint8]) -> Pending[Any]:
            if self.job.verify:
                data[:] = self._data(first, count)
            if len(old):
                self._lba[places] = _NOWHERE
                self.stream.drop(self._handle(old))
            return self.stream.append_async(data)

        operation = self._begun(first, count, None, append)
        self._writing[places] = True
        return operation

    def flush(self) -> Operation:
        return _Transfer(0, 0, None, None, self.stream.flush_async())

    def finish(self, operation: Operation) -> None:
        assert isinstance(operation, _Transfer)
        result = self._result(operation)
        if operation.buffer is None:
            return
        self._free.append(operation.buffer)
        if operation.read is None:
            self._place(operation.first, result)
            self._writing[operation.first : operation.first + operation.count] = False
        elif self.job.verify:
            self._check(result, operation.first, *operation.read)

    def verify(self) -> None:
        """Read all that is stored, by a port that may, and check it."""
        port = port_with(self.stream.table, Access.READ, self.job.port)
        assert port is not None
        reader = self._device.stream(self.job.stream, port)
        step, waiting = self.job.bs.most // self._page, deque[_Transfer]()
        first = 0
        while first < len(self._lba):
            count = self.readable(first, min(step, len(self._lba) - first))
            if count:
                if not self._free:
                    self.finish(waiting.popleft())
                places, buffer = slice(first, first + count), self._free.pop()
                stored, versions = self._handle(self._lba[places]), self._versions[places]
                data = self._buffers[buffer][: count * self._page]
                waiting.append(
                    _Transfer(first, count, buffer, (stored, versions), reader.read_async(stored, data))
                )
            first += max(1, count)
        for transfer in waiting:
            self.finish(transfer)

    # Implementation.

    def _begun(
        self,
        first: int,
        count: int,
        read: tuple[StoredArray, NDArray[np.int64]] | None,
        begin: Callable[[NDArray[np.uint8]], Pending[Any]],
    ) -> _Transfer:
        buffer = self._free[-1]
        try:
            with labelled(f"{self._name} offset {first * self._page}"):
                pending = begin(self._buffers[buffer][: count * self._page])
        except (CommandError, StreamFull) as error:
            raise IoFailed(f"{self._name}: {error}") from error
        self._free.pop()
        return _Transfer(first, count, buffer, read, pending)

    def _handle(self, places: NDArray[np.int64]) -> StoredArray:
        """The handle of blocks of the stream, in this order."""
        starts = np.flatnonzero(np.r_[True, np.diff(places) != 1])
        counts = np.diff(np.r_[starts, len(places)])
        extents = map(Extent, places[starts].tolist(), counts.tolist())
        zone = self.stream.zone_size
        whole = (part for extent in extents for part in _within_zones(extent, zone))
        return self.stream.stored_at(whole, (len(places) * self._page,), np.uint8)

    def _place(self, first: int, stored: StoredArray) -> None:
        places = np.concatenate([np.arange(lba, lba + blocks) for lba, blocks in stored.extents])
        self._lba[first : first + len(places)] = places

    def _data(self, first: int, count: int) -> NDArray[np.uint8]:
        numbers = np.arange(first, first + count)
        return self._content.of(numbers, self._versions[first : first + count]).reshape(-1)

    def _result(self, transfer: _Transfer) -> Any:
        try:
            return transfer.pending.result()
        except CommandError as error:
            raise IoFailed(f"{self._name}: offset {transfer.first * self._page}: {error}") from error

    def _check(
        self, read: NDArray[np.uint8], first: int, stored: StoredArray, versions: NDArray[np.int64]
    ) -> None:
        count, page = len(versions), self._page
        self.checked += count
        numbers = np.arange(first, first + count)
        for index, bits in self._content.wrong(read, numbers, versions).items():
            self.wrong_count += 1
            byte, bit = divmod(int(bits[0]), 8)
            value = int(read[index * page + byte]) >> bit & 1
            if len(self.wrong) < MOST_WRONG:
                self.wrong.append(
                    WrongBlock(
                        self._name, self.job.stream, (first + index) * page, _lba_of(stored, index),
                        len(bits), byte, bit, value,
                    )
                )  # fmt: skip


class FlashDrive:
    """A device that is open with streams for all jobs."""

    in_place = False

    def __init__(self, device: Device, timed: bool) -> None:
        self.device = device
        self.block_bytes = device.config.geometry.page_bytes
        self.mhz = device.config.timing.clock_mhz
        self.timed = timed

    @property
    def cycles(self) -> int:
        return self.device.cycles

    def file(self, job: Job, copy: int, number: int, name: str) -> FlashFile:
        return FlashFile(self.device, job, number, name)

    def wait_any(self, operations: Iterable[Operation], until: int | None) -> None:
        pendings = [each.pending for each in operations if isinstance(each, _Transfer)]
        self.device.wait_any(pendings, until)

    def begin(self, files: Sequence[FlashFile]) -> None:
        """Use streams as rings before the measurement, for the first drop of a stream reads a zone report."""
        rings = {file.stream.name: file.stream for file in files if is_ring_job(file.job)}
        for name, stream in rings.items():
            kept = (file.stored for file in files if file.stream.name == name)
            stream.drop_all_but(stored for stored in kept if stored is not None)


def _within_zones(extent: Extent, zone: int) -> Iterable[Extent]:
    lba, blocks = extent
    while blocks:
        part = min(blocks, zone - lba % zone)
        yield Extent(lba, part)
        lba, blocks = lba + part, blocks - part


def _lba_of(stored: StoredArray, number: int) -> int:
    """The address of a logical block of an array, which may lie in two zones or more."""
    for extent in stored.extents:
        if number < extent.blocks:
            return extent.lba + number
        number -= extent.blocks
    raise IndexError(number)
