"""The ledger of a catalogue: arrays by name, of which each change is there whole or not at all."""

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import CatalogFull, Device
from flashtrain.stress.powercut.lost import Lost

from .ledger import Note

_NAMES = 8
_MOST_PAGES = 3

Content = Mapping[str, tuple[int, int]]
"""Number and bytes of the array of each name."""


class CatalogLedger:
    """Assignments, groups of them, renames and deletions among a few names."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._content: Content = {}
        self._after: Content | None = None  # of the change under way
        self._next = 0

    def note(self, event: Any) -> None:
        match event:
            case ("changing", content, number):
                self._after, self._next = content, number
            case ("content", content):
                self._content, self._after = content, None

    def check(self, device: Device, note: Note) -> int:
        """The catalogue is that before the change under way, or that after it."""
        found = dict(device.catalog.items())
        for content in (self._content, self._after):
            if content is not None and self._is(found, content):
                note(("content", content))
                return len(content)
        raise Lost(f"the catalogue has {sorted(found)}; expected {dict(self._content)} or {self._after}")

    def act(self, device: Device, random: Random, note: Note) -> None:
        catalog, content, first = device.catalog, dict(self._content), self._next
        kind = random.choice(("put", "put", "several", "rename", "delete")) if content else "put"
        name = random.choice(sorted(content)) if content else ""
        if kind == "rename":
            new = next(f"n{i}" for i in range(len(content) + 1) if f"n{i}" not in content)
            content[new] = content.pop(name)
            note(("changing", content, first))
            catalog.rename(name, new)
        elif kind == "delete":
            del content[name]
            note(("changing", content, first))
            del catalog[name]
        else:
            most = _MOST_PAGES * device.config.geometry.page_bytes
            count = 1 if kind == "put" else random.randint(2, 4)
            names = random.sample([f"n{i}" for i in range(_NAMES)], count)
            put = {name: (first + i, random.randint(0, most)) for i, name in enumerate(names)}
            content |= put
            note(("changing", content, first + count))
            try:
                catalog.update({name: self._array(*which) for name, which in put.items()})
            except CatalogFull:
                content = dict(self._content)
        note(("content", content))

    def _is(self, found: Mapping[str, NDArray[Any]], content: Content) -> bool:
        return found.keys() == content.keys() and all(
            np.array_equal(found[name], self._array(*which)) for name, which in content.items()
        )

    def _array(self, number: int, size: int) -> NDArray[np.uint8]:
        return np.random.default_rng([self._seed, number]).integers(0, 256, size, dtype=np.uint8)
