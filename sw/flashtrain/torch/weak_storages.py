"""Values by storage object, which end with the storage."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

import torch

V = TypeVar("V")


class WeakStorages(Generic[V]):
    """A dictionary of storages that keeps none of them alive.

    PyTorch has one Python object per storage, alive as long as the storage. So a key is never an address,
    which the next storage may have.

    ended: called with the value of a storage that has ended, in any thread and at any time.
    """

    def __init__(self, ended: Callable[[V], None] = lambda value: None) -> None:
        self._ended = ended
        self._values: dict[int, tuple[weakref.ref[torch.UntypedStorage], V]] = {}

    def get(self, storage: torch.UntypedStorage) -> V | None:
        entry = self._values.get(id(storage))
        return entry[1] if entry is not None and entry[0]() is storage else None

    def put(self, storage: torch.UntypedStorage, value: V) -> None:
        """Set the value of a storage that has none yet."""
        key = id(storage)

        def end(_: weakref.ref) -> None:
            self._ended(self._values.pop(key)[1])

        self._values[key] = (weakref.ref(storage, end), value)
