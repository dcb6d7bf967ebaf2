"""The same optimizer step with the state brought to whoever computes: the controller, or the host.

State is read, updated and appended chunk by chunk, with several chunks under way.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Pending
from flashtrain.host.device import STATE_STREAMS
from flashtrain.host.tiling import TileLayout
from flashtrain.numerics import update

from .array_work import ArrayRecorder
from .update import Case, UpdateRun, run_step
from .update_places import ChunkSize, Place

CHUNKS_UNDER_WAY = 6
_STEP = 1000  # clocks between looks at what is done


@dataclass
class _Chunk:
    """A chunk in the tensor buffer, and the clock at which it is updated."""

    data: NDArray[np.uint8]
    ready: float = 0.0


class _ElsewhereStep:
    """One step, chunk by chunk; a chunk is a superpage."""

    def __init__(self, device: Device, case: Case, chunks: int, under_way: int, place: Place) -> None:
        g = device.config.geometry
        self._device = device
        self._tile = case.tile(device.config)
        self._layout = TileLayout(self._tile, g.channels * g.dies * self._tile.parameters)
        self._chunks, self._under_way = chunks, under_way
        self._source, self._target = (device.stream(name) for name in STATE_STREAMS)
        self._stored: list = []
        self._gradients = case.gradients(self._layout.parameters)
        self._constants = case.optimizer.constants(1)
        self._bytes = g.superpage * g.page_bytes
        self._size = ChunkSize(self._layout.parameters, self._bytes, self._gradients.nbytes)
        self._way = place.way(device.config.timing.clock_hz)

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
        device = self._device
        free = [device.buffer((self._bytes,), np.uint8) for _ in range(self._under_way)]
        reading: deque[tuple[_Chunk, Pending]] = deque()
        computing: deque[_Chunk] = deque()
        writing: deque[tuple[_Chunk, Pending]] = deque()
        started = finished = 0
        while finished < self._chunks:
            while started < self._chunks and free:
                chunk = _Chunk(free.pop())
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
        chunk.ready = self._way(self._device.clocks, self._size)


def run_elsewhere(
    device: Device, recorder: ArrayRecorder, case: Case, rows_per_die: int, place: Place
) -> UpdateRun:
    """Store a state, and do one step on it at `place`.

    In the steady state every chunk that is appended makes room for one that is read: before the first and
    after the last of those under way it is not so, and they do not count.
    """
    under_way = min(CHUNKS_UNDER_WAY, rows_per_die // 3)
    step = _ElsewhereStep(device, case, rows_per_die, under_way, place)
    step.store()
    return run_step(device, recorder, case.tile(device.config), step.parameters, under_way, step.run)
