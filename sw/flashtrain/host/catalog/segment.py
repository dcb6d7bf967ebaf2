"""The index of a catalogue on the flash: segments of rows, and the root that lists them.

The root is the note of the stream, so it changes in one record of the journal. Formats, version 2:

- root: `FTN2`, and JSON `[next number, [segment, ...]]`, the oldest segment first.
- segment: `[[lba, blocks, ...], offset, nbytes, crc, parity]`: the extents of its append, the place of its
  bytes in that, their CRC-32, and the place of their parity (`parity.py`). The parity has a page of its own,
  so a segment can be read when one page is lost.
- bytes of a segment: JSON `{name: row, ...}`, compressed (RFC 1950). A row is null for a name that is gone,
  or `[number, dtype, shape, crc, [address, nbytes, ...]]`; a negative address is relative (`Run`).

A row replaces rows of the same name in older segments. Segments of version 1, `FTN1`, have no parity.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flashtrain.host.streams.stored import Extent
from flashtrain.reading import inflated
from flashtrain.reading.limits import MOST_UNPACKED_BYTES

from .entry import Entry
from .errors import CatalogDamaged, CatalogFull, CatalogUnsuitable
from .run import Run, runs_in

MAGIC = b"FTN2"
_MAGICS = (b"FTN1", MAGIC)

Rows = dict[str, Entry | None]


@dataclass(frozen=True)
class Segment:
    """Rows of the index, and their place. `rows` have addresses of the stream.

    - offset, parity: places in the append of these extents; no parity (None) in version 1.
    """

    extents: tuple[Extent, ...]
    offset: int
    nbytes: int
    crc: int
    parity: int | None
    rows: Rows

    def runs(self, block_bytes: int) -> list[Run]:
        """The place of the bytes of its rows."""
        return runs_in(self.extents, self.offset, self.nbytes, block_bytes)

    def parity_runs(self, block_bytes: int) -> list[Run]:
        """The place of their parity."""
        if self.parity is None:
            return []
        return runs_in(self.extents, self.parity, min(self.nbytes, block_bytes), block_bytes)

    def all_runs(self, block_bytes: int) -> list[Run]:
        return self.runs(block_bytes) + self.parity_runs(block_bytes)

    def pack(self) -> list[Any]:
        flat = [number for extent in self.extents for number in extent]
        fields = [flat, self.offset, self.nbytes, self.crc]
        return fields if self.parity is None else [*fields, self.parity]

    @classmethod
    def unpack(cls, fields: list[Any]) -> "Segment":
        """A segment whose rows are to be read."""
        flat, offset, nbytes, crc, *parity = fields
        extents = tuple(Extent(*pair) for pair in zip(flat[::2], flat[1::2], strict=True))
        return cls(extents, offset, nbytes, crc, parity[0] if parity else None, {})


def pack_root(following: int, segments: Iterable[Segment]) -> bytes:
    return MAGIC + _json([following, [segment.pack() for segment in segments]])


def unpack_root(note: bytes) -> tuple[int, list[Segment]]:
    """The next number, and the segments without rows; :class:`CatalogUnsuitable` for another user's note."""
    if not note:
        return 0, []
    if note[: len(MAGIC)] not in _MAGICS:
        raise CatalogUnsuitable(
            f"the note of the stream begins with {note[:4]!r}; expected {MAGIC!r}: it has another user"
        )
    following, segments = json.loads(note[len(MAGIC) :])
    return following, [Segment.unpack(fields) for fields in segments]


def pack_rows(rows: Mapping[str, Entry | None]) -> bytes:
    rows_json = _json({name: None if entry is None else entry.pack() for name, entry in rows.items()})
    if len(rows_json) > MOST_UNPACKED_BYTES:
        raise CatalogFull(
            f"an index of {len(rows)} names has {len(rows_json):,} bytes; expected at most"
            f" {MOST_UNPACKED_BYTES:,}"
        )
    return zlib.compress(rows_json)


def unpack_rows(raw: bytes) -> Rows:
    try:
        document = json.loads(inflated(raw, MOST_UNPACKED_BYTES))
        return {name: None if row is None else Entry.unpack(row) for name, row in document.items()}
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise CatalogDamaged(f"a segment of the index is malformed: {error}") from error


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
