"""The event model: an iteration with offloading in time, played by C++ in `kernel/`.

**Operations** follow each other. An operation is *due* when the one before it has ended. It begins when these
hold:

1. It is due, and with a *barrier* the first backward operation is due only when all writes have ended.
2. All tensors that it uses are in memory.
3. The tensors that it makes have space in memory; that space is taken at once, for all of them.

**Writes.** A tensor of the plan can be written from the end of the operation that makes it. Of those that can
be written, the one with the lowest `write_order` goes first. One write moves data at a time, and it ends a
latency after its data. A tensor leaves memory when its write and the operation `released` have ended.

**Reads.** A read is issued when the operation `prefetch_before` is due. If the tensor is in memory then, no
read is issued: the tensor stays to its last use. Its write is dropped, or if it has begun, it ends to no
effect. Issued reads are served in the order of their first use, then of `write_order`. One read moves data at
a time. It waits for space in memory for its tensor, takes that space, and ends a latency after its data.

**The last use** of a tensor frees its memory, or if it is being written, the end of that write does.

**The write buffer** has a credit in seconds: its free bytes by the write rate. It is empty at first, and its
credit grows with time while no data are written. A write of w seconds begins with credit c. Its data take the
time of the port or w - c, whichever is more, and what they take beyond or below w changes the credit.

**Shared parts.** Alone, a transfer moves its data in `Storage.write_time` or `read_time`. A write and a read
that move data at the same time are both slowed down by one factor. No shared part is thus used for more than
all of the time.

**At one instant** events have this order: ends of data, of writes, of reads, of the operation. Then an
operation becomes due or begins, a write begins, a read begins, each as soon as it can.

The iteration ends when all operations and all transfers have ended.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.native.library import native_library
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.storage import Storage

TENSOR = np.dtype([
    ("bytes", "<i8"), ("made", "<i4"), ("released", "<i4"), ("first_use", "<i4"), ("last_use", "<i4"),
    ("write_order", "<i4"), ("prefetch_before", "<i4"), ("write_seconds", "<f8"), ("read_seconds", "<f8"),
    ("write_port_seconds", "<f8"),
])  # fmt: skip
"""A tensor for the kernel (`Tensor` in event_model.h)."""

SPAN = np.dtype([("begin", "<f8"), ("end", "<f8")])
"""The time of an event in seconds; NaN if it did not happen."""

IN_MEMORY = -1
"""The `write_order` of a tensor that is not offloaded."""

_SETTINGS = np.dtype([
    ("memory", "<i8"), ("write_latency", "<f8"), ("read_latency", "<f8"), ("buffer_seconds", "<f8"),
    ("operations", "<i4"), ("forward", "<i4"), ("tensors", "<i4"), ("parts", "<i4"), ("barrier", "<i4"),
    ("padding", "<i4"),
])  # fmt: skip
_RESULT = np.dtype([("seconds", "<f8"), ("peak", "<i8"), ("stuck", "<i4"), ("padding", "<i4")])
_SOURCES = sorted(Path(__file__).with_name("kernel").glob("*.[ch]*"))


@dataclass(frozen=True)
class Timeline:
    """An iteration in time.

    - `seconds`: its duration.
    - `peak_bytes`: most bytes in memory, with the resident ones.
    - `stuck`: the operation that no event lets begin, so that the memory is too small; or None.
    - `operations`, `writes`, `reads`: `SPAN` of each operation and each tensor.
    """

    seconds: float
    peak_bytes: int
    stuck: int | None
    operations: NDArray[np.void]
    writes: NDArray[np.void]
    reads: NDArray[np.void]


class EventModel:
    """Plays an iteration of `profile` beside `storage`, any number of times.

    - `codecs`: of each tensor, if it is offloaded.
    - `instant_reads`: reads take no time, as in a schedule that leaves them out.

    A run of 250 tensors and 500 operations takes 0.2 ms.
    """

    def __init__(
        self, profile: Profile, storage: Storage, codecs: Sequence[str], instant_reads: bool = False
    ) -> None:
        self.profile = profile
        self.storage = storage
        tensors = profile.tensors
        self._table = np.zeros(len(tensors), TENSOR)
        for row, (tensor, codec) in enumerate(zip(tensors, codecs, strict=True)):
            write, read = storage.write_time(tensor, codec), storage.read_time(tensor, codec)
            self._table[row] = (
                tensor.bytes, tensor.made, tensor.last_forward, tensor.uses[0], tensor.uses[-1], IN_MEMORY,
                tensor.uses[0], write, 0.0 if instant_reads else read, storage.port_time(tensor),
            )  # fmt: skip
        stored = np.array(
            [t.bytes / storage.ratio(t, codec) for t, codec in zip(tensors, codecs, strict=True)], np.float64
        )
        self._write_loads = _loads(
            stored, self._table["write_seconds"], [part.write_bytes_per_second for part in storage.shared]
        )
        self._read_loads = _loads(
            stored, self._table["read_seconds"], [part.read_bytes_per_second for part in storage.shared]
        )
        self._seconds = np.array([operation.seconds for operation in profile.operations], np.float64)
        settings = np.zeros(1, _SETTINGS)
        settings["memory"] = storage.memory_bytes - profile.resident_bytes
        settings["buffer_seconds"] = storage.buffer_bytes / storage.write_bytes_per_second
        settings["write_latency"] = storage.write_seconds
        settings["read_latency"] = 0.0 if instant_reads else storage.read_seconds
        settings["operations"], settings["forward"] = len(self._seconds), profile.forward_operations
        settings["tensors"], settings["parts"] = len(tensors), len(storage.shared)
        self._settings = settings
        self._result = np.zeros(1, _RESULT)

    @property
    def write_seconds(self) -> NDArray[np.float64]:
        """Seconds of the data of each tensor's write alone."""
        return self._table["write_seconds"]

    @property
    def read_seconds(self) -> NDArray[np.float64]:
        """Seconds of the data of each tensor's read alone."""
        return self._table["read_seconds"]

    def run(
        self, write_order: NDArray[np.int32], prefetch_before: NDArray[np.int32], barrier: bool = False
    ) -> Timeline:
        """An iteration.

        - `write_order`: of each tensor, or `IN_MEMORY` if it is not offloaded.
        - `prefetch_before`: of each tensor that is offloaded; others have any value.
        """
        table, result = self._table.copy(), self._result
        table["write_order"], table["prefetch_before"] = write_order, prefetch_before
        self._settings["barrier"] = barrier
        operations = np.empty(len(self._seconds), SPAN)
        writes, reads = np.empty(len(table), SPAN), np.empty(len(table), SPAN)
        load_kernel().flashtrain_offload_run(
            self._settings.ctypes.data, self._seconds.ctypes.data, table.ctypes.data,
            self._write_loads.ctypes.data, self._read_loads.ctypes.data, result.ctypes.data,
            operations.ctypes.data, writes.ctypes.data, reads.ctypes.data,
        )  # fmt: skip
        stuck = int(result["stuck"][0])
        return Timeline(
            float(result["seconds"][0]),
            int(result["peak"][0]) + self.profile.resident_bytes,
            None if stuck < 0 else stuck,
            operations,
            writes,
            reads,
        )


def _loads(
    stored: NDArray[np.float64], seconds: NDArray[np.float64], rates: Sequence[float]
) -> NDArray[np.float64]:
    """The share of the time of each part that the transfer of each tensor alone uses, [part, tensor]."""
    needed = [stored / rate for rate in rates]
    return np.array([np.divide(n, seconds, out=np.zeros_like(n), where=seconds > 0) for n in needed])


@cache
def load_kernel() -> ctypes.CDLL:
    """The library of this model, compiled unless the user's cache has it."""
    pointers = [ctypes.c_void_p] * 9
    return native_library("flashtrain_offload", _SOURCES, {"flashtrain_offload_run": (None, pointers)})
