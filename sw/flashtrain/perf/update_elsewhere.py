"""The same optimizer step with the state brought to whoever computes: the controller, or the host.

State is read, updated and appended chunk by chunk, with several chunks under way. In the *controller* nothing
but channels and dies takes time: its update unit computes as the data stream through. To the *host* the
state, and the gradients, cross a link, are updated there, and cross it back. Reads and appends are those of
the device; the link and the host are lanes that are busy for as long as their rates say.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Pending
from flashtrain.host.device import STATE_STREAMS
from flashtrain.host.tiling import TileLayout
from flashtrain.numerics import update
from flashtrain.spec.errors import require
from flashtrain.spec.update import Tile

from .array_work import ArrayRecorder, programs_per_clock
from .update import SETTLE, Case, UpdateRun

CHUNKS_UNDER_WAY = 6
_STEP = 1000  # clocks between looks at what is done


@dataclass(frozen=True)
class HostLink:
    """The way to the host: bytes per second each way, latency, and how fast the host updates.

    Assumptions: 4 GB/s is PCIe 3.0 x4, usable; the host moves 28 bytes per parameter at 20 GB/s of memory
    bandwidth.
    """

    bytes_per_second: float = 4e9
    latency_seconds: float = 1e-6
    parameters_per_second: float = 20e9 / 28

    def __post_init__(self) -> None:
        for name in ("bytes_per_second", "parameters_per_second"):
            require(getattr(self, name) > 0, f"link.{name}", getattr(self, name), "more than 0")


class _Lane:
    """Takes one piece after the other."""

    def __init__(self) -> None:
        self._free = 0.0

    def take(self, clock: float, clocks: float) -> float:
        """A piece that is there at `clock` and needs so many; when it is through."""
        self._free = max(self._free, clock) + clocks
        return self._free


class _Way:
    """From the tensor buffer to whoever computes and back."""

    def __init__(self, link: HostLink | None, clock_hz: float) -> None:
        self._link, self._clock_hz = link, clock_hz
        self._there, self._host, self._back = _Lane(), _Lane(), _Lane()

    def through(self, clock: int, there: int, parameters: int, back: int) -> float:
        """When a chunk that is in the tensor buffer at `clock` is there again, updated."""
        link, hz = self._link, self._clock_hz
        if link is None:
            return clock
        latency = link.latency_seconds * hz
        arrived = self._there.take(clock, there / link.bytes_per_second * hz) + latency
        computed = self._host.take(arrived, parameters / link.parameters_per_second * hz)
        return self._back.take(computed, back / link.bytes_per_second * hz) + latency


@dataclass
class _Chunk:
    number: int
    data: NDArray[np.uint8]
    ready: float = 0.0


class _ElsewhereStep:
    """One step, chunk by chunk; a chunk is a superpage."""

    def __init__(self, device: Device, case: Case, rows_per_die: int, link: HostLink | None) -> None:
        g = device.config.geometry
        self._device, self._case = device, case
        self._tile = Tile.of(g, case.code, case.gradient, case.copy)
        self._layout = TileLayout(self._tile, g.channels * g.dies * self._tile.parameters)
        self._chunks = rows_per_die
        self._source, self._target = (device.stream(name) for name in STATE_STREAMS)
        self._stored: list = []
        self._gradients = case.gradients(self._layout.parameters)
        self._constants = case.optimizer.constants(1)
        self._way = _Way(link, device.config.timing.clock_hz)

    @property
    def parameters(self) -> int:
        return self._chunks * self._layout.parameters

    def store(self) -> None:
        """The state before the step."""
        random = np.random.default_rng(4)
        for _ in range(self._chunks):
            arrays = [
                np.abs(random.normal(0, 0.02, self._layout.parameters)).astype(np.float32)
                for _ in range(self._tile.arrays)
            ]
            self._stored.append(self._source.append(self._layout.state_pages(arrays).reshape(-1)))
        self._source.flush()

    def run(self) -> None:
        device, size = self._device, self._layout.rows * self._row_bytes
        free = [device.buffer((size,), np.uint8) for _ in range(CHUNKS_UNDER_WAY)]
        reading: deque[tuple[_Chunk, Pending]] = deque()
        computing: deque[_Chunk] = deque()
        writing: deque[tuple[_Chunk, Pending]] = deque()
        started = finished = 0
        while finished < self._chunks:
            while started < self._chunks and free:
                chunk = _Chunk(started, free.pop())
                reading.append((chunk, self._source.read_async(self._stored[started], chunk.data)))
                started += 1
            if reading and reading[0][1].done:
                chunk, pending = reading.popleft()
                pending.result()
                self._update(chunk)
                computing.append(chunk)
            elif computing and computing[0].ready <= device.clocks:
                chunk = computing.popleft()
                writing.append((chunk, self._target.append_async(chunk.data)))
            elif writing and writing[0][1].done:
                chunk, pending = writing.popleft()
                pending.result()
                free.append(chunk.data)
                finished += 1
            else:
                device.link.run(_STEP)

    @property
    def _row_bytes(self) -> int:
        return self._tile.geometry.page_set_bytes * self._tile.geometry.channels

    def _update(self, chunk: _Chunk) -> None:
        g = self._tile.geometry
        pages = chunk.data.reshape(-1, g.planes, g.channels, g.page_bytes)
        state = [
            self._layout.state_array(number, pages[:, self._layout.planes_of(number)])
            for number in range(self._tile.arrays)
        ]
        w, m, v = (*state, None, None)[:3]
        assert w is not None
        new = update(self._constants, self._gradients, w, m, v)
        arrays = [array for array in (new.w, new.m, new.v) if array is not None]
        chunk.data[:] = self._layout.state_pages(arrays).reshape(-1)
        there = chunk.data.nbytes + self._gradients.nbytes
        chunk.ready = self._way.through(
            self._device.clocks, there, self._layout.parameters, chunk.data.nbytes
        )


def run_elsewhere(
    device: Device, recorder: ArrayRecorder, case: Case, rows_per_die: int, link: HostLink | None = None
) -> UpdateRun:
    """Store a state, and do one step on it in the controller, or with a `link` on the host."""
    g = device.config.geometry
    step = _ElsewhereStep(device, case, rows_per_die, link)
    step.store()
    begin = device.clocks
    recorder.start()
    step.run()
    clocks = device.clocks - begin
    work = tuple(recorder.stop())
    rate = programs_per_clock(work, g.channels * g.dies, SETTLE) * device.config.timing.clock_hz
    return UpdateRun(step.parameters, rate * case.tile(device.config).parameters, work, clocks)
