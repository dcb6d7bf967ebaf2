"""The `checkpoint_id` of `torch.distributed.checkpoint` as the name of a checkpoint."""

import os
import re
from threading import local

from flashtrain.checkpoint import CheckpointError


class CheckpointId:
    """The id in use by a writer or a reader, by thread: saves of several threads have an id each.

    first: used by threads that have set none.
    """

    def __init__(self, first: str | os.PathLike | None) -> None:
        self._first = first
        self._own = local()

    def set(self, checkpoint_id: str | os.PathLike | None) -> None:
        """None leaves the id as it is."""
        if checkpoint_id is not None:
            self._own.value = checkpoint_id

    @property
    def value(self) -> str | os.PathLike | None:
        return getattr(self._own, "value", self._first)

    @property
    def name(self) -> str:
        """The name of its checkpoint; :class:`CheckpointError` without an id."""
        if self.value is None or not is_valid(self.value):
            raise CheckpointError(f"checkpoint_id is {self.value!r}; expected a name")
        return os.fspath(self.value)

    @property
    def step(self) -> int:
        """The number at the end of the name, or 0."""
        digits = re.search(r"[0-9]+$", self.name)
        return int(digits[0]) if digits else 0


def is_valid(checkpoint_id: object) -> bool:
    """Whether a checkpoint can have this id."""
    name = os.fspath(checkpoint_id) if isinstance(checkpoint_id, os.PathLike) else checkpoint_id
    return isinstance(name, str) and name != ""


class WithCheckpointId:
    """The part of the interface that DCP asks of a writer and of a reader alike.

    checkpoint_id: for saves and loads without one.
    """

    def __init__(self, checkpoint_id: str | os.PathLike | None) -> None:
        super().__init__()
        self._id = CheckpointId(checkpoint_id)

    @property
    def checkpoint_id(self) -> str | os.PathLike | None:
        return self._id.value

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        return is_valid(checkpoint_id)

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        self._id.set(checkpoint_id)
