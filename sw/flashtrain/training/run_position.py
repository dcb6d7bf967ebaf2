"""The position of a training run, as the note of a commit has it."""

import struct
from dataclasses import dataclass

from flashtrain.training.errors import PositionError
from flashtrain.training.run_identity import RunIdentity

_MAGIC = b"FTR4"
_FIELDS = struct.Struct(f"<4sQQdQ{RunIdentity.BYTES}s")


@dataclass(frozen=True)
class RunPosition:
    """The state of a run's host that, with the state on the dies, leads to the same bits.

    Batches, losses, dropped elements, learning rates and constants follow from it and the run's seed.

    - iterations: iterations that are complete, up to a commit.
    - committed: updates that were committed; the others were skipped.
    - loss_scale, good_steps: the state of the loss scale.
    - running: the bytes of the running arrays, float32 in the order of the layers.
    - run: the run that this is a position of.
    """

    iterations: int = 0
    committed: int = 0
    loss_scale: float = 1.0
    good_steps: int = 0
    running: bytes = b""
    run: RunIdentity = RunIdentity()

    def pack(self) -> bytes:
        fields = (self.iterations, self.committed, self.loss_scale, self.good_steps)
        return _FIELDS.pack(_MAGIC, *fields, self.run.pack()) + self.running

    @classmethod
    def unpack(cls, note: bytes) -> "RunPosition":
        """The position from a note; :class:`PositionError` if that is of somebody else."""
        if len(note) < _FIELDS.size or note[:4] != _MAGIC:
            raise PositionError(
                f"the note of the state has {len(note)} bytes that begin with {note[:4]!r}; expected at least"
                f" the {_FIELDS.size} of a run's position, which begin with {_MAGIC!r}"
            )
        _, *fields, run = _FIELDS.unpack_from(note)
        return cls(*fields, running=note[_FIELDS.size :], run=RunIdentity.unpack(run))
