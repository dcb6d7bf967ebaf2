"""The memory for activations: which saved storages leave it, and which come back ahead of their need."""

import weakref
from collections import OrderedDict

import numpy as np
import torch

from flashtrain.torch.accelerators import host_copy, write_from_host

from .live_bytes import LiveBytes
from .saved_storage import Reading, SavedStorage
from .store import ActivationStore


class ActivationMemory:
    """Keeps offloaded storages in memory while there is room: at most `limit` bytes of saved storages.

    All are written at once. The ones that were saved first leave memory first, since the backward pass needs
    them last. A storage whose write has not ended leaves it later, so the limit bounds bytes in flight, too.
    Storages that others keep alive, such as operands of the operation at work, count and cannot leave.

    A new storage is in memory before it can be counted. So room for the next one is left free: as much as the
    largest one had, and a quarter of the limit at least. Only a larger one exceeds the limit, once.

    - `limit`: None for none.
    - `retains`: storages stay while there is room. If not, each one leaves as soon as it is written.

    Members
    -------
    live: the bytes of saved storages in memory.
    """

    def __init__(self, store: ActivationStore, limit: int | None, retains: bool) -> None:
        self.live = LiveBytes()
        self.limit = limit
        self._retains = retains
        self._store = store
        self._next_bytes = 0 if limit is None else limit // 4
        # In the order of leaving. Storages of the second kind were used by the backward pass.
        self._needed: OrderedDict[int, weakref.ref[SavedStorage]] = OrderedDict()
        self._used: OrderedDict[int, weakref.ref[SavedStorage]] = OrderedDict()

    def take(self, saved: SavedStorage, storage: torch.UntypedStorage) -> None:
        """Write a new storage to the flash, and let others leave."""
        assert saved.encoding is not None
        # Not `numpy()`: it would forbid the owner to resize the storage.
        content = np.from_dlpack(host_copy(_bytes_of(storage))).view(np.uint8)
        self._store.append(saved.copy, content, saved.encoding)
        saved.memory = storage
        key = id(saved)
        self._needed[key] = weakref.ref(saved)
        weakref.finalize(saved, self._forget, key).atexit = False
        self.settle(storage.nbytes())

    def settle(self, nbytes: int) -> None:
        """Let storages leave after one of `nbytes` was saved, so that the next one has room."""
        self._next_bytes = max(self._next_bytes, nbytes)
        if not self._retains:
            self._leave_written()
        self._make_room(self._next_bytes)

    def fetch(self, saved: SavedStorage) -> torch.UntypedStorage:
        """The bytes of a storage, from memory or from the flash; waits for the device if need be."""
        storage = saved.in_memory
        if storage is not None:
            return storage
        if saved.reading is None:
            self._make_room(saved.nbytes)
            self._read(saved)
        return self._arrive(saved)

    def note_use(self, saved: SavedStorage) -> None:
        """Note that the backward pass has used a storage: it leaves before others if no tensor needs it."""
        key = id(saved)
        if saved.unused <= 0 and key in self._needed:
            self._used[key] = self._needed.pop(key)
        if not self._retains and self._used:
            self._let_go(self._used)
        self._make_room(0)

    def read_ahead(self, saved: SavedStorage) -> bool:
        """Begin to read a storage, unless it is in memory; False without room."""
        if saved.encoding is None or saved.reading is not None or saved.in_memory is not None:
            return True
        while not self._fits(saved.nbytes) and self._used:
            self._let_go(self._used)
        if not self._fits(saved.nbytes):
            return False
        self._read(saved)
        return True

    def wait_written(self) -> None:
        """Wait for all writes in flight."""
        for reference in list(self._needed.values()):
            saved = reference()
            if saved is not None:
                self._store.wait_written(saved.copy)

    def _fits(self, nbytes: int) -> bool:
        return self.limit is None or self.live.now + nbytes <= self.limit

    def _make_room(self, nbytes: int) -> None:
        """Let storages leave until `nbytes` more fit, or none is left that could."""
        while not self._fits(nbytes) and (self._used or self._needed):
            self._let_go(self._used or self._needed)

    def _let_go(self, order: OrderedDict[int, weakref.ref[SavedStorage]]) -> None:
        try:
            saved = order.popitem(last=False)[1]()
        except KeyError:
            return  # the collector has ended a graph just now
        if saved is not None:
            if saved.reading is not None:
                self._arrive(saved)
            self._store.wait_written(saved.copy)
            saved.memory = None
            saved.owner.frontier = max(saved.owner.frontier, saved.number + 1)

    def _leave_written(self) -> None:
        for key, reference in list(self._needed.items()):
            saved = reference()
            if saved is None or saved.reading is not None:
                continue
            if not self._store.is_written(saved.copy):
                break  # later ones end later
            saved.memory = None
            del self._needed[key]

    def _read(self, saved: SavedStorage) -> None:
        self._store.wait_written(saved.copy)
        saved.memory = None
        saved.traffic.read_bytes += saved.nbytes
        storage = torch.UntypedStorage(saved.nbytes)
        self.live.add(storage)
        saved.reading = Reading(storage, self._store.read(saved.copy, _bytes_of(storage).numpy()))
        self._needed[id(saved)] = weakref.ref(saved)
        self._needed.move_to_end(id(saved), last=False)

    def _arrive(self, saved: SavedStorage) -> torch.UntypedStorage:
        assert saved.reading is not None
        storage, pending = saved.reading
        self._store.wait_read(saved.copy, pending)
        if saved.device.type != "cpu":
            host, storage = storage, torch.UntypedStorage(saved.nbytes, device=saved.device)
            self.live.add(storage)
            write_from_host(_bytes_of(storage), _bytes_of(host))
        saved.restore(storage)
        return storage

    def _forget(self, key: int) -> None:
        self._needed.pop(key, None)
        self._used.pop(key, None)


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
