"""PDUs of the TCP transport: headers, flags and the reasons for the end of a connection.

NVMe/TCP 1.0, section 3.6.
"""

import struct
from enum import IntEnum, IntFlag
from typing import NamedTuple

COMMON = struct.Struct("<BBBBI")  # type, flags, length of the header, offset of the data, length of the PDU
DIGEST_BYTES = 4
CONNECTION_BYTES = 128  # of ICReq and ICResp
COMMAND_BYTES = 72
SHORT_BYTES = 24  # of all other headers
MOST_TERMINATION_BYTES = SHORT_BYTES + 128

_CONNECTION = struct.Struct("<HBBI112x")
_DATA = struct.Struct("<HHII4x")
_DATA_HEADER = struct.Struct("<BBBBIHHII4x")  # both of them: one call takes half the time of two
_TERMINATION = struct.Struct("<HI10x")


class PduType(IntEnum):
    IC_REQUEST = 0x00
    IC_RESPONSE = 0x01
    HOST_TERMINATION = 0x02
    CONTROLLER_TERMINATION = 0x03
    COMMAND = 0x04
    RESPONSE = 0x05
    HOST_DATA = 0x06
    CONTROLLER_DATA = 0x07
    READY_TO_TRANSFER = 0x09


class Flags(IntFlag):
    HEADER_DIGEST = 1
    DATA_DIGEST = 2
    LAST = 4
    SUCCESS = 8


HEADER_DIGEST, DATA_DIGEST, LAST, SUCCESS = map(int, Flags)
"""Plain integers: the arithmetic of enumerations takes longer than a read of the functional model."""


class Fatal(IntEnum):
    """Fatal error status of a termination request (NVMe/TCP 1.0, Figures 23 and 25)."""

    INVALID_HEADER_FIELD = 1
    SEQUENCE_ERROR = 2
    HEADER_DIGEST_ERROR = 3
    OUT_OF_RANGE = 4
    LIMIT_EXCEEDED = 5  # from the controller: more data than a PDU may have
    UNSUPPORTED_PARAMETER = 6


HEADER_BYTES: dict[int, int] = {
    PduType.IC_REQUEST: CONNECTION_BYTES,
    PduType.IC_RESPONSE: CONNECTION_BYTES,
    PduType.COMMAND: COMMAND_BYTES,
    PduType.HOST_TERMINATION: SHORT_BYTES,
    PduType.CONTROLLER_TERMINATION: SHORT_BYTES,
    PduType.RESPONSE: SHORT_BYTES,
    PduType.HOST_DATA: SHORT_BYTES,
    PduType.CONTROLLER_DATA: SHORT_BYTES,
    PduType.READY_TO_TRANSFER: SHORT_BYTES,
}
"""Bytes of each header, without its digest."""


class Header(NamedTuple):
    """The first eight bytes of a PDU."""

    kind: int
    flags: int
    header_bytes: int
    data_offset: int
    pdu_bytes: int


class Connection(NamedTuple):
    """Content of an ICReq or an ICResp.

    - version: of the PDU format.
    - alignment: of data, in dwords less one (HPDA, CPDA).
    - digests: `Flags` of the digests.
    - limit: MAXR2T less one of a request, MAXH2CDATA of a response.
    """

    version: int
    alignment: int
    digests: int
    limit: int


class Transfer(NamedTuple):
    """Content of a data PDU or an R2T: which bytes of a command's data."""

    cid: int
    tag: int
    offset: int
    length: int


def parse_header(raw: bytes | bytearray | memoryview, at: int = 0) -> Header:
    return Header(*COMMON.unpack_from(raw, at))


def parse_connection(raw: bytes | bytearray | memoryview) -> Connection:
    return Connection(*_CONNECTION.unpack_from(raw, COMMON.size))


def parse_transfer(raw: bytes | bytearray | memoryview, at: int = 0) -> Transfer:
    return Transfer(*_DATA.unpack_from(raw, at + COMMON.size))


def parse_termination(raw: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Fatal error status, and its information: mostly the place of a wrong field."""
    return _TERMINATION.unpack_from(raw, COMMON.size)


def connection_pdu(kind: PduType, content: Connection) -> bytes:
    """An ICReq or ICResp."""
    header = COMMON.pack(kind, 0, CONNECTION_BYTES, 0, CONNECTION_BYTES)
    return header + _CONNECTION.pack(*content)


def termination_pdu(kind: PduType, reason: Fatal, information: int, header: bytes) -> bytes:
    """A termination request with the header that it is about."""
    header = header[: MOST_TERMINATION_BYTES - SHORT_BYTES]
    length = SHORT_BYTES + len(header)
    return COMMON.pack(kind, 0, SHORT_BYTES, 0, length) + _TERMINATION.pack(reason, information) + header


def transfer_header(
    kind: PduType, flags: int, transfer: Transfer, data_offset: int = 0, pdu_bytes: int = SHORT_BYTES
) -> bytes:
    """The header of a data PDU or an R2T, without its digest."""
    return _DATA_HEADER.pack(kind, flags, SHORT_BYTES, data_offset, pdu_bytes, *transfer)
