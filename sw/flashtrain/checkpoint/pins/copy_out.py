"""A pinned generation read off the device, beside other work.

A pin does not outlast the device. Its copy, saved to another store, does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Generation, OptimizerState, Pending
from flashtrain.spec import Port

from .state_arrays import array_name


@dataclass(frozen=True)
class _Part:
    """Rows of tiles of a group."""

    group: int
    rows: range


class CopyOut:
    """Reads all of a pinned generation of `state`, in pieces.

    A piece has at most a 64th of the tensor buffer, and is not begun while less than half is free. So the
    copy never makes other commands wait for room.

    most_in_flight: pieces in flight at once; commands behind them wait for their pages.
    """

    def __init__(
        self,
        device: Device,
        state: OptimizerState,
        generation: Generation,
        port: Port = Port.HOST,
        most_in_flight: int = 8,
    ) -> None:
        g = device.config.geometry
        self._row_bytes = g.planes * g.channels * g.page_bytes
        self._most_in_flight = most_in_flight
        self._device = device
        self._state = state
        self._generation = generation
        self._stream = device.stream(generation.stream, port)
        most = max(1, device.buffer_bytes // 64 // self._row_bytes)
        self._left = [
            _Part(group, range(start, min(start + most, state.rows(group))))
            for group in range(len(state.groups))
            for start in range(0, state.rows(group), most)
        ]
        shape = (g.planes, g.channels, g.page_bytes)
        self._pages = [np.empty((state.rows(n), *shape), np.uint8) for n in range(len(state.groups))]
        self._in_flight: list[Pending[NDArray[np.uint8]]] = []

    @property
    def done(self) -> bool:
        """Whether :meth:`result` would return at once."""
        return not self._left and all(pending.done for pending in self._in_flight)

    @property
    def nbytes(self) -> int:
        """Bytes that it reads."""
        return sum(pages.nbytes for pages in self._pages)

    def advance(self) -> None:
        """Begin as many pieces as there is room for; raises the errors of their reads."""
        while self._in_flight and self._in_flight[0].done:
            self._in_flight.pop(0).result()
        while self._left and len(self._in_flight) < self._most_in_flight and self._has_room(self._left[0]):
            self._begin(self._left.pop(0))

    def result(self) -> dict[str, NDArray[np.float32]]:
        """Wait until all is read; the arrays by the names of `state_arrays.arrays_of`."""
        while self._left:
            self._begin(self._left.pop(0))
        for pending in self._in_flight:
            pending.result()
        self._in_flight = []
        return {
            array_name(number, tensor, array): values
            for number, pages in enumerate(self._pages)
            for array, tensors in self._state.arrays(number, pages).items()
            for tensor, values in enumerate(tensors)
        }

    def _has_room(self, part: _Part) -> bool:
        after = self._device.buffer_free_bytes - len(part.rows) * self._row_bytes
        return after >= self._device.buffer_bytes // 2

    def _begin(self, part: _Part) -> None:
        stored = self._state.locate_rows(part.group, part.rows, self._generation)
        target = self._pages[part.group][part.rows.start : part.rows.stop]
        self._in_flight.append(self._stream.read_async(stored, target))
