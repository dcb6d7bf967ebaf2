"""FlashNeuron's choice of tensors (FAST'21), as its public code makes it.

Source: `FlashNeuronEngine::offloading_scheduler` in `torch/csrc/autograd/saved_variable.cpp` of
SNU-ARC/flashneuron, and its call in `engine.cpp`. Its quantities, with its names:

- `remainSize`: bytes of all saved tensors, less `FREE_SHARE` of the memory that they can have.
- `liveness_time`: of each tensor, from the first save of the forward pass to its own.
- `real_trans_time`: bytes by the write rate (`ssd_w`). It is halved for elements of 4 bytes or more (FP16),
  and halved again for the output of a ReLU (CSR): two flags, no measurements.
- `delay_time`: the time for which a transfer waits for the one before it.

**Phase 1** takes the tensors of more than 1 MiB in order until `remainSize` is below 0, at least two. If the
last transfer ends within the forward pass, that is all.

**Phase 2** goes on while a transfer is late. It drops the latest tensor of phase 1 that is neither CSR nor
FP16, else the latest that is not CSR. It adds later CSR tensors, else later FP16 ones, until their bytes make
up for it. In the end, if phase 1 took everything and `remainSize` is still above 0, it takes any CSR tensor,
then any FP16 one.

Reads, memory over time, and tensors that are not needed for long are not considered. Two points are ours.
The flags hold only where the storage has codecs. The write rate is that of the storage; the code has a
constant of 3,072 MiB/s. If no tensor is left to add, the code reads past the end of its tables. Here
phase 2 then ends, and the tensor that was dropped last is kept.
"""

from itertools import accumulate

from flashtrain.training.offload.profile import Profile, SavedTensor
from flashtrain.training.offload.storage import Storage

FREE_SHARE = 0.6
"""Of the free memory, for saved tensors (`engine.cpp`)."""

LEAST_BYTES = 1 << 20
"""Tensors of more bytes are offloaded (`liveness_size[i] > 1`, in MiB)."""


def flashneuron_choice(profile: Profile, storage: Storage, least_bytes: int = LEAST_BYTES) -> list[int]:
    """Indices of the tensors that it offloads, ascending."""
    return _Scheduler(profile, storage, least_bytes).choice()


class _Scheduler:
    def __init__(self, profile: Profile, storage: Storage, least_bytes: int) -> None:
        ends = list(accumulate(operation.seconds for operation in profile.operations))
        self._tensors = profile.tensors
        self._compresses = bool(storage.codecs)
        self._large = [i for i, tensor in enumerate(profile.tensors) if tensor.bytes > least_bytes]
        self._times = [ends[tensor.made] for tensor in profile.tensors]
        self._end = ends[profile.forward_operations - 1]
        self._transfers = [
            self._halved(tensor, tensor.bytes / storage.write_bytes_per_second) for tensor in profile.tensors
        ]
        free = storage.memory_bytes - profile.resident_bytes
        self._remaining = profile.saved_bytes - FREE_SHARE * free
        self._chosen: set[int] = set()

    def choice(self) -> list[int]:
        if self._remaining > 0 and self._large:
            last = self._phase_1()
            if self._ends()[last] > self._end:
                self._phase_2(last)
                self._last_resort()
        return sorted(self._chosen)

    def _phase_1(self) -> int:
        """Take tensors in order; the last one."""
        for count, index in enumerate(self._large):
            self._take(index)
            if count and self._remaining < 0:
                return index
        return self._large[-1]

    def _phase_2(self, last: int) -> None:
        late = True
        while late and (victim := self._victim(last)) is not None:
            self._chosen.remove(victim)
            lost = self._tensors[victim].bytes
            while lost > 0:
                added = self._later(last)
                if added is None:
                    self._chosen.add(victim)
                    return
                self._chosen.add(added)
                lost -= self._tensors[added].bytes
                late = self._ends()[added] > self._end

    def _last_resort(self) -> None:
        for flag in (self._csr, self._fp16):
            for index in self._large:
                if self._remaining > 0 and index not in self._chosen and flag(index):
                    self._take(index)

    def _take(self, index: int) -> None:
        self._chosen.add(index)
        self._remaining -= self._tensors[index].bytes

    def _victim(self, last: int) -> int | None:
        chosen = [index for index in sorted(self._chosen, reverse=True) if index <= last]
        plain = [index for index in chosen if not self._csr(index)]
        return next((index for index in plain if not self._fp16(index)), plain[0] if plain else None)

    def _later(self, last: int) -> int | None:
        later = [index for index in self._large if index > last and index not in self._chosen]
        for flag in (self._csr, self._fp16):
            for index in later:
                if flag(index):
                    return index
        return None

    def _ends(self) -> dict[int, float]:
        """The end of each chosen tensor's transfer."""
        ends: dict[int, float] = {}
        free_at = 0.0
        for index in sorted(self._chosen):
            free_at = ends[index] = max(free_at, self._times[index]) + self._transfers[index]
        return ends

    def _halved(self, tensor: SavedTensor, seconds: float) -> float:
        if self._compresses and tensor.element_bytes >= 4:
            seconds /= 2
        if self._compresses and tensor.relu:
            seconds /= 2
        return seconds

    def _csr(self, index: int) -> bool:
        return self._compresses and self._tensors[index].relu

    def _fp16(self, index: int) -> bool:
        return self._compresses and self._tensors[index].element_bytes >= 4
