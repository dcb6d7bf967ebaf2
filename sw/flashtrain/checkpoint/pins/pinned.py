"""Checkpoints by pinning generations of the state on the dies: one command, and no copy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import CheckpointExists, NoCheckpoint
from flashtrain.checkpoint.stores.retention import Retention
from flashtrain.checkpoint.stores.store import Checkpoint
from flashtrain.host import Generation, OptimizerState

from .pin_note import PinNote
from .state_arrays import arrays_of, place_of


class PinnedCheckpoints:
    """Checkpoints of `state`: pinned generations, each with a name and the state of the host in its note.

    :meth:`commit` ends a step of training and makes the new generation a checkpoint, in one record of the
    journal. As many generations can be kept as the state has streams beyond the current one and the next one
    (:attr:`most`); the oldest one is released for a new one. With two streams, only the current generation
    can be one. Pins survive a loss of power; they do not survive the device.
    """

    def __init__(self, state: OptimizerState) -> None:
        self._state = state

    @property
    def most(self) -> int:
        """Checkpoints that can be kept while training goes on."""
        return max(1, self._state.places - 2)

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All checkpoints, in the order of their steps."""
        return tuple(
            Checkpoint(note.name, generation.updates, self._state.nbytes) for generation, note in self._pins
        )

    def commit(self, name: str, host: bytes = b"") -> Checkpoint:
        """Make the updated generation current and a checkpoint, in place of the oldest one if there are
        :attr:`most`."""
        self.require_new(name)
        pins = self._pins
        surplus = pins[0][0] if len(pins) >= self.most else None
        generation = self._state.commit(PinNote(name, host).pack(), pin=True, release=surplus)
        return Checkpoint(name, generation.updates, self._state.nbytes)

    def save(self, name: str, host: bytes = b"") -> Checkpoint:
        """Make the current generation a checkpoint."""
        self.require_new(name)
        self.release_surplus(1)
        return self.name(name, host)

    def name(self, name: str, host: bytes) -> Checkpoint:
        """Make the current generation a checkpoint beside all others, which may be too many."""
        generation = self._state.pin(PinNote(name, host).pack())
        return Checkpoint(name, generation.updates, self._state.nbytes)

    def release_surplus(self, more: int = 0) -> None:
        """Release the oldest checkpoints, but for :attr:`most` that are not current, less `more`."""
        pins = [one for one, _ in self._pins if one != self._state.current]
        for surplus in pins[: max(0, len(pins) + more - self.most)]:
            self._state.release(surplus)

    def host(self, name: str) -> bytes:
        """The state of the host of a checkpoint."""
        return self._pin(name)[1].host

    def load(self, name: str) -> dict[str, NDArray[np.float32]]:
        """All arrays of a checkpoint, by the names of :func:`arrays_of`."""
        return arrays_of(self._state, self._pin(name)[0])

    def read(self, name: str, array: str) -> NDArray[np.float32]:
        """One array of a checkpoint, by its name of :func:`arrays_of`."""
        generation, _ = self._pin(name)
        place = place_of(self._state, array)
        return self._state.read_tensor(place.array, place.group, place.tensor, generation)

    def restore(self, name: str) -> bytes:
        """Make a checkpoint the current generation again; returns its state of the host.

        The dies copy nothing: the generation is read and written once. The checkpoint stays.
        """
        generation, note = self._pin(name)
        if generation != self._state.current:
            self._state.revert(generation)
        return note.host

    def find(self, name: str) -> tuple[Generation, bytes]:
        """The generation of a checkpoint, and the state of the host."""
        generation, note = self._pin(name)
        return generation, note.host

    def delete(self, name: str) -> None:
        """Release a checkpoint."""
        self._state.release(self._pin(name)[0])

    def prune(self, retention: Retention) -> tuple[Checkpoint, ...]:
        """Delete the checkpoints that are not kept; returns them."""
        kept = retention.kept(one.step for one in self.checkpoints)
        surplus = tuple(one for one in self.checkpoints if one.step not in kept)
        for one in surplus:
            self.delete(one.name)
        return surplus

    # Implementation.

    @property
    def _pins(self) -> list[tuple[Generation, PinNote]]:
        notes = ((one, PinNote.unpack(self._state.note(one))) for one in self._state.pinned)
        found: list[tuple[Generation, Any]] = [(one, note) for one, note in notes if note is not None]
        return sorted(found, key=lambda pair: pair[0].updates)

    def _pin(self, name: str) -> tuple[Generation, PinNote]:
        for pair in self._pins:
            if pair[1].name == name:
                return pair
        known = ", ".join(note.name for _, note in self._pins)
        raise NoCheckpoint(f"no generation is pinned as checkpoint {name!r}; pinned are {known or 'none'}")

    def require_new(self, name: str) -> None:
        """:class:`CheckpointExists` for a name that is there."""
        if name in {note.name for _, note in self._pins}:
            raise CheckpointExists(f"there is a checkpoint {name!r} already")
