"""Jobs on conventional drives (`flashtrain.ssd`): files have addresses, and blocks no contents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from flashtrain.ssd import SsdArray, SsdConfig
from flashtrain.ssd.kernel import COMMAND
from flashtrain.traces import Operation as Kind

from .checks import file_key
from .content import WrongBlock
from .drive import Operation
from .job import Job
from .patterns import Direction

_FOREVER = 2**63 - 1
_NOT_DONE = -1


@dataclass(frozen=True)
class _Transfer:
    """A command in flight, in a slot of the drive."""

    slots: Any
    slot: int

    @property
    def answered(self) -> bool:
        return self.completed != _NOT_DONE

    @property
    def completed(self) -> int:
        return int(self.slots[self.slot]["done"])


class SsdFile:
    """Blocks of the array from `base` on. The model keeps no contents, so nothing is checked."""

    def __init__(self, drive: "SsdDrive", job: Job, base: int) -> None:
        self.job = job
        self.wrong: list[WrongBlock] = []
        self.wrong_count = self.checked = 0
        self._drive = drive
        self._base = base

    def lay_out(self) -> None:
        """Write the blocks that reads and trims need, in no time."""
        if self.job.rw.needs_data:
            self._drive.array.fill(self._base, self.job.bytes // self._drive.block_bytes)

    def readable(self, first: int, count: int) -> int:
        return count

    def writable(self, first: int, count: int) -> bool:
        return True

    def begin(self, direction: Direction, first: int, count: int) -> Operation:
        return self._drive.begin_command(Kind[direction.name], self._base + first, count)

    def flush(self) -> Operation:
        return self._drive.begin_command(Kind.FLUSH, 0, 0)

    def finish(self, operation: Operation) -> None:
        assert isinstance(operation, _Transfer)
        self._drive.release(operation.slot)

    def verify(self) -> None:
        """Nothing: there are no contents."""


class SsdDrive:
    """An array of drives for these jobs; use it in a `with` statement."""

    timed = True
    in_place = True

    def __init__(self, config: SsdConfig, jobs: Sequence[Job]) -> None:
        self.array = SsdArray(config)
        self.block_bytes = config.geometry.page_bytes
        self.mhz = config.timing.clock_mhz
        self.cycles = 0
        self._bases = _bases(jobs, self.block_bytes)
        depth = sum(job.numjobs * job.iodepth for job in jobs)
        self._slots = np.zeros(depth, COMMAND)
        self._free = list(range(depth))

    def __enter__(self) -> "SsdDrive":
        return self

    def __exit__(self, *_: object) -> None:
        self.array.close()

    def file(self, job: Job, copy: int, number: int, name: str) -> SsdFile:
        return SsdFile(self, job, self._bases[number])

    def wait_any(self, operations: Iterable[Operation], until: int | None) -> None:
        if not any(operation.answered for operation in operations):
            self.cycles = self.array.kernel.advance(_FOREVER if until is None else until)

    def begin(self, files: Sequence[SsdFile]) -> None:
        """Take commands from now on: what was laid out in no time is programmed."""
        self.array.kernel.open(self._slots)

    def begin_command(self, kind: Kind, first: int, count: int) -> Operation:
        slot = self._free.pop()
        command = self._slots[slot]
        command["op"], command["first"], command["count"], command["done"] = kind, first, count, _NOT_DONE
        self.array.kernel.begin(slot)
        return _Transfer(self._slots, slot)

    def release(self, slot: int) -> None:
        """Reuse the slot of a command that is done."""
        self._free.append(slot)


def _bases(jobs: Sequence[Job], page: int) -> list[int]:
    """The first page of each copy of each job: files of a name are one, the others lie behind each other."""
    ends: dict[str, int] = {}
    for job in jobs:
        end = job.offset + (job.numjobs - 1) * job.offset_increment + job.bytes
        for copy in range(job.numjobs):
            key = file_key(job, copy)
            ends[key] = max(ends.get(key, 0), end)
    starts = dict(zip(ends, accumulate(ends.values(), initial=0), strict=False))
    return [
        (starts[file_key(job, copy)] + job.offset + copy * job.offset_increment) // page
        for job in jobs
        for copy in range(job.numjobs)
    ]
