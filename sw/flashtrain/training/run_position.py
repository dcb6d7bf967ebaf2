"""The position of a training run, as the note of a commit has it."""

import struct
from dataclasses import dataclass

from flashtrain.training.errors import PositionError

_MAGIC = b"FTR1"
_FIELDS = struct.Struct("<4sQQ")


@dataclass(frozen=True)
class RunPosition:
    """The state of a run's host that, with the state on the dies, leads to the same bits.

    Batches, losses and constants follow from it and the run's seed.

    - iterations: iterations that are complete, up to a commit.
    - committed: updates that were committed; the others were skipped.
    """

    iterations: int = 0
    committed: int = 0

    def pack(self) -> bytes:
        return _FIELDS.pack(_MAGIC, self.iterations, self.committed)

    @classmethod
    def unpack(cls, note: bytes) -> "RunPosition":
        """The position from a note; :class:`PositionError` if that is of somebody else."""
        if len(note) != _FIELDS.size or note[:4] != _MAGIC:
            raise PositionError(
                f"the note of the state has {len(note)} bytes that begin with {note[:4]!r}; expected the"
                f" {_FIELDS.size} of a run's position, which begin with {_MAGIC!r}"
            )
        _, iterations, committed = _FIELDS.unpack(note)
        return cls(iterations, committed)
