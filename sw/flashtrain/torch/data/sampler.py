"""`ResumableSampler`: the order of samples, and the place in it, which can be saved."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np
from torch.utils.data import Sampler

from flashtrain.training.errors import DataError, SeedError

from .dataset import FlashDataset, require_rank


class ResumableSampler(Sampler[int]):
    """All samples of `source` once an epoch, in an order that depends on `seed` and epoch alone.

    shuffle: False for the order of the source. An iteration goes through the rest of the epoch after
    :meth:`load_state_dict`, and through a whole epoch otherwise; one that was left early is over.

    Loaders may draw samples long before the training takes them. So the place is counted where batches are
    taken: iterate over :meth:`batches`, or call :meth:`take` at each step of a trainer that iterates itself.

    rank, ranks: of several ranks each has the places `rank`, `rank + ranks`, and so on of one order, and as
    many as the others; by default those of a `FlashDataset`. Up to `ranks - 1` samples at the end of an epoch
    are left out. Place and state are those of all ranks, so another number of ranks goes on from them.

    shards: the sample in place p of the order is one of p, p + shards, and so on, for all p below `shards`.
    So ranks whose number divides it draw samples from their own part of the source. By default it is the
    number of ranks that a `FlashDataset` is divided among; numbers of ranks with a common multiple have the
    same order with that. Up to `shards - 1` samples are left out of an epoch.

    Members
    -------
    epoch: the number of the epoch.
    position: samples of this epoch that the training has taken, on all ranks.
    """

    def __init__(
        self,
        source: Sized,
        seed: int = 0,
        shuffle: bool = True,
        rank: int | None = None,
        ranks: int | None = None,
        shards: int | None = None,
    ) -> None:
        self._rank, self._ranks = _rank_of(source, rank, ranks)
        self._count = len(source)
        self._shards = _shards_of(source, shards)
        self._length = self._count - self._count % self._shards  # of an epoch, on all ranks
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise SeedError(f"seed is {seed!r}; expected an integer of at least 0")
        self._seed = seed
        self._shuffle = shuffle
        self.epoch = 0
        self.position = 0
        self._iterations = 0  # the number of the newest one
        self._begun = False
        self._is_counted = True  # the batches of the newest iteration
        self._is_awaited = False  # an iteration, by a loader whose batches are counted

    def __len__(self) -> int:
        """The samples of a whole epoch, on this rank."""
        return self._length // self._ranks

    def __iter__(self) -> Iterator[int]:
        if not self._is_awaited:
            self._begin()
            self._is_counted = False
        self._is_awaited = False
        self._iterations += 1
        own = self._iterations
        left = (self._length - self.position) // self._ranks * self._ranks
        first = (self._rank - self.position) % self._ranks
        for index in self._order()[self.position :][:left][first :: self._ranks]:
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
        self.position = min(self.position + samples, self._length)
        self._is_counted = True

    def state_dict(self) -> dict[str, Any]:
        """Seed, epoch and position, for :meth:`load_state_dict` of a sampler of as many samples and shards.

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
            **({"shards": self._shards} if self._shards > 1 else {}),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a saved state: the next iteration has the rest of its epoch.

        :class:`DataError` for anything else than the state of a sampler of as many samples and shards.
        """
        expected = {
            "seed": int,
            "shuffle": bool,
            "samples": int,
            "epoch": int,
            "position": int,
            "shards": int,
        }
        given: dict[str, Any] = {name: ({"shards": 1} | dict(state_dict)).get(name) for name in expected}
        for name, kind in expected.items():
            if type(given[name]) is not kind or given[name] < 0:
                wanted = f"{kind.__name__}, 0 or more"
                raise DataError(f"{name} of the sampler's state is {given[name]!r}; expected {wanted}")
        if given["samples"] != self._count:
            raise DataError(f"the state is of {given['samples']} samples; expected {self._count}")
        if given["shards"] != self._shards:
            raise DataError(f"the state is of {given['shards']} shards; expected {self._shards}")
        if given["position"] > self._length:
            raise DataError(f"position {given['position']} in an epoch of {self._length} samples")
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
        """The numbers of an epoch's samples: of each shard in turn."""
        if not self._shuffle:
            return np.arange(self._length)
        random, rows = np.random.default_rng((self._seed, self.epoch)), self._length // self._shards
        of_shards = [np.arange(shard, self._count, self._shards) for shard in range(self._shards)]
        return np.stack([random.permutation(numbers)[:rows] for numbers in of_shards], 1).reshape(-1)


def _rank_of(source: Sized, rank: int | None, ranks: int | None) -> tuple[int, int]:
    """The rank that is given, or that of the data set, which has the samples of one rank only."""
    own = (source.rank, source.ranks) if isinstance(source, FlashDataset) else (0, 1)
    if rank is None and ranks is None:
        return own
    found = require_rank(0 if rank is None else rank, 1 if ranks is None else ranks)
    if own[1] > 1 and found != own:
        raise DataError(
            f"rank is {found[0]} of {found[1]}; expected {own[0]} of {own[1]}, whose samples the data set has"
        )
    return found


def _shards_of(source: Sized, shards: int | None) -> int:
    ranks = source.ranks if isinstance(source, FlashDataset) else 1
    if shards is None:
        return ranks
    if type(shards) is not int or not 1 <= shards <= max(1, len(source)) or shards % ranks:
        multiple = "" if ranks == 1 else f", a multiple of the {ranks} ranks of the data set"
        raise DataError(f"shards is {shards!r}; expected an integer from 1 to {len(source)}{multiple}")
    return shards
