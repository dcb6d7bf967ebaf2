"""A job at work: it keeps commands in flight, and records their times."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from .drive import Drive, Operation
from .job import Job, Strides
from .offsets import MOST_PERMUTED, permutations
from .patterns import Direction
from .samples import Samples, Window


@dataclass(frozen=True)
class _Command:
    """The next command: blocks of the job's file, and their bytes."""

    direction: Direction
    first: int
    count: int


@dataclass(frozen=True)
class _InFlight:
    """A command in flight; direction: None for a flush. The host began to submit it at `begun`."""

    direction: Direction | None
    bytes: int
    begun: int
    submitted: int
    operation: Operation


class Worker:
    """One copy of a job. `number` differs between all copies of all jobs.

    A command goes to the next offset of a sequence, or of a random order. Reads pass over blocks that are not
    stored.

    Members
    -------
    file: the blocks of the job on the drive.
    depths: commands by the number in flight behind their submission.
    """

    def __init__(self, drive: Drive, job: Job, copy: int, number: int) -> None:
        self.job = job
        self.number = number
        self.name = job.name if job.numjobs == 1 else f"{job.name}.{copy}"
        self.depths: Counter[int] = Counter()
        self.file = drive.file(job, copy, number, self.name)
        self._drive = drive
        self._random = np.random.default_rng((job.randseed, number))
        self._block = drive.block_bytes
        self._blocks = job.bytes // drive.block_bytes
        self._least = job.least_bs
        self._strides = job.strides
        self._unit = (job.align or self._least) // drive.block_bytes
        self._in_flight: list[_InFlight] = []
        self._next: _Command | None = None
        self._sequence = dict.fromkeys(Direction, 0)
        self._order = self._random_units()
        self._issued = dict.fromkeys(Direction, 0)
        self._moved = dict.fromkeys(Direction, 0)
        self._due = dict.fromkeys(Direction, 0.0)
        self._thought = 0
        self._unflushed = 0
        self._times: dict[Direction, list[tuple[int, int, int, int]]] = {each: [] for each in Direction}
        self._timed = False
        self._stopped = self._flushed_end = False
        self._begin = self._counts_from = self._idle_until = 0
        self._deadline: int | None = None

    @property
    def in_flight(self) -> list[Operation]:
        return [command.operation for command in self._in_flight]

    @property
    def progress(self) -> float:
        """Commands per weight in a flow."""
        return sum(self._issued.values()) / self.job.flow

    @property
    def ended(self) -> bool:
        """Whether the job submits no more commands, and none is in flight."""
        return self._ended(self._drive.cycles) and not self._in_flight

    # The measurement.

    def start(self, now: int, timed: bool) -> None:
        """Begin at this cycle. Without time the job takes its size once, at once."""
        job = self.job
        self._timed = timed
        self._begin = now + self._cycles(job.startdelay) if timed else now
        self._counts_from = self._begin + self._cycles(job.ramp_time) if timed else now
        self._due = dict.fromkeys(Direction, float(self._begin))
        if timed and job.runtime is not None:
            self._deadline = self._counts_from + self._cycles(job.runtime)

    def stop(self) -> None:
        """Submit nothing more."""
        self._stopped = True

    def issue(self, now: int) -> bool:
        """Submit the next command, if it is due and there is room for it; whether one was submitted."""
        if self._is_full or (self._timed and now < self._begin):
            return False
        if self._needs_flush(now):
            self._submit(None, 0, self.file.flush, now)
            return True
        command = None if self._ended(now) else self._ready()
        if command is None or (self._timed and self._earliest(command) > now):
            return False
        self._next = None
        size = command.count * self._block
        self._submit(
            command.direction,
            size,
            lambda: self.file.begin(command.direction, command.first, command.count),
            now,
        )
        self._account(command.direction, size)
        return True

    def next_time(self) -> int | None:
        """The cycle at which the next command is due, or the job ends; None without a time to wait for."""
        now = self._drive.cycles
        if not self._timed or self._ended(now) or self._is_full:
            return None
        if now < self._begin:
            return self._begin
        if (command := self._ready()) is None or (time := self._earliest(command)) <= now:
            return None
        return time if self._deadline is None else min(time, self._deadline)

    def collect(self) -> int:
        """Take the results of the commands that are complete; returns their number."""
        done = [command for command in self._in_flight if command.operation.answered]
        if done:
            self._in_flight = [each for each in self._in_flight if not each.operation.answered]
        for command in done:
            self.file.finish(command.operation)
            completed = command.operation.completed
            if command.direction is not None:
                times = command.begun, command.submitted, completed, command.bytes
                self._times[command.direction].append(times)
            if self.job.thinktime and self._thought >= self.job.thinktime_blocks and not self._in_flight:
                self._thought = 0
                self._idle_until = completed + self._cycles(self.job.thinktime)
        return len(done)

    def samples(self, direction: Direction) -> Samples:
        """The commands that were completed in the window that counts."""
        rows = np.array(self._times[direction], np.int64).reshape(-1, 4)
        begin, end = self._counts_from, self._window_end()
        counted = rows[(rows[:, 2] >= begin) & (rows[:, 2] <= end)]
        return Samples(counted[:, :3], counted[:, 3], Window(begin, end, self._drive.mhz))

    # Implementation.

    @property
    def _is_full(self) -> bool:
        """Whether the job waits for a completion: by its depth, or before a thinktime."""
        thinks = bool(self.job.thinktime) and self._thought >= self.job.thinktime_blocks
        return thinks or len(self._in_flight) >= self.job.iodepth

    def _window_end(self) -> int:
        """The end of the runtime, or the last completion if the job has ended before."""
        if self._deadline is not None and self.job.time_based and not self._stopped:
            return self._deadline
        last = max((times[-1][2] for times in self._times.values() if times), default=0)
        last = max(last, self._counts_from)
        return last if self._deadline is None else min(last, self._deadline)

    def _cycles(self, nanoseconds: int) -> int:
        return round(nanoseconds * self._drive.mhz / 1000)

    def _ended(self, now: int) -> bool:
        if self._stopped or (self._deadline is not None and now >= self._deadline):
            return True
        if self.job.number_ios is not None and sum(self._issued.values()) >= self.job.number_ios:
            return True
        again = self.job.time_based and self._timed
        done = sum(self._moved.values())
        if self._strides is not None:  # as in fio what is left out counts
            done += done // self._strides.size * self._strides.skip
        return not again and done + self._least > self.job.bytes_moved

    def _needs_flush(self, now: int) -> bool:
        """Whether `fsync` or `end_fsync` asks for a flush in the place of the next command."""
        if self.job.fsync and self._unflushed >= self.job.fsync:
            self._unflushed = 0
            return True
        if self.job.end_fsync and not self._flushed_end and self._ended(now) and not self._in_flight:
            self._flushed_end = True
            return True
        return False

    def _ready(self) -> _Command | None:
        """The next command, chosen once; None as long as the drive cannot take it."""
        if self._next is None:
            self._next = self._chosen(self._direction())
        command = self._next
        if command is None or command.direction is Direction.READ:
            return command
        return command if self.file.writable(command.first, command.count) else None

    def _direction(self) -> Direction:
        rw = self.job.rw
        if not rw.is_mix:
            return rw.directions[0]
        reads = int(self._random.integers(100)) < self.job.rwmixread
        return Direction.READ if reads else Direction.WRITE

    def _chosen(self, direction: Direction) -> _Command | None:
        """A command in this direction at the next offset; of a read, the next one that is stored."""
        size = self.job.bs.of(direction).draw(self._random) // self._block
        for _ in range(self._blocks // self._unit + 1):
            first = self._offset(direction, size)
            most = min(size, self._blocks - first)
            if direction is not Direction.READ:
                return _Command(direction, first, most)
            if stored := self.file.readable(first, most):
                return _Command(direction, first, stored)
        return None

    def _offset(self, direction: Direction, size: int) -> int:
        """The first block of the next command; sequences begin again where the next one does not fit."""
        job = self.job
        is_random = job.rw.random and (direction is Direction.READ or self._drive.in_place)
        if self._strides is not None:
            return self._in_zone(self._strides, direction, is_random)
        if (
            is_random
            and self._issued[direction] % job.rw.run == 0
            and (job.percentage_random == 100 or int(self._random.integers(100)) < job.percentage_random)
        ):
            first = next(self._order) * self._unit
            if job.rw.run > 1:
                self._sequence[direction] = first if job.same_offset else first + size
            return first
        if is_random and job.rw.run > 1 and job.same_offset:
            return self._sequence[direction]
        first = self._in_sequence(self._sequence[direction], size)
        self._sequence[direction] = first + size
        return first

    def _in_zone(self, strides: Strides, direction: Direction, is_random: bool) -> int:
        """The first block of a command in a strided zone; behind the last zone comes the first."""
        zone, within = divmod(self._moved[direction], strides.size)
        zones = (self.job.bytes - strides.range) // strides.pitch + 1
        if is_random:
            units = max(1, strides.range // (self._unit * self._block))
            within = int(self._random.integers(units)) * self._unit * self._block
        return (zone % zones * strides.pitch + within % strides.range) // self._block

    def _in_sequence(self, end: int, size: int) -> int:
        """The first block behind `end`, that of the command before; a negative step begins at the end."""
        step = self.job.rw.step // self._block
        first = (end or self._blocks * (step < 0)) + step if end or step < 0 else 0
        if 0 <= first <= self._blocks - size:
            return first
        return 0 if step >= 0 else max(0, self._blocks + min(step, -size))

    def _random_units(self) -> Iterator[int]:
        job, units = self.job, max(1, (self._blocks - self._unit) // self._unit + 1)
        # fio's map keeps uniform offsets from repeating; other distributions have none.
        if not job.norandommap and job.random_distribution.is_uniform and units <= MOST_PERMUTED:
            return permutations(units, self._random)
        return job.random_distribution.draws(units, self._random, self._unit * self._block)

    def _earliest(self, command: _Command) -> int:
        """The cycle from which on rates and thinktime allow a command."""
        return max(ceil(self._due[command.direction]), self._idle_until)

    def _submit(
        self, direction: Direction | None, size: int, begin: Callable[[], Operation], now: int
    ) -> None:
        operation = begin()
        self._in_flight.append(_InFlight(direction, size, now, self._drive.cycles, operation))
        if direction is not None:
            self.depths[len(self._in_flight)] += 1

    def _account(self, direction: Direction, size: int) -> None:
        job = self.job
        self._issued[direction] += 1
        self._moved[direction] += size
        self._thought += 1
        self._unflushed += direction is Direction.WRITE
        hertz = self._drive.mhz * 1e6
        distances = [
            amount * hertz / rate
            for rate, amount in ((job.rate.of(direction), size), (job.rate_iops.of(direction), 1))
            if rate is not None
        ]
        if distances:
            factor = self._random.exponential() if job.poisson else 1.0
            self._due[direction] += max(distances) * factor
