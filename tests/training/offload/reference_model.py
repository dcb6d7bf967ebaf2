"""The event model once more, as its docstring says it: plain lists, looked through at each event."""

from dataclasses import dataclass, field
from math import inf, nan

from flashtrain.training.offload import Profile, SavedTensor, Storage


@dataclass(eq=False)
class Transfer:
    """A write or a read. `left`: seconds of its data that remain, of the channel alone."""

    tensor: "State"
    left: float
    latency_end: float = inf

    @property
    def moving(self) -> bool:
        return self.latency_end == inf


@dataclass(eq=False)
class State:
    number: int
    tensor: SavedTensor
    order: int
    before: int
    codec: str
    in_memory: bool = False
    stays: bool = False
    written: bool = False
    write: tuple[float, float] = (nan, nan)
    read: tuple[float, float] = (nan, nan)


@dataclass
class ReferenceModel:
    """Plays an iteration; results are the fields after `run`."""

    profile: Profile
    storage: Storage
    codecs: list[str]
    write_order: list[int]
    prefetch_before: list[int]
    barrier: bool
    now: float = 0.0
    used: int = 0
    peak: int = 0
    operations: list[tuple[float, float]] = field(default_factory=list)
    waiting_writes: list[State] = field(default_factory=list)
    waiting_reads: list[State] = field(default_factory=list)
    writing: list[Transfer] = field(default_factory=list)
    reading: list[Transfer] = field(default_factory=list)
    buffered: float = 0.0
    drained_at: float = 0.0

    def run(self) -> "int | None":
        """The operation that gets stuck, or None."""
        items = zip(self.profile.tensors, self.write_order, self.prefetch_before, self.codecs, strict=True)
        self.states = [State(i, *each, stays=each[1] < 0) for i, each in enumerate(items)]
        self.next, self.due, self.end = 0, False, inf
        while True:
            while self._go_on():
                pass
            step = self._next_event()
            if step == inf:
                return self.next if self.next < len(self.profile.operations) else None
            self._pass(step)

    def _go_on(self) -> bool:
        return self._become_due() or self._begin() or self._write() or self._read()

    def _become_due(self) -> bool:
        if self.due or self.next == len(self.profile.operations):
            return False
        unwritten = self.waiting_writes or self.writing
        if self.barrier and self.next == self.profile.forward_operations and unwritten:
            return False
        self.due = True
        for state in self.states:
            if state.order >= 0 and state.before == self.next:
                if state.in_memory or not state.written:
                    state.stays = True
                    self.waiting_writes = [each for each in self.waiting_writes if each is not state]
                else:
                    self.waiting_reads.append(state)
        return True

    def _begin(self) -> bool:
        if not self.due or self.end < inf:
            return False
        used = [state for state in self.states if self.next in state.tensor.uses]
        made = [state for state in self.states if state.tensor.made == self.next]
        needed = sum(state.tensor.bytes for state in made)
        if not all(state.in_memory for state in used) or not self._fits(needed):
            return False
        self._take(needed)
        for state in made:
            state.in_memory = True
        self.end = self.now + self.profile.operations[self.next].seconds
        self.operations.append((self.now, self.end))
        return True

    def _write(self) -> bool:
        if any(each.moving for each in self.writing) or not self.waiting_writes:
            return False
        state = min(self.waiting_writes, key=lambda each: each.order)
        self.waiting_writes.remove(state)
        self.writing.append(Transfer(state, self._buffered_write(state)))
        state.write = self.now, nan
        return True

    def _buffered_write(self, state: State) -> float:
        """Bytes in the buffer drain at the write rate; a write that fills it goes on at that rate."""
        rate = self.storage.write_bytes_per_second
        stored = state.tensor.bytes / self.storage.ratio(state.tensor, state.codec)
        stored = max(stored, self.storage.port_time(state.tensor) * rate)
        buffered = max(0.0, self.buffered - (self.now - self.drained_at) * rate)
        free = self.storage.buffer_bytes - buffered
        seconds = max(self.storage.port_time(state.tensor), (stored - free) / rate)
        self.buffered = max(0.0, buffered + stored - seconds * rate)
        return seconds

    def _read(self) -> bool:
        if any(each.moving for each in self.reading) or not self.waiting_reads:
            return False
        state = min(self.waiting_reads, key=lambda each: (each.tensor.uses[0], each.order))
        if not self._fits(state.tensor.bytes):
            return False
        self._take(state.tensor.bytes)
        self.waiting_reads.remove(state)
        self.reading.append(Transfer(state, self.storage.read_time(state.tensor, state.codec)))
        state.read = self.now, nan
        return True

    def _slowdown(self) -> float:
        moving = [next((each for each in side if each.moving), None) for side in (self.writing, self.reading)]
        if None in moving:
            return 1.0
        write, read = (each.tensor for each in moving)
        loads = []
        for part in self.storage.shared:
            load = 0.0
            for state, time, rate in (
                (write, self.storage.write_time, part.write_bytes_per_second),
                (read, self.storage.read_time, part.read_bytes_per_second),
            ):
                stored = state.tensor.bytes / self.storage.ratio(state.tensor, state.codec)
                load += stored / rate / time(state.tensor, state.codec)
            loads.append(load)
        return max([1.0, *loads])

    def _next_event(self) -> float:
        slowdown = self._slowdown()
        steps = [self.end - self.now]
        for each in (*self.writing, *self.reading):
            steps.append(each.left * slowdown if each.moving else each.latency_end - self.now)
        return min(steps)

    def _pass(self, step: float) -> None:
        slowdown, self.now = self._slowdown(), self.now + step
        for side, latency in (
            (self.writing, self.storage.write_seconds),
            (self.reading, self.storage.read_seconds),
        ):
            for each in side:
                if each.moving:
                    each.left -= step / slowdown
                    if each.left < 1e-12:
                        if side is self.writing:
                            self.drained_at = self.now
                        each.latency_end = self.now + latency
        for each in [each for each in self.writing if each.latency_end <= self.now + 1e-12]:
            self.writing.remove(each)
            self._end_write(each.tensor)
        for each in [each for each in self.reading if each.latency_end <= self.now + 1e-12]:
            self.reading.remove(each)
            each.tensor.in_memory = each.tensor.stays = True
            each.tensor.read = each.tensor.read[0], self.now
        if self.end <= self.now + 1e-12:
            self._end_operation()

    def _end_write(self, state: State) -> None:
        state.written, state.write = True, (state.write[0], self.now)
        if self.next > state.tensor.uses[-1]:
            self.used -= state.tensor.bytes
        self._leave_if_written(state)

    def _end_operation(self) -> None:
        self.end, self.due = inf, False
        ended, self.next = self.next, self.next + 1
        for state in self.states:
            if state.tensor.made == ended and not state.stays:
                self.waiting_writes.append(state)
            if state.tensor.uses[-1] == ended:
                state.in_memory = False
                if all(each.tensor is not state for each in self.writing):
                    self.used -= state.tensor.bytes
            self._leave_if_written(state)

    def _leave_if_written(self, state: State) -> None:
        released = self.next > state.tensor.last_forward
        if state.written and released and state.in_memory and not state.stays:
            state.in_memory = False
            self.used -= state.tensor.bytes

    def _fits(self, size: int) -> bool:
        return self.used + size <= self.storage.memory_bytes - self.profile.resident_bytes

    def _take(self, size: int) -> None:
        self.used += size
        self.peak = max(self.peak, self.used)
