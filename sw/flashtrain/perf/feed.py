"""Appends that keep a device busy while something else is measured."""

from collections import deque
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import DeviceStream, Pending, StoredArray


class Feed:
    """Keeps so many appends waiting. When the stream is full, it is reset."""

    def __init__(self, stream: DeviceStream, pieces: NDArray[np.uint8], ahead: int) -> None:
        self._stream = stream
        self._ahead = ahead
        self._capacity = stream.zones * stream.zone_capacity * stream.block_bytes // pieces[0].nbytes
        self._room = self._capacity
        self._pieces = cycle(pieces)
        self._appends: deque[Pending[StoredArray]] = deque()

    def keep_going(self) -> None:
        """Submit as many appends as were answered."""
        while self._appends and self._appends[0].done:
            self._appends.popleft().result()
        while len(self._appends) < self._ahead:
            if not self._room:
                self._stream.reset_async()
                self._room = self._capacity
            self._room -= 1
            self._appends.append(self._stream.append_async(next(self._pieces)))
