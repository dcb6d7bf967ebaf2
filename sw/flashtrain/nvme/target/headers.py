"""Headers of PDUs from a host: their first wrong field, and the reason it is one."""

from flashtrain.nvme.subsystem.profile import IN_CAPSULE_BYTES
from flashtrain.nvme.wire.pdu import (
    CONNECTION_BYTES,
    DATA_DIGEST,
    DIGEST_BYTES,
    HEADER_BYTES,
    HEADER_DIGEST,
    MOST_TERMINATION_BYTES,
    SHORT_BYTES,
    Fatal,
    Header,
    PduType,
)

_FROM_HOST = frozenset({PduType.IC_REQUEST, PduType.HOST_TERMINATION, PduType.COMMAND, PduType.HOST_DATA})

Wrong = tuple[Fatal, int] | None
"""The reason and the place of a wrong field; None if all are right."""


def wrong_field(header: Header, digests: int | None, most_data: int) -> Wrong:
    """The first wrong field of a header.

    - digests: of the connection, None before its ICReq.
    - most_data: bytes of data of one PDU that are no part of a capsule.
    """
    if header.kind not in _FROM_HOST:
        return Fatal.INVALID_HEADER_FIELD, 0
    if (header.kind == PduType.IC_REQUEST) != (digests is None):
        return None if header.kind == PduType.HOST_TERMINATION else (Fatal.SEQUENCE_ERROR, 0)
    if header.header_bytes != HEADER_BYTES[header.kind]:
        return Fatal.INVALID_HEADER_FIELD, 2
    if header.kind == PduType.HOST_TERMINATION:
        fits = SHORT_BYTES <= header.pdu_bytes <= MOST_TERMINATION_BYTES
        return None if fits else (Fatal.INVALID_HEADER_FIELD, 4)
    if digests is None:
        return None if header.pdu_bytes == CONNECTION_BYTES else (Fatal.INVALID_HEADER_FIELD, 4)
    return _wrong_place_of_data(header, digests, most_data)


def _wrong_place_of_data(header: Header, digests: int, most_data: int) -> Wrong:
    start = header.header_bytes + (DIGEST_BYTES if digests & HEADER_DIGEST else 0)
    has_data = header.pdu_bytes > start
    # A host may set the flag of the data digest in a capsule without data.
    counted = HEADER_DIGEST | DATA_DIGEST if has_data else HEADER_DIGEST
    if (header.flags ^ digests) & counted:
        return Fatal.INVALID_HEADER_FIELD, 1
    if not has_data:
        good = header.kind == PduType.COMMAND and header.pdu_bytes == start
        return None if good else (Fatal.INVALID_HEADER_FIELD, 4)
    tail = DIGEST_BYTES if digests & DATA_DIGEST else 0
    if header.data_offset < start or header.data_offset + tail > header.pdu_bytes or header.data_offset % 4:
        return Fatal.INVALID_HEADER_FIELD, 3
    data_bytes = header.pdu_bytes - header.data_offset - tail
    if header.kind == PduType.COMMAND:
        return (Fatal.INVALID_HEADER_FIELD, 4) if data_bytes > IN_CAPSULE_BYTES else None
    return (Fatal.LIMIT_EXCEEDED, 4) if data_bytes > most_data else None
