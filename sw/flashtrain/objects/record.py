"""Records of the log of names: a change or a snapshot, in one part or several, each an append of its own.

A part begins a block. Its header has these fields, then comes its body, and zeros to the end of the block:

    bytes 0 to 7     `FTNAMES1`
    8                1: a change, 2: a snapshot
    10 to 13         the part's number, and the number of parts
    16 to 23         the epoch of the zone: snapshots are counted
    24 to 31         the sequence number of the record
    32 to 39         a random number that parts of one record have in common
    40 to 47         bytes of the body, and its CRC-32
    48 to 51         the CRC-32 of bytes 0 to 47

The bodies of all parts together are JSON, compressed (RFC 1950). Each part is there twice, one copy behind
the other, so that a lost page costs no names. A part that is there once counts as well.
"""

import errno
import json
import struct
import zlib
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple
from zlib import crc32

from flashtrain.reading import inflated
from flashtrain.reading.limits import MOST_UNPACKED_BYTES

MAGIC = b"FTNAMES1"
_HEADER = struct.Struct("<8sBxHH2xQQQII")
_BODY = _HEADER.size + 4
MOST_PART_BYTES = 64 << 10
"""A part is no longer, so that a torn one leaves a small hole."""


class Kind(IntEnum):
    CHANGE = 1
    SNAPSHOT = 2


class Part(NamedTuple):
    """A part as it is on the flash. `blocks` is its length."""

    kind: Kind
    number: int
    parts: int
    epoch: int
    sequence: int
    token: int
    body: bytes
    blocks: int


class Record(NamedTuple):
    """A whole record."""

    kind: Kind
    epoch: int
    sequence: int
    token: int
    document: Any


def packed(record: Record, block_bytes: int, most_bytes: int) -> list[bytes]:
    """The parts of a record, each of whole blocks and with its copy; two have at most `most_bytes`."""
    text = json.dumps(record.document, separators=(",", ":"), ensure_ascii=False).encode()
    if len(text) > MOST_UNPACKED_BYTES:
        raise OSError(errno.ENOSPC, f"names of {len(text):,} bytes; expected at most {MOST_UNPACKED_BYTES:,}")
    raw, room = (
        zlib.compress(text),
        max(block_bytes, min(most_bytes // 2, MOST_PART_BYTES) // block_bytes * block_bytes) - _BODY,
    )
    bodies = [raw[first : first + room] for first in range(0, len(raw), room)]
    parts = []
    for number, body in enumerate(bodies):
        header = _HEADER.pack(
            MAGIC, record.kind, number, len(bodies), record.epoch, record.sequence, record.token,
            len(body), crc32(body),
        )  # fmt: skip
        part = header + crc32(header).to_bytes(4, "little") + body
        parts.append(2 * part.ljust(-(-len(part) // block_bytes) * block_bytes, b"\0"))
    return parts


def part_at(data: memoryview, block_bytes: int) -> Part | None:
    """The part that begins here; None if there is none, or if it is torn."""
    if len(data) < _BODY or data[: len(MAGIC)] != MAGIC:
        return None
    _, kind, number, parts, epoch, sequence, token, length, crc = _HEADER.unpack_from(data)
    if crc32(data[: _HEADER.size]) != int.from_bytes(data[_HEADER.size : _BODY], "little"):
        return None
    body = bytes(data[_BODY : _BODY + length])
    if len(body) != length or crc32(body) != crc:
        return None
    blocks = -(-(_BODY + length) // block_bytes)
    return Part(Kind(kind), number, parts, epoch, sequence, token, body, blocks)


def blocks_at(data: memoryview, block_bytes: int) -> int:
    """The length of the part whose header is here, whether or not its body is whole; 1 without a header."""
    if len(data) < _BODY or data[: len(MAGIC)] != MAGIC:
        return 1
    if crc32(data[: _HEADER.size]) != int.from_bytes(data[_HEADER.size : _BODY], "little"):
        return 1
    return -(-(_BODY + _HEADER.unpack_from(data)[7]) // block_bytes)


def is_cut(data: memoryview) -> bool:
    """Whether a part may begin here and have its end behind these bytes."""
    if len(data) < _BODY:
        return True
    fields = _HEADER.unpack_from(data)
    sound = crc32(data[: _HEADER.size]) == int.from_bytes(data[_HEADER.size : _BODY], "little")
    return fields[0] == MAGIC and sound and _BODY + fields[7] > len(data)


class Assembly:
    """Puts parts together, in the order in which they lie in a zone."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[bytes]] = {}
        self._last = -1  # the token of the last whole record

    def add(self, part: Part) -> Iterator[Record]:
        """The record that this part completes. A writer appends its parts in their order."""
        if part.token == self._last:
            return  # a copy
        bodies = self._waiting.setdefault(part.token, [])
        if part.number != len(bodies):
            return
        bodies.append(part.body)
        if len(bodies) == part.parts:
            del self._waiting[part.token]
            self._last = part.token
            document = json.loads(inflated(b"".join(bodies), MOST_UNPACKED_BYTES))
            yield Record(part.kind, part.epoch, part.sequence, part.token, document)
