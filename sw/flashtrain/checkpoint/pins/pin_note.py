"""The note of a generation that is a checkpoint: its name, and the state of the host."""

import struct
from typing import NamedTuple

MAGIC = b"FTP1"
_HEAD = struct.Struct("<4sI")  # magic, bytes of the name


class PinNote(NamedTuple):
    """name: of the checkpoint; host: bytes of its user."""

    name: str
    host: bytes

    def pack(self) -> bytes:
        name = self.name.encode()
        return _HEAD.pack(MAGIC, len(name)) + name + self.host

    @classmethod
    def unpack(cls, note: bytes) -> "PinNote | None":
        """None for a note that is no checkpoint's."""
        if len(note) < _HEAD.size:
            return None
        magic, length = _HEAD.unpack_from(note)
        if magic != MAGIC:
            return None
        name = note[_HEAD.size : _HEAD.size + length]
        return cls(name.decode(), note[_HEAD.size + length :])
