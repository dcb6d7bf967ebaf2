"""Frames of the serial bridge as bytes of the line (`flashtrain.spec.serial`)."""

import struct
from dataclasses import dataclass
from zlib import crc32

from flashtrain.spec.serial import CHECK_BYTES, ESCAPE, FLAG, FLIP, Flags, Operation, Status

_REQUEST, _ANSWER = struct.Struct("<BBHI"), struct.Struct("<BBBB6s")
_CHECK = struct.Struct("<I")
_FLAG = bytes([FLAG])


@dataclass(frozen=True)
class Request:
    """A request of the host, with its data."""

    operation: Operation
    sequence: int
    words: int = 0
    address: int = 0
    data: bytes = b""

    @property
    def content(self) -> bytes:
        """The bytes in a frame."""
        return _REQUEST.pack(self.operation, self.sequence, self.words, self.address) + self.data

    def frame(self) -> bytes:
        """The bytes on the line."""
        return framed(self.content)

    @classmethod
    def of(cls, content: bytes) -> "Request | None":
        """The request of a frame's content; None for one that is too short or asks for nothing known."""
        if len(content) < _REQUEST.size or content[0] not in set(Operation):
            return None
        operation, sequence, words, address = _REQUEST.unpack_from(content)
        return cls(Operation(operation), sequence, words, address, content[_REQUEST.size :])


@dataclass(frozen=True)
class Answer:
    """An answer of the bridge. cycles: of its clock, when the answer began."""

    operation: int
    sequence: int
    status: Status
    flags: Flags
    cycles: int
    data: bytes = b""

    def frame(self) -> bytes:
        """The bytes on the line."""
        cycles = self.cycles.to_bytes(6, "little")
        header = _ANSWER.pack(self.operation, self.sequence, self.status, self.flags, cycles)
        return framed(header + self.data)

    @classmethod
    def of(cls, content: bytes) -> "Answer | None":
        """The answer of a frame's content; None for one that is no answer."""
        if len(content) < _ANSWER.size:
            return None
        operation, sequence, status, flags, cycles = _ANSWER.unpack_from(content)
        if status not in set(Status):
            return None
        count = int.from_bytes(cycles, "little")
        return cls(operation, sequence, Status(status), Flags(flags), count, content[_ANSWER.size :])


def framed(content: bytes) -> bytes:
    """A frame with this content, from flag to flag."""
    content += _CHECK.pack(crc32(content))
    for special in (ESCAPE, FLAG):  # the escape first: it is in what replaces a flag
        content = content.replace(bytes([special]), bytes([ESCAPE, special ^ FLIP]))
    return _FLAG + content + _FLAG


class Deframer:
    """Contents of the frames in a stream of bytes.

    damaged: frames so far whose CRC is wrong.
    """

    def __init__(self) -> None:
        self._open = b""
        self.damaged = 0

    def feed(self, received: bytes) -> list[bytes]:
        """The contents of the frames that end in these bytes."""
        *ended, self._open = (self._open + received).split(_FLAG)
        contents = []
        for piece in filter(None, ended):
            content = _unescaped(piece)
            if content is None or not _is_whole(content):
                self.damaged += 1
            else:
                contents.append(content[:-CHECK_BYTES])
        return contents


def _unescaped(piece: bytes) -> bytes | None:
    """The bytes that were escaped so; None if the last one is missing."""
    first, *rest = piece.split(bytes([ESCAPE]))
    if any(not part for part in rest):
        return None
    return first + b"".join(bytes([part[0] ^ FLIP]) + part[1:] for part in rest)


def _is_whole(content: bytes) -> bool:
    if len(content) <= CHECK_BYTES:
        return False
    return _CHECK.pack(crc32(content[:-CHECK_BYTES])) == content[-CHECK_BYTES:]
