"""The same optimizer step, computed outside of the dies: by the controller, or by the host.

State is read, updated and appended chunk by chunk, with several chunks under way.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Pending, StoredArray
from flashtrain.host.device import STATE_STREAMS
from flashtrain.host.state.tiling import Pages, TileLayout

from .array_work import ArrayRecorder
from .measurement import BenchmarkError
from .update import UpdateRun, run_step
from .update_case import Case
from .update_places import ChunkWork, Place, PlaceStep

CHUNKS_UNDER_WAY = 6
_STEP = 1000  # cycles between two polls of the pending commands


@dataclass
class _Chunk:
    """A chunk in the tensor buffer, and the cycle at which it is updated."""

    data: NDArray[np.uint8]
    ready: float = 0.0


@dataclass(frozen=True)
class ElsewhereRun(UpdateRun):
    """A step outside of the dies.

    - `computing`: the part that was RTL, and its assumptions.
    - `uncertainty`: of the rate, as a share. A chunk is noticed up to `_STEP` cycles late, which may shorten
      the steady state by as much.
    """

    computing: str
    uncertainty: float


class _ElsewhereStep:
    """One step, chunk by chunk; a chunk is a superpage."""

    def __init__(self, device: Device, case: Case, chunks: int, under_way: int) -> None:
        g, tile = device.config.geometry, case.tile(device.config)
        self._device = device
        self._layout = TileLayout(tile, g.channels * g.dies * tile.parameters)
        self._chunks, self._under_way = chunks, under_way
        self._source, self._target = (device.stream(name) for name in STATE_STREAMS[:2])
        self._before: list[StoredArray] = []
        self._after: list[StoredArray] = []
        gradients = case.gradients(self._layout.parameters)
        self.work = ChunkWork(
            self._layout, case.optimizer.constants(1), gradients, device.config.timing.clock_hz
        )
        self._bytes = g.superpage * g.page_bytes

    @property
    def parameters(self) -> int:
        return self._chunks * self._layout.parameters

    def store(self) -> None:
        """The state before the step."""
        random = np.random.default_rng(4)
        for _ in range(self._chunks):
            arrays = [
                np.abs(random.normal(0, 0.02, self._layout.parameters)).astype(np.float32)
                for _ in range(self._layout.tile.arrays)
            ]
            self._before.append(self._source.append(self._layout.state_pages(arrays).reshape(-1)))
        self._source.flush()

    def run(self, place_step: PlaceStep) -> None:
        device = self._device
        free = [device.buffer((self._bytes,), np.uint8) for _ in range(self._under_way)]
        reading: deque[tuple[_Chunk, Pending]] = deque()
        computing: deque[_Chunk] = deque()
        writing: deque[tuple[_Chunk, Pending]] = deque()
        started = finished = 0
        while finished < self._chunks:
            while started < self._chunks and free:
                chunk = _Chunk(free.pop())
                reading.append((chunk, self._source.read_async(self._before[started], chunk.data)))
                started += 1
            if reading and reading[0][1].done:
                chunk, pending = reading.popleft()
                pending.result()
                chunk.ready = place_step.update(device.cycles, self._pages(chunk.data))
                computing.append(chunk)
            elif computing and computing[0].ready <= device.cycles:
                chunk = computing.popleft()
                writing.append((chunk, self._target.append_async(chunk.data)))
            elif writing and writing[0][1].done:
                chunk, pending = writing.popleft()
                self._after.append(pending.result())
                free.append(chunk.data)
                finished += 1
            else:
                device.link.run(_STEP)

    def check(self, where: str) -> None:
        """Compare the stored state with the reference, in every bit."""
        for number, (before, after) in enumerate(zip(self._before, self._after, strict=True)):
            expected = self.work.updated(self._pages(self._source.read(before)))
            if not np.array_equal(self._pages(self._target.read(after)), expected):
                raise BenchmarkError(f"chunk {number} of the step {where} is not that of the reference")

    def _pages(self, data: NDArray[np.uint8]) -> Pages:
        """A view of the bytes of a chunk."""
        g = self._layout.tile.geometry
        return data.reshape(g.dies, g.planes, g.channels, g.page_bytes)


def run_elsewhere(
    device: Device, recorder: ArrayRecorder, case: Case, rows_per_die: int, place: Place
) -> ElsewhereRun:
    """Store a state, execute one step on it at `place`, and check the result.

    In the steady state each appended chunk makes room for one that is read. The `under_way` chunks at the
    start and at the end are outside of the steady state and do not count.
    """
    under_way = min(CHUNKS_UNDER_WAY, rows_per_die // 3)
    step = _ElsewhereStep(device, case, rows_per_die, under_way)
    step.store()
    place_step = place.begin(step.work, device.cycles)
    run = run_step(
        device, recorder, case.tile(device.config), step.parameters, under_way, lambda: step.run(place_step)
    )
    step.check(place.where)
    steady = run.cycles * (rows_per_die - 2 * under_way) / rows_per_die
    return ElsewhereRun(**vars(run), computing=place_step.computing, uncertainty=_STEP / steady)
