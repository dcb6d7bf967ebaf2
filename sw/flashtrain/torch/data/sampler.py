"""`ResumableSampler`: the order of samples, and the place in it, which can be saved."""

from collections.abc import Iterator, Mapping, Sized
from typing import Any

import numpy as np
from torch.utils.data import Sampler

from flashtrain.training.errors import DataError, SeedError


class ResumableSampler(Sampler[int]):
    """All samples of `source` once an epoch, in an order that depends on `seed` and epoch alone.

    shuffle: False for the order of the source. An iteration goes through the rest of the epoch after
    :meth:`load_state_dict`, and through a whole epoch otherwise; one that was left early is over.

    A `DataLoader` without workers draws a batch when it is asked for. The state between two batches is thus
    that behind the first one.

    Members
    -------
    epoch: the number of the epoch.
    position: samples of this epoch that were drawn.
    """

    def __init__(self, source: Sized, seed: int = 0, shuffle: bool = True) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise SeedError(f"seed is {seed!r}; expected an integer of at least 0")
        self._count = len(source)
        self._seed = seed
        self._shuffle = shuffle
        self.epoch = 0
        self.position = 0
        self._iterations = 0  # the number of the newest one
        self._begun = False

    def __len__(self) -> int:
        """The samples of a whole epoch."""
        return self._count

    def __iter__(self) -> Iterator[int]:
        if self._begun:
            self._end_epoch()
        self._begun = True
        self._iterations += 1
        own, order = self._iterations, self._order()
        while self.position < self._count:
            index = int(order[self.position])
            self.position += 1
            yield index
            if own != self._iterations:
                raise DataError("another iteration of the sampler has begun; expected one at a time")
        self._end_epoch()

    def state_dict(self) -> dict[str, Any]:
        """Seed, epoch and position, for :meth:`load_state_dict` of a sampler of as many samples."""
        return {
            "seed": self._seed,
            "shuffle": self._shuffle,
            "samples": self._count,
            "epoch": self.epoch,
            "position": self.position,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a saved state: the next iteration has the rest of its epoch.

        :class:`DataError` for anything else than the state of a sampler of as many samples.
        """
        expected = {"seed": int, "shuffle": bool, "samples": int, "epoch": int, "position": int}
        given: dict[str, Any] = {name: state_dict.get(name) for name in expected}
        for name, kind in expected.items():
            if type(given[name]) is not kind or given[name] < 0:
                wanted = f"{kind.__name__}, 0 or more"
                raise DataError(f"{name} of the sampler's state is {given[name]!r}; expected {wanted}")
        if given["samples"] != self._count:
            raise DataError(f"the state is of {given['samples']} samples; expected {self._count}")
        if given["position"] > self._count:
            raise DataError(f"position {given['position']} in an epoch of {self._count} samples")
        self._seed, self._shuffle = given["seed"], given["shuffle"]
        self.epoch, self.position = given["epoch"], given["position"]
        self._iterations += 1
        self._begun = False

    def _end_epoch(self) -> None:
        self.epoch += 1
        self.position = 0
        self._begun = False

    def _order(self) -> np.ndarray:
        if not self._shuffle:
            return np.arange(self._count)
        return np.random.default_rng((self._seed, self.epoch)).permutation(self._count)
