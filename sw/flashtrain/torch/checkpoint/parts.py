"""Checkpoints of several ranks: each rank stores a part, and the coordinator the metadata behind them.

The checkpoint is there from the record of the metadata on. A part without it belongs to a save that was cut.
"""

import re
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import NamedTuple

import torch.distributed as dist

from flashtrain.checkpoint import AppendedCheckpoints, Checkpoint, CheckpointSource, Retention
from flashtrain.torch.ranks.rank_group import RankGroup

_PART = re.compile(r"(.*) \[rank [0-9]+ of [0-9]+, save [0-9a-f]{16}\]", re.DOTALL)


class Part(NamedTuple):
    """A part of a save, which has a number, by one of `ranks` ranks."""

    save: str
    rank: int
    ranks: int

    @classmethod
    def all(cls, ranks: int) -> "list[Part]":
        """The parts of a new save."""
        save = token_hex(8)
        return [cls(save, rank, ranks) for rank in range(ranks)]

    def name(self, checkpoint: str) -> str:
        """The name in the store of the rank; for a save by one process it is that of the checkpoint."""
        own = f" [rank {self.rank} of {self.ranks}, save {self.save}]"
        return checkpoint + own if self.ranks > 1 else checkpoint

    @property
    def mark(self) -> bytes:
        """The host's state of the metadata, which says what parts there are."""
        return f"{self.ranks} {self.save}".encode()

    @classmethod
    def marked(cls, mark: bytes) -> "list[Part]":
        """The parts of a checkpoint by the mark of its metadata."""
        if not mark:
            return [cls("", 0, 1)]
        ranks, save = mark.decode().split()
        return [cls(save, rank, int(ranks)) for rank in range(int(ranks))]


class RankCheckpoints:
    """The checkpoints of :class:`FlashWriter` on the devices of all ranks; its methods are collective.

    store: that of this rank; group: by default all ranks of `torch.distributed`, or this process alone.
    """

    def __init__(self, store: AppendedCheckpoints, group: "dist.ProcessGroup | None" = None) -> None:
        self._store = store
        self._ranks = RankGroup(group)

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """The checkpoints that are whole, in the order of their saving."""
        return list(self._whole())

    def prune(self, retention: Retention) -> list[Checkpoint]:
        """Delete the checkpoints that are not kept, first their metadata; returns them."""
        whole = self._whole()
        kept = retention.kept(one.step for one in whole)
        surplus = {one: parts for one, parts in whole.items() if one.step not in kept}
        self._delete({one.name for one in surplus})
        self._delete({name for parts in surplus.values() for name in parts})
        return list(surplus)

    def reclaim(self) -> None:
        """Delete what is not whole, after a save or a deletion that was cut, and free its room."""
        whole = self._whole()
        names = {one.name for one in whole}
        self._delete({one.name for one in self._store.checkpoints if not _is_part(one.name)} - names)
        parts = {name for parts in whole.values() for name in parts}
        self._delete({one.name for one in self._store.checkpoints} - parts - names)
        self._ranks.agreed(self._store.reclaim)

    def _whole(self) -> dict[Checkpoint, list[str]]:
        """The whole checkpoints, and the names of their parts."""

        def own() -> tuple[list[tuple[Checkpoint, bytes]], list[str]]:
            stored = self._store.checkpoints
            roots = [one for one in stored if not _is_part(one.name)]
            return [(one, self._store.manifest(one.name).host) for one in roots], [one.name for one in stored]

        found = self._ranks.agreed(own)
        stored = {name for _, names in found for name in names}
        whole = {}
        for roots, _ in found:
            for root, mark in roots:
                names = [part.name(root.name) for part in Part.marked(mark)]
                if stored.issuperset(names):
                    whole[root] = names
        return whole

    def _delete(self, names: set[str]) -> None:
        def own() -> None:
            for one in self._store.checkpoints:
                if one.name in names:
                    self._store.delete(one.name)

        self._ranks.agreed(own)


def _is_part(name: str) -> bool:
    return _PART.fullmatch(name) is not None


def holders(stores: Sequence[CheckpointSource]) -> Mapping[str, CheckpointSource]:
    """The store that holds each checkpoint, or part, by its name."""
    return {one.name: store for store in stores for one in store.checkpoints}
