"""The interface of all stores of checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from .manifest import ArrayEntry, Manifest
from .retention import Retention


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint in a store. step: the updates that led to it; nbytes: bytes of its arrays."""

    name: str
    step: int
    nbytes: int


class Saving(Protocol):
    """A checkpoint that is being saved: it may be changed no more, and is not yet in the store."""

    @property
    def done(self) -> bool:
        """Whether :meth:`result` would return at once."""
        ...

    def advance(self) -> None:
        """Go on as far as possible without waiting; raises what :meth:`result` raises."""
        ...

    def result(self) -> Checkpoint:
        """Wait until the checkpoint is in the store. After an error nothing has changed in the store."""
        ...


class OpenedCheckpoint(Protocol):
    """A checkpoint that is opened for reading; valid until it is deleted."""

    manifest: Manifest

    def read(self, entry: ArrayEntry) -> NDArray[Any]:
        """One array of its manifest."""
        ...


class CheckpointSource(Protocol):
    """Named checkpoints, for reads. Methods raise :class:`NoCheckpoint` and :class:`CheckpointDamaged`, and
    the errors of what is behind."""

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All checkpoints, in the order of their saving."""
        ...

    def open(self, name: str) -> OpenedCheckpoint:
        """A checkpoint for reads of several arrays: its manifest is read once."""
        ...


class CheckpointStore(CheckpointSource, Protocol):
    """Named checkpoints of arrays and of the host's state, each there whole or not at all.

    Names are unique. Methods raise :class:`NoCheckpoint`, :class:`CheckpointExists` and
    :class:`CheckpointDamaged`, and the errors of the device or file system behind the store.
    """

    def save_async(
        self, name: str, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes = b""
    ) -> Saving:
        """Begin to save a copy of the arrays as they are; one save at a time: it waits for the one before."""
        ...

    def manifest(self, name: str) -> Manifest:
        """The contents of a checkpoint: names, types and shapes of its arrays, and the state of the host."""
        ...

    def read(self, name: str, array: str) -> NDArray[Any]:
        """One array of a checkpoint."""
        ...

    def delete(self, name: str) -> None:
        """Remove a checkpoint."""
        ...


def save(
    store: CheckpointStore, name: str, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes = b""
) -> Checkpoint:
    """Save a checkpoint and wait for it."""
    return store.save_async(name, step, arrays, host).result()


def load(store: CheckpointStore, name: str) -> dict[str, NDArray[Any]]:
    """All arrays of a checkpoint by name."""
    opened = store.open(name)
    return {entry.name: opened.read(entry) for entry in opened.manifest.arrays}


def prune(store: CheckpointStore, retention: Retention) -> tuple[Checkpoint, ...]:
    """Delete the checkpoints that are not kept; returns them."""
    kept = retention.kept(one.step for one in store.checkpoints)
    surplus = tuple(one for one in store.checkpoints if one.step not in kept)
    for one in surplus:
        store.delete(one.name)
    return surplus
