"""A job at work: it keeps commands in flight, and records their times."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import CommandError, Device, Pending, StoredArray, StreamFull
from flashtrain.host.queues.command_log import labelled
from flashtrain.spec import Access

from .checks import port_with
from .content import Content, WrongBlock
from .errors import IoFailed
from .job import Job
from .patterns import Direction
from .samples import Samples, Window

MOST_WRONG = 1000
"""Wrong logical blocks that are kept of a job."""


@dataclass(frozen=True)
class _Operation:
    """A command in flight on a block of the job; `buffer` is the number of its data's place.

    stored: the block that is read; None for an append.
    """

    direction: Direction
    block: int
    version: int
    stored: StoredArray | None
    buffer: int
    begun: int
    submitted: int
    pending: Pending[Any]


class Worker:
    """One copy of a job. `number` differs between all copies of all jobs.

    The job's blocks are stored in a stream, one handle each. An append writes the next block; in a ring it
    drops the handle of that block before. A read takes the next stored block, or the next one of a random
    permutation.

    Members
    -------
    wrong: logical blocks that were not as expected, at most `MOST_WRONG`; `wrong_count` has all.
    checked: logical blocks that were compared with their contents.
    depths: commands by the number in flight behind their submission.
    """

    def __init__(self, device: Device, job: Job, copy: int, number: int) -> None:
        config, page = device.config, device.config.geometry.page_bytes
        self.job = job
        self.number = number
        self.name = job.name if job.numjobs == 1 else f"{job.name}.{copy}"
        self.wrong: list[WrongBlock] = []
        self.wrong_count = self.checked = 0
        self.depths: Counter[int] = Counter()
        self.stream = device.stream(job.stream, job.port)
        self._device = device
        self._page_bytes = page
        self._mhz = config.timing.clock_mhz
        self._random = np.random.default_rng((job.randseed, number))
        self._content = Content(job.randseed, number, page, job.bs // page)
        self._buffers = [device.buffer((job.bs,), np.uint8) for _ in range(job.iodepth)]
        for buffer in self._buffers:
            buffer[:] = self._random.integers(0, 256, job.bs, np.uint8)
        self._free = list(range(job.iodepth))
        self._in_flight: list[_Operation] = []
        self._stored: list[StoredArray | None] = [None] * job.blocks
        self._versions = [-1] * job.blocks
        self._appending: set[int] = set()
        self._next_append = 0
        self._reads = self._order()
        self._next_direction: Direction | None = None
        self._issued = dict.fromkeys(Direction, 0)
        self._times: dict[Direction, list[tuple[int, int, int]]] = {each: [] for each in Direction}
        self._timed = False
        self._begin = self._counts_from = 0
        self._deadline: int | None = None

    @property
    def in_flight(self) -> list[Pending[Any]]:
        return [operation.pending for operation in self._in_flight]

    @property
    def stored(self) -> list[StoredArray]:
        """The blocks that are stored now."""
        return [stored for stored in self._stored if stored is not None]

    # Before the measurement.

    def lay_out(self) -> None:
        """Store all blocks that reads need, and wait for it."""
        if not self.job.rw.reads:
            return
        port = port_with(self.stream.table, Access.APPEND, self.job.port)
        assert port is not None
        writer = self._device.stream(self.job.stream, port)
        appends = []
        for block in range(self.job.blocks):
            self._versions[block] = 0
            data = self._content.of(block, 0).reshape(-1) if self.job.verify else self._buffers[0]
            appends.append(writer.append_async(data))
        self._stored[:] = [append.result() for append in appends]
        writer.flush()

    # The measurement.

    def start(self, now: int, timed: bool) -> None:
        """Begin at this cycle. Without time the job takes its size once, at once."""
        job = self.job
        self._begin, self._timed = now, timed
        self._counts_from = now + self._cycles(job.ramp_time) if timed else now
        if timed and job.runtime is not None:
            self._deadline = self._counts_from + self._cycles(job.runtime)

    def issue(self, now: int) -> bool:
        """Submit the next command, if it is due and there is room for it; whether one was submitted."""
        direction = self._due(now)
        if direction is None:
            return False
        try:
            self._submit(direction)
        except (CommandError, StreamFull) as error:
            raise IoFailed(f"{self.name}: {error}") from error
        self._next_direction = None
        self._issued[direction] += 1
        self.depths[len(self._in_flight)] += 1
        return True

    def next_time(self) -> int | None:
        """The cycle at which a rate allows the next command, or the job ends; None without a rate."""
        if self._ended(self._device.cycles) or not self._can_issue(direction := self._direction()):
            return None
        time = self._rate_time(direction)
        return time if time is None or self._deadline is None else min(time, self._deadline)

    def collect(self) -> int:
        """Take the results of the operations that are complete; returns their number."""
        done = [operation for operation in self._in_flight if operation.pending.answered]
        if done:
            self._in_flight = [each for each in self._in_flight if not each.pending.answered]
        for operation in done:
            self._finish(operation)
        return len(done)

    def samples(self, direction: Direction) -> Samples:
        """The commands that were completed in the window that counts."""
        times = np.array(self._times[direction], np.int64).reshape(-1, 3)
        begin, end = self._counts_from, self._window_end()
        counted = times[(times[:, 2] >= begin) & (times[:, 2] <= end)]
        return Samples(counted, np.full(len(counted), self.job.bs, np.int64), Window(begin, end, self._mhz))

    def _window_end(self) -> int:
        """The end of the runtime, or the last completion if the job has ended before."""
        if self._deadline is not None and self.job.time_based:
            return self._deadline
        last = max((times[-1][2] for times in self._times.values() if times), default=0)
        last = max(last, self._counts_from)
        return last if self._deadline is None else min(last, self._deadline)

    # Behind the measurement.

    def verify(self) -> None:
        """Read all that is stored, by a port that may, and check it."""
        port = port_with(self.stream.table, Access.READ, self.job.port)
        assert port is not None
        reader = self._device.stream(self.job.stream, port)
        waiting: deque[tuple[int, StoredArray, Pending[NDArray[np.uint8]]]] = deque()
        for block, stored in enumerate(self._stored):
            if stored is None:
                continue
            if len(waiting) == len(self._buffers):
                self._verify_next(*waiting.popleft())
            buffer = self._buffers[block % len(self._buffers)]
            waiting.append((block, stored, reader.read_async(stored, buffer)))
        for read in waiting:
            self._verify_next(*read)

    def _verify_next(self, block: int, stored: StoredArray, read: Pending[NDArray[np.uint8]]) -> None:
        self._check(self._result(read, block), block, self._versions[block], stored)

    # Implementation.

    def _cycles(self, nanoseconds: int) -> int:
        return round(nanoseconds * self._mhz / 1000)

    def _order(self) -> Iterator[int]:
        """Blocks in the order of reads, without an end; every block once in each round."""
        while True:
            blocks = self.job.blocks
            yield from self._random.permutation(blocks).tolist() if self.job.rw.random else range(blocks)

    def _ended(self, now: int) -> bool:
        if self._deadline is not None and now >= self._deadline:
            return True
        again = self.job.time_based and self._timed
        return not again and sum(self._issued.values()) >= self.job.blocks

    def _direction(self) -> Direction:
        """The direction of the next command, drawn once for each."""
        if self._next_direction is None:
            job = self.job
            is_mix = job.rw.reads and job.rw.appends
            reads = int(self._random.integers(100)) < job.rwmixread if is_mix else job.rw.reads
            self._next_direction = Direction.READ if reads else Direction.APPEND
        return self._next_direction

    def _due(self, now: int) -> Direction | None:
        if self._ended(now) or not self._can_issue(direction := self._direction()):
            return None
        time = self._rate_time(direction)
        return direction if time is None or time <= now else None

    def _can_issue(self, direction: Direction) -> bool:
        if not self._free:
            return False
        if direction is Direction.APPEND:
            return self._next_append not in self._appending
        return any(stored is not None for stored in self._stored)

    def _rate_time(self, direction: Direction) -> int | None:
        rates = (
            (self.job.rate.of(direction), self._issued[direction] * self.job.bs),
            (self.job.rate_iops.of(direction), self._issued[direction]),
        )
        times = [
            self._begin + -(-amount * self._mhz * 10**6 // rate) for rate, amount in rates if rate is not None
        ]
        return max(times) if times and self._timed else None

    def _submit(self, direction: Direction) -> None:
        buffer = self._free[-1]
        data, begun = self._buffers[buffer], self._device.cycles
        if direction is Direction.APPEND:
            block, stored = self._next_append, None
            version = self._versions[block] + 1
            if self.job.verify:
                data[:] = self._content.of(block, version).reshape(-1)
            if (old := self._stored[block]) is not None:
                self._stored[block] = None
                self.stream.drop(old)
            with labelled(f"{self.name} block {block}"):
                pending: Pending[Any] = self.stream.append_async(data)
            self._versions[block] = version
            self._appending.add(block)
            self._next_append = (block + 1) % self.job.blocks
        else:
            block = next(block for block in self._reads if self._stored[block] is not None)
            stored = self._stored[block]
            assert stored is not None
            version = self._versions[block]
            with labelled(f"{self.name} block {block}"):
                pending = self.stream.read_async(stored, data)
        self._free.pop()
        self._in_flight.append(
            _Operation(direction, block, version, stored, buffer, begun, self._device.cycles, pending)
        )

    def _finish(self, operation: _Operation) -> None:
        result = self._result(operation.pending, operation.block)
        times = operation.begun, operation.submitted, operation.pending.completed
        self._times[operation.direction].append(times)
        self._free.append(operation.buffer)
        if operation.direction is Direction.APPEND:
            self._stored[operation.block] = result
            self._appending.discard(operation.block)
        elif self.job.verify and operation.stored is not None:
            self._check(result, operation.block, operation.version, operation.stored)

    def _result(self, pending: Pending[Any], block: int) -> Any:
        try:
            return pending.result()
        except CommandError as error:
            raise IoFailed(f"{self.name}: offset {block * self.job.bs}: {error}") from error

    def _check(self, read: NDArray[np.uint8], block: int, version: int, stored: StoredArray) -> None:
        job, page = self.job, self._page_bytes
        self.checked += job.bs // page
        for number, bits in self._content.wrong(read, block, version).items():
            self.wrong_count += 1
            byte, bit = divmod(int(bits[0]), 8)
            value = int(read[number * page + byte]) >> bit & 1
            if len(self.wrong) < MOST_WRONG:
                self.wrong.append(
                    WrongBlock(
                        self.name, job.stream, block * job.bs + number * page, _lba_of(stored, number),
                        len(bits), byte, bit, value,
                    )
                )  # fmt: skip


def _lba_of(stored: StoredArray, number: int) -> int:
    """The address of a logical block of an array, which may lie in two zones or more."""
    for extent in stored.extents:
        if number < extent.blocks:
            return extent.lba + number
        number -= extent.blocks
    raise IndexError(number)
