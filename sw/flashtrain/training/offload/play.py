"""Plays a plan on a device: its traffic with synthetic data, beside operations that only take time.

The rules are those of `event_model`, but writes and reads take the time that the device takes. Up to
`IN_FLIGHT` transfers of a kind are in the device at a time, so that its pipeline does not run empty. A tensor
with a codec is played as its stored bytes. On a Link without time an operation ends as soon as it has begun.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, StoredArray
from flashtrain.host.queues.pending import Pending
from flashtrain.training.errors import OffloadError, ReplayError
from flashtrain.training.offload.event_model import SPAN, Timeline
from flashtrain.training.offload.plan import Plan, PlannedTensor
from flashtrain.training.offload.profile import Profile, SavedTensor

STREAM = "activations"
IN_FLIGHT = 2
CYCLES_BETWEEN_POLLS = 200
"""Cycles for which the device runs before it is asked again what has ended."""


@dataclass(frozen=True)
class Played:
    """The iteration as it was, and its traffic. `timeline.seconds` is 0 on a Link without time."""

    timeline: Timeline
    written_bytes: int
    read_bytes: int


@dataclass(eq=False)
class _State:
    """A tensor in the run. `stays`: to its last use, whatever becomes of its write."""

    index: int
    tensor: SavedTensor
    planned: PlannedTensor | None
    data: NDArray[np.uint8]
    in_memory: bool = False
    stays: bool = False
    writing: Pending[StoredArray] | None = None
    reading: Pending[NDArray] | None = None
    stored: StoredArray | None = None


def play_plan(plan: Plan, profile: Profile, device: Device, seed: int = 1) -> Played:
    """One iteration of `plan`; each tensor that comes back is compared with what was written.

    Raises `OffloadError` if the plan is for another model, too large for the device, or stuck. Raises
    `ReplayError` if a tensor comes back changed, and the errors of the driver.
    """
    plan.check(profile)
    stream, page = device.stream(STREAM), device.config.geometry.page_bytes
    room = stream.zones * stream.zone_capacity
    blocks = sum(-(-stored_bytes(tensor) // page) for tensor in plan.tensors)
    if blocks > room:
        raise OffloadError(
            f"the plan of model {plan.model} stores {blocks * page:,} bytes; expected at most"
            f" {room * page:,}, the room of stream {STREAM} of {device.config.name}"
        )
    return _Player(plan, profile, device, seed).run()


def stored_bytes(tensor: PlannedTensor) -> int:
    """Bytes that a tensor is expected to take in the storage, at least 1."""
    return max(1, round(tensor.bytes / tensor.ratio))


class _Player:
    def __init__(self, plan: Plan, profile: Profile, device: Device, seed: int) -> None:
        self._plan, self._profile, self._device = plan, profile, device
        self._stream = device.stream(STREAM)
        self._clock = device.config.timing.clock_hz
        rng = np.random.default_rng(seed)
        self._states = [self._state(index, tensor, rng) for index, tensor in enumerate(profile.tensors)]
        self._memory = plan.storage.memory_bytes - profile.resident_bytes
        self._used = self._peak = 0
        self._operation, self._due = 0, False
        self._end: int | None = None
        self._to_write: list[_State] = []
        self._to_read: list[_State] = []
        self._start = device.cycles
        self._operations = np.full(len(profile.operations), np.nan, SPAN)
        self._writes = np.full(len(self._states), np.nan, SPAN)
        self._reads = np.full(len(self._states), np.nan, SPAN)
        self._written_bytes = self._read_bytes = 0

    def run(self) -> Played:
        while self._operation < len(self._profile.operations) or self._in_flight():
            while self._become_due() or self._begin() or self._write() or self._read():
                pass
            if self._end is None and not self._in_flight():
                operation = self._profile.operations[self._operation]
                raise OffloadError(
                    f"{self._profile.model}: operation {operation.name} finds no space in memory; expected"
                    f" more than {self._plan.storage.memory_bytes:,} bytes"
                )
            self._let_time_pass()
            self._take_ended()
        resident = self._profile.resident_bytes
        timeline = Timeline(
            self._now(), self._peak + resident, None, self._operations, self._writes, self._reads
        )
        return Played(timeline, self._written_bytes, self._read_bytes)

    def _state(self, index: int, tensor: SavedTensor, rng: np.random.Generator) -> _State:
        planned = self._plan.by_name.get(tensor.name)
        size = 0 if planned is None else stored_bytes(planned)
        return _State(index, tensor, planned, rng.integers(0, 256, size, np.uint8), stays=planned is None)

    def _become_due(self) -> bool:
        """The next operation is due, and the reads that belong to its begin are issued."""
        if self._due or self._operation == len(self._profile.operations):
            return False
        writing = any(state.writing is not None for state in self._states)
        if self._plan.barrier and self._operation == self._profile.forward_operations:
            if self._to_write or writing:
                return False
        self._due = True
        for state in self._states:
            if state.planned is not None and state.planned.prefetch_before == self._operation:
                if state.in_memory or state.stored is None:
                    state.stays = True
                    self._to_write = [each for each in self._to_write if each is not state]
                else:
                    self._to_read.append(state)
        self._to_read.sort(key=_reading_order)
        return True

    def _begin(self) -> bool:
        if not self._due or self._end is not None:
            return False
        made = [state for state in self._states if state.tensor.made == self._operation]
        needed = sum(state.tensor.bytes for state in made)
        present = all(state.in_memory for state in self._states if state.tensor.uses[0] == self._operation)
        if not present or self._used + needed > self._memory:
            return False
        self._take(needed)
        for state in made:
            state.in_memory = True
        seconds = self._profile.operations[self._operation].seconds
        self._end = self._device.cycles + (round(seconds * self._clock) if self._timed else 0)
        self._operations[self._operation] = self._now(), (self._end - self._start) / self._clock
        return True

    def _write(self) -> bool:
        if sum(state.writing is not None for state in self._states) >= IN_FLIGHT or not self._to_write:
            return False
        state = self._to_write.pop(0)
        state.writing = self._stream.append_async(state.data)
        self._writes[state.index]["begin"] = self._now()
        self._written_bytes += state.data.nbytes
        return True

    def _read(self) -> bool:
        if sum(state.reading is not None for state in self._states) >= IN_FLIGHT or not self._to_read:
            return False
        state = self._to_read[0]
        if self._used + state.tensor.bytes > self._memory:
            return False
        self._take(state.tensor.bytes)
        self._to_read.pop(0)
        assert state.stored is not None, "only stored tensors are read"
        state.reading = self._stream.read_async(state.stored)
        self._reads[state.index]["begin"] = self._now()
        self._read_bytes += state.data.nbytes
        return True

    def _let_time_pass(self) -> None:
        """Run the device up to the end of the operation, but not for long, as transfers may end."""
        left = CYCLES_BETWEEN_POLLS if self._end is None else self._end - self._device.cycles
        if left > 0:
            self._device.link.run(min(left, CYCLES_BETWEEN_POLLS))

    def _take_ended(self) -> None:
        for state in self._states:
            if state.writing is not None and state.writing.done:
                self._end_write(state, state.writing.result())
            if state.reading is not None and state.reading.done:
                self._end_read(state, state.reading.result())
        if self._end is not None and self._device.cycles >= self._end:
            self._end_operation()

    def _end_write(self, state: _State, stored: StoredArray) -> None:
        state.writing, state.stored = None, stored
        self._writes[state.index]["end"] = self._now()
        if self._operation > state.tensor.uses[-1]:
            self._used -= state.tensor.bytes
            self._stream.drop(stored)
        self._leave_if_written(state)

    def _end_read(self, state: _State, data: NDArray) -> None:
        if not np.array_equal(data, state.data):
            raise ReplayError(f"tensor {state.tensor.name}: what was read is not what was written")
        state.reading = None
        state.in_memory = state.stays = True
        self._reads[state.index]["end"] = self._now()

    def _end_operation(self) -> None:
        ended, self._operation = self._operation, self._operation + 1
        self._end, self._due = None, False
        for state in self._states:
            if state.tensor.made == ended and not state.stays:
                self._to_write.append(state)
            if state.tensor.uses[-1] == ended:
                self._drop(state)
            self._leave_if_written(state)
        self._to_write.sort(key=_writing_order)

    def _drop(self, state: _State) -> None:
        """After the last use; a write that still runs frees the memory at its end."""
        state.in_memory = False
        if state.writing is not None:
            return
        self._used -= state.tensor.bytes
        if state.stored is not None:
            self._stream.drop(state.stored)

    def _leave_if_written(self, state: _State) -> None:
        released = self._operation > state.tensor.last_forward
        if state.stored is not None and released and state.in_memory and not state.stays:
            state.in_memory = False
            self._used -= state.tensor.bytes

    def _take(self, size: int) -> None:
        self._used += size
        self._peak = max(self._peak, self._used)

    def _in_flight(self) -> bool:
        return any(state.writing is not None or state.reading is not None for state in self._states)

    @property
    def _timed(self) -> bool:
        """Whether the Link counts cycles; one that does has counted some when its device was opened."""
        return self._start > 0

    def _now(self) -> float:
        return (self._device.cycles - self._start) / self._clock


def _writing_order(state: _State) -> int:
    assert state.planned is not None
    return state.planned.write_order


def _reading_order(state: _State) -> tuple[int, int]:
    assert state.planned is not None
    return state.planned.first_use, state.planned.write_order
