"""`ResumableSampler`: the order of samples, and the place in it, which can be saved."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np
from torch.utils.data import Sampler

from flashtrain.training.errors import DataError, SeedError


class ResumableSampler(Sampler[int]):
    """All samples of `source` once an epoch, in an order that depends on `seed` and epoch alone.

    shuffle: False for the order of the source. An iteration goes through the rest of the epoch after
    :meth:`load_state_dict`, and through a whole epoch otherwise; one that was left early is over.

    Loaders may draw samples long before the training takes them. So the place is counted where batches are
    taken: iterate over :meth:`batches`, or call :meth:`take` at each step of a trainer that iterates itself.

    rank, ranks: of several ranks each has the samples `rank`, `rank + ranks`, and so on of one order, and as
    many as the others. Up to `ranks - 1` samples at the end of an epoch are left out. Place and state are
    those of all ranks, so another number of ranks goes on from them.

    Members
    -------
    epoch: the number of the epoch.
    position: samples of this epoch that the training has taken, on all ranks.
    """

    def __init__(
        self, source: Sized, seed: int = 0, shuffle: bool = True, rank: int = 0, ranks: int = 1
    ) -> None:
        if type(rank) is not int or type(ranks) is not int or not 0 <= rank < ranks:
            raise DataError(f"rank is {rank!r} of {ranks!r}; expected an integer from 0 to ranks - 1")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise SeedError(f"seed is {seed!r}; expected an integer of at least 0")
        self._count = len(source)
        self._seed = seed
        self._shuffle = shuffle
        self._rank, self._ranks = rank, ranks
        self.epoch = 0
        self.position = 0
        self._iterations = 0  # the number of the newest one
        self._begun = False
        self._is_counted = True  # the batches of the newest iteration
        self._is_awaited = False  # an iteration, by a loader whose batches are counted

    def __len__(self) -> int:
        """The samples of a whole epoch, on this rank."""
        return self._count // self._ranks

    def __iter__(self) -> Iterator[int]:
        if not self._is_awaited:
            self._begin()
            self._is_counted = False
        self._is_awaited = False
        self._iterations += 1
        own = self._iterations
        left = (self._count - self.position) // self._ranks * self._ranks
        for index in self._order()[self.position :][:left][self._rank :: self._ranks]:
            yield int(index)
            self._require_newest(own)

    def batches(self, loader: Iterable[Any], batch_size: int | None = None) -> Iterator[Any]:
        """The batches of `loader`, which draws from this sampler, each counted when it is taken.

        batch_size: samples that a batch takes from this sampler, by default `loader.batch_size`, of all
        processes for a loader of `accelerate`. :class:`DataError` for a loader of another sampler.
        """
        size: Any = batch_size
        if size is None:
            size = getattr(loader, "total_batch_size", getattr(loader, "batch_size", None))
        if not isinstance(size, int) or size < 1:
            raise DataError(f"a batch of the loader has {size!r} samples; expected `batch_size`")
        self._begin()
        self._is_counted = self._is_awaited = True
        own = self._iterations + 1
        for batch in loader:
            self._require_newest(own)
            self.take(size * self._ranks)
            yield batch
        self._require_newest(own)
        self._end_epoch()

    def take(self, samples: int) -> None:
        """Count samples that the training takes now: those of a batch, of all processes that share it."""
        self.position = min(self.position + samples, self._count)
        self._is_counted = True

    def state_dict(self) -> dict[str, Any]:
        """Seed, epoch and position, for :meth:`load_state_dict` of a sampler of as many samples.

        :class:`DataError` if samples were drawn and nobody counts which of them the training has taken.
        """
        if not self._is_counted:
            raise DataError(
                "the samples were drawn by a loader whose batches nobody counts; expected"
                " `for batch in sampler.batches(loader)`, or `sampler.take` at each step"
            )
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
        self._begun, self._is_counted = False, True

    def _begin(self) -> None:
        """Begin an iteration: of the next epoch, if one of this epoch has begun."""
        if self._begun:
            self._end_epoch()
        self._begun = True

    def _require_newest(self, iteration: int) -> None:
        if self._is_awaited:
            raise DataError("the loader draws from another sampler; expected this one")
        if iteration != self._iterations:
            raise DataError("another iteration of the sampler has begun; expected one at a time")

    def _end_epoch(self) -> None:
        self.epoch += 1
        self.position = 0
        self._begun = False

    def _order(self) -> np.ndarray:
        if not self._shuffle:
            return np.arange(self._count)
        return np.random.default_rng((self._seed, self.epoch)).permutation(self._count)
