"""The note of a stream, which its driver has recorded: a log page of the vendor, C0h, of a namespace."""

import struct
from zlib import crc32

from flashtrain.nvme.errors import ProtocolError

PAGE = 0xC0
_MAGIC = b"FTSTNOTE"
_HEADER = struct.Struct("<8sII")
HEADER_BYTES = _HEADER.size


def packed_note(note: bytes) -> bytes:
    """The page: a header with the bytes of the note and their CRC-32, and the note."""
    return _HEADER.pack(_MAGIC, len(note), crc32(note)) + note


def note_bytes(page: bytes) -> int:
    """The bytes of the note behind a header; :class:`ProtocolError` if it is none."""
    magic, length, _ = _HEADER.unpack_from(page)
    if magic != _MAGIC:
        raise ProtocolError(f"the note of a stream begins with {magic!r}; expected {_MAGIC!r}")
    return length


def parse_note(page: bytes) -> bytes | None:
    """The note of a page; None if parts of it are those of different notes."""
    length = note_bytes(page)
    note = page[HEADER_BYTES : HEADER_BYTES + length]
    return note if len(note) == length and crc32(note) == _HEADER.unpack_from(page)[2] else None
