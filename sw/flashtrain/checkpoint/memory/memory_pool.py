"""The tensor buffer of a device as the memory of jobs, and a stream as the place that it is freed to."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.memory.errors import RegionInUse
from flashtrain.checkpoint.memory.managed_job import ManagedJob
from flashtrain.host import BufferFull, Device, StoredArray
from flashtrain.spec import Port
from flashtrain.training.arrays import Arrays

STREAM = "trained"
"""Non-volatile, and the core may append to it."""


class MemoryPool:
    """Gives jobs regions of the tensor buffer, saves these to a stream, and restores them.

    A save appends the region as it lies and gives it back. A restore reads it into a new region and drops the
    stored copy. The stream's zones are then reset when all in them is dead. Neither copies in the host.

    Members
    -------
    held_bytes, peak_bytes: of regions, now and at most.
    saved_bytes, restored_bytes: of all moves; save_cycles, restore_cycles: that they took.
    """

    def __init__(self, device: Device, stream: str = STREAM) -> None:
        self._device = device
        self._stream = device.stream(stream, Port.CORE)
        self._regions: dict[str, NDArray[np.uint8]] = {}
        self._stored: dict[str, StoredArray] = {}
        self.held_bytes = self.peak_bytes = 0
        self.saved_bytes = self.restored_bytes = 0
        self.save_cycles = self.restore_cycles = 0

    @property
    def free_bytes(self) -> int:
        """Of the tensor buffer; a region needs a run of them."""
        return self._device.buffer_free_bytes

    @property
    def zones_reset(self) -> int:
        """Zones that were reset because all copies in them were dropped."""
        return self._stream.zones_reset

    def is_resident(self, job: ManagedJob) -> bool:
        return job.name in self._regions

    def arrays(self, job: ManagedJob) -> Arrays:
        """The arrays of a resident job. They must be dropped before its next save."""
        return job.layout.views(self._regions[job.name])

    def restore(self, job: ManagedJob) -> bool:
        """Make a job resident; False if there is no room. A new job's arrays are initialised."""
        try:
            region = self._device.buffer(job.layout.nbytes, np.uint8)
        except BufferFull:
            return False
        if job.name in self._stored:
            started = self._device.cycles
            self._stream.read(self._stored[job.name], out=region)
            self._stream.drop(self._stored.pop(job.name))
            self.restore_cycles += self._device.cycles - started
            self.restored_bytes += region.nbytes
        else:
            job.initialise(job.layout.views(region))
        self._regions[job.name] = region
        self.held_bytes += region.nbytes
        self.peak_bytes = max(self.peak_bytes, self.held_bytes)
        return True

    def save(self, job: ManagedJob) -> None:
        """Append a job's arrays to the stream, and give its region back."""
        started = self._device.cycles
        self._stored[job.name] = self._stream.append(self._regions[job.name])
        self.save_cycles += self._device.cycles - started
        self.saved_bytes += job.layout.nbytes
        self.release(job)

    def release(self, job: ManagedJob) -> None:
        """Give a job's region back, without a copy. :class:`RegionInUse` while a view of it is alive."""
        before = self.free_bytes
        del self._regions[job.name]
        self.held_bytes -= job.layout.nbytes
        if self.free_bytes == before:
            raise RegionInUse(f"job {job.name}: a view of its arrays is alive; its memory cannot be freed")
