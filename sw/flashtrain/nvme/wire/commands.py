"""Commands and completions as they stand in capsules (NVM Express Base 2.0, section 3.3.3)."""

import struct
from enum import IntEnum
from typing import NamedTuple

_COMMAND = struct.Struct("<BBHIQQQI3xB6I")
_COMPLETION = struct.Struct("<QHHHH")
_FIELDS = struct.Struct("<6I")
_DO_NOT_RETRY = 1 << 15
COMMAND_BYTES = _COMMAND.size
SGL_PSDT = 0x40
"""The flags byte of a command whose data pointer is an SGL descriptor."""


class AdminOpcode(IntEnum):
    """Admin commands."""

    DELETE_SQ = 0x00
    CREATE_SQ = 0x01
    GET_LOG_PAGE = 0x02
    DELETE_CQ = 0x04
    CREATE_CQ = 0x05
    IDENTIFY = 0x06
    ABORT = 0x08
    SET_FEATURES = 0x09
    GET_FEATURES = 0x0A
    ASYNC_EVENT_REQUEST = 0x0C
    KEEP_ALIVE = 0x18
    FABRICS = 0x7F


class FabricsType(IntEnum):
    """FCTYPE, in the first byte of a fabrics command's NSID."""

    PROPERTY_SET = 0x00
    CONNECT = 0x01
    PROPERTY_GET = 0x04
    AUTHENTICATION_SEND = 0x05
    AUTHENTICATION_RECEIVE = 0x06


class SglType(IntEnum):
    """Type and subtype of the SGL descriptors that the transport has (NVMe/TCP 1.0, section 3.4)."""

    IN_CAPSULE = 0x01  # a data block at an offset of the capsule
    TRANSPORT = 0x5A  # the transport moves the data


class Entry(NamedTuple):
    """A submission entry. `flags` is FUSE and PSDT, `sgl_type` type and subtype."""

    opcode: int
    flags: int = SGL_PSDT
    cid: int = 0
    nsid: int = 0
    dwords_2_3: int = 0
    metadata: int = 0
    sgl_address: int = 0
    sgl_length: int = 0
    sgl_type: int = SglType.TRANSPORT
    dword_10: int = 0
    dword_11: int = 0
    dword_12: int = 0
    dword_13: int = 0
    dword_14: int = 0
    dword_15: int = 0

    @property
    def psdt(self) -> int:
        """0 where the data pointer is a pair of PRPs."""
        return self.flags >> 6

    @property
    def slba(self) -> int:
        return self.dword_10 | self.dword_11 << 32

    @property
    def blocks(self) -> int:
        return (self.dword_12 & 0xFFFF) + 1

    @property
    def fields(self) -> bytes:
        """Bytes 40 to 63, where fabrics commands have their fields."""
        return _FIELDS.pack(*self[-6:])

    def packed(self) -> bytes:
        return _COMMAND.pack(*self)


class Answer(NamedTuple):
    """A completion entry. `status` is the type in bits 10:8 and the code in bits 7:0."""

    result: int
    sq_head: int
    queue: int
    cid: int
    status: int
    do_not_retry: bool


def parse_entry(raw: bytes | bytearray | memoryview, at: int = 0) -> Entry:
    return Entry(*_COMMAND.unpack_from(raw, at))


def parse_answer(raw: bytes | bytearray | memoryview, at: int = 0) -> Answer:
    result, sq_head, queue, cid, status = _COMPLETION.unpack_from(raw, at)
    return Answer(result, sq_head, queue, cid, status >> 1 & 0x7FF, bool(status & _DO_NOT_RETRY))


def answer_bytes(
    result: int, sq_head: int, cid: int, status: int, do_not_retry: bool, queue: int = 0, phase: int = 0
) -> bytes:
    """A completion entry. `queue` is SQID, which is reserved in a capsule, as the phase is."""
    field = status << 1 | phase | (_DO_NOT_RETRY if do_not_retry else 0)
    return _COMPLETION.pack(result, sq_head, queue, cid, field)
