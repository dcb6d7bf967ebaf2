"""The ledger of a non-volatile stream: arrays that were appended, and resets."""

from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, MediaError, StaleHandle, StoredArray, StreamFull
from flashtrain.spec import Port
from flashtrain.stress.powercut.lost import Lost

from .ledger import Note

_MOST_PAGES = 6
_RESETS = 0.03
"""The probability of a reset where the stream has room."""


class StreamLedger:
    """Appends of random sizes to stream `name` by `port`, and a reset when it is full or by chance."""

    def __init__(self, seed: int, name: str = "trained", port: Port = Port.CORE) -> None:
        self._seed, self._name, self._port = seed, name, port
        self._kept: dict[int, StoredArray] = {}
        self._resetting = False
        self._next = 0

    def note(self, event: Any) -> None:
        match event:
            case ("appending", number):
                self._next = number + 1
            case ("appended", number, stored):
                self._kept[number] = stored
            case "resetting":
                self._resetting = True
            case "reset":
                self._kept.clear()
                self._resetting = False
            case "not reset":
                self._resetting = False

    def check(self, device: Device, note: Note) -> int:
        """Everything is there with its bytes, or after a reset that was under way nothing."""
        stream = device.stream(self._name, Port.CORE)
        gone = 0
        for number, stored in self._kept.items():
            try:
                found = stream.read(stored)
            except (StaleHandle, MediaError) as error:
                if not self._resetting:
                    raise Lost(f"array {number} of {self._name!r}: {error}") from error
                gone += 1
                continue
            if not np.array_equal(found, self._array(number, stored.nbytes)):
                raise Lost(f"array {number} of {self._name!r} has other bytes")
        if self._resetting:
            if 0 < gone < len(self._kept):
                raise Lost(f"{gone} of {len(self._kept)} arrays of {self._name!r} are gone after a reset")
            note("reset" if gone else "not reset")
        return len(self._kept)

    def act(self, device: Device, random: Random, note: Note) -> None:
        stream = device.stream(self._name, self._port)
        if random.random() >= _RESETS:
            number = self._next
            array = self._array(number, random.randint(1, _MOST_PAGES * device.config.geometry.page_bytes))
            note(("appending", number))
            try:
                note(("appended", number, stream.append(array)))
                return
            except StreamFull:
                pass
        note("resetting")
        stream.reset()
        note("reset")

    def _array(self, number: int, size: int) -> NDArray[np.uint8]:
        return np.random.default_rng([self._seed, number]).integers(0, 256, size, dtype=np.uint8)
