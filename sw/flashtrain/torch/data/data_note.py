"""`DataNote`: the note of a stream that has a data set by name, for the processes that come after."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from flashtrain.checkpoint import CheckpointDamaged
from flashtrain.checkpoint.host_state.plain_values import packed, unpacked
from flashtrain.host import Extent
from flashtrain.training.errors import DataError

_KIND = "data set"


class Stored(NamedTuple):
    """The samples when all are stored: of all ranks, and the bytes and blocks of this one."""

    samples: int
    nbytes: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True)
class DataNote:
    """The content of a stream: the samples of a rank, all of one layout.

    stored: None until all are acknowledged. The samples that are there then are of no use.
    """

    name: str
    rank: int
    ranks: int
    layout: str
    stored: Stored | None = None

    def pack(self) -> bytes:
        stored = self.stored and [*self.stored[:2], [list(extent) for extent in self.stored.extents]]
        return packed([_KIND, self.name, self.rank, self.ranks, self.layout, stored])

    @classmethod
    def unpack(cls, raw: bytes) -> Self | None:
        """The note; None for one of another user."""
        try:
            kind, name, rank, ranks, layout, stored = unpacked(raw)
            if stored is not None:
                samples, nbytes, extents = stored
                stored = Stored(samples, nbytes, tuple(Extent(*extent) for extent in extents))
        except (CheckpointDamaged, ValueError, TypeError):
            return None
        return cls(name, rank, ranks, layout, stored) if kind == _KIND else None

    def require_same(self, other: "DataNote", samples: int | None, stream: str) -> None:
        """:class:`DataError` unless the data set and its samples are the same; samples: None if not known."""
        count = None if self.stored is None else self.stored.samples
        there, expected = (
            f"rank {note.rank} of {note.ranks} of {note.name!r}, {note.layout}{number}"
            for note, number in ((self, _times(count)), (other, _times(samples)))
        )
        known = samples is None or count is None or count == samples
        if replace(self, stored=None) != other or not known:
            raise DataError(
                f"stream {stream!r} has the samples of {there}; expected those of {expected}, or an empty"
                " stream"
            )


def _times(samples: int | None) -> str:
    return "" if samples is None else f" x {samples}"
