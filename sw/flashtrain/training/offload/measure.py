"""The figures of a storage, measured on a device: for plans that this device is to carry out."""

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, StoredArray
from flashtrain.host.queues.pending import Pending
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.play import IN_FLIGHT, STREAM
from flashtrain.training.offload.storage import SharedPart, Storage

SUPERPAGES = 8
"""Data of a measurement, behind as many superpages that fill the write buffers; fewer in a small stream."""

LEAST = 4
"""Transfers of a measurement, and of its warm-up."""


def measured_storage(device: Device, memory_bytes: int, transfer_bytes: int) -> Storage:
    """Rates and latencies of raw transfers of `transfer_bytes`, of each kind alone and of both together.

    The stream must be empty, and is empty afterwards. Raises `OffloadError` for a Link without time, and for
    transfers that are too large for the stream.
    """
    if not device.cycles:
        raise OffloadError(f"{device.config.name}: this Link has no time to measure; expected another one")
    return _Measurement(device, transfer_bytes).storage(memory_bytes)


class _Measurement:
    def __init__(self, device: Device, transfer_bytes: int) -> None:
        self._device, self._stream = device, device.stream(STREAM)
        self._clock = device.config.timing.clock_hz
        self._data = np.random.default_rng(1).integers(0, 256, transfer_bytes, np.uint8)
        g = device.config.geometry
        room = self._stream.zones * g.zone_capacity // -(-transfer_bytes // g.page_bytes)
        most = (room - 4 * IN_FLIGHT) // 4  # two measurements, and their warm-ups
        if most < LEAST:
            raise OffloadError(
                f"{device.config.name}: transfers of {transfer_bytes:,} bytes, of which stream {STREAM} holds"
                f" {room}; expected smaller ones"
            )
        wanted = -(-SUPERPAGES * g.superpage * g.page_bytes // transfer_bytes)
        self._warm_up = min(max(LEAST, wanted), most)
        self._handles: list[StoredArray] = []
        self._warmed_up_at = 0

    def storage(self, memory_bytes: int) -> Storage:
        size = len(self._data)
        start = self._device.cycles
        write, _ = self._seconds(self._warm_up, self._append, None)
        warmed_up = (self._warmed_up_at - start) / self._clock
        self._stream.flush()
        read_latency = self._alone(lambda: self._stream.read_async(self._handles[0]))
        reads = self._reads()
        read, _ = self._seconds(0, reads, None)
        both_write, both_read = self._seconds(self._warm_up, self._append, self._reads())
        self._stream.drop_all()
        slowdown = max(1.0, (both_write / write + both_read / read) / 2)
        shared = ()
        if slowdown > 1:
            part = 2 / slowdown * size
            shared = (SharedPart("device", part / write, part / read),)
        return Storage(
            f"measured {self._device.config.name}",
            memory_bytes,
            size / write,
            size / read,
            read_seconds=max(0.0, read_latency - read),
            buffer_bytes=max(0, round(size * (self._warm_up - warmed_up / write))),
            shared=shared,
        )

    def _append(self) -> Pending[Any]:
        return self._stream.append_async(self._data)

    def _reads(self) -> Callable[[], Pending[Any]]:
        """Reads of the stored arrays, by turns."""
        handles = cycle(tuple(self._handles))
        return lambda: self._stream.read_async(next(handles))

    def _alone(self, begin: Callable[[], Pending[Any]]) -> float:
        start = self._device.cycles
        begin().result()
        return (self._device.cycles - start) / self._clock

    def _seconds(
        self, warm_up: int, main: Callable[[], Pending[Any]], beside: Callable[[], Pending[Any]] | None
    ) -> tuple[float, float]:
        """Seconds of a transfer of `main` behind a warm-up, and of one `beside` it, if there is any."""
        count = warm_up + self._warm_up
        waiting = [main() for _ in range(IN_FLIGHT)]
        others = [] if beside is None else [beside() for _ in range(IN_FLIGHT)]
        ended, others_ended = 0, 0
        since = self._device.cycles
        others_before = 0
        while ended < count:
            self._device.wait_any([*waiting, *others])
            if waiting[0].done:
                self._keep(waiting.pop(0).result())
                ended += 1
                if ended == warm_up:
                    self._warmed_up_at = self._device.cycles
                    since, others_before = self._device.cycles, others_ended
                waiting.append(main())
            if beside is not None and others[0].done:
                others.pop(0).result()
                others_ended += 1
                others.append(beside())
        seconds = (self._device.cycles - since) / self._clock
        for pending in (*waiting, *others):
            self._keep(pending.result())
        return seconds / (count - warm_up), seconds / max(1, others_ended - others_before)

    def _keep(self, result: StoredArray | NDArray) -> None:
        if isinstance(result, StoredArray):
            self._handles.append(result)
