"""The bytes of saved storages that are alive in memory."""

import torch

from flashtrain.torch.weak_storages import WeakStorages


class LiveBytes:
    """Counts storages from :meth:`add` until they end, each once, whoever keeps them alive.

    Members
    -------
    now: bytes alive.
    peak: the most bytes that were alive at a time. It is exact, since bytes grow only in :meth:`add`.
    """

    def __init__(self) -> None:
        self.now = 0
        self.peak = 0
        self._storages = WeakStorages[int](self._subtract)

    def add(self, storage: torch.UntypedStorage) -> None:
        """Count a storage; once more changes nothing."""
        if self._storages.get(storage) is None:
            nbytes = storage.nbytes()
            self._storages.put(storage, nbytes)
            self.now += nbytes
            self.peak = max(self.peak, self.now)

    def _subtract(self, nbytes: int) -> None:
        self.now -= nbytes
