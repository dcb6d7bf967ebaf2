"""Checks of what a target sends: each PDU has a place in the transport, and goes on with its command."""

from flashtrain.nvme.errors import ProtocolError
from flashtrain.nvme.wire.pdu import (
    CONNECTION_BYTES,
    DATA_DIGEST,
    DIGEST_BYTES,
    HEADER_BYTES,
    HEADER_DIGEST,
    MOST_TERMINATION_BYTES,
    SHORT_BYTES,
    Connection,
    Header,
    PduType,
    Transfer,
)

MOST_PDU_BYTES = (1 << 20) + 4096
"""Of a PDU from a target: data of a command of 1 MiB, and their header."""

_LEAST_DATA_LIMIT = 4096
"""Of MAXH2CDATA (NVMe/TCP 1.0, section 3.6.2.3)."""


def check_header(header: Header, digests: int) -> None:
    """:class:`ProtocolError` for a header that a controller does not send; `digests`: of the connection."""
    header_digest = DIGEST_BYTES if digests & HEADER_DIGEST else 0
    start = SHORT_BYTES + header_digest
    least, most = start, start
    match header.kind:
        case PduType.IC_RESPONSE:
            least = most = CONNECTION_BYTES
        case PduType.CONTROLLER_TERMINATION:
            least, most = SHORT_BYTES, MOST_TERMINATION_BYTES
        case PduType.CONTROLLER_DATA:
            tail = DIGEST_BYTES if digests & DATA_DIGEST else 0
            least, most = max(start, header.data_offset) + 1 + tail, MOST_PDU_BYTES
            if header.data_offset < start:
                raise ProtocolError(f"data at byte {header.data_offset} of a PDU; expected {start} or more")
        case PduType.RESPONSE | PduType.READY_TO_TRANSFER:
            pass
        case _:
            raise ProtocolError(f"PDU of type {header.kind:#x} from the target")
    expected = HEADER_BYTES[header.kind]
    if header.header_bytes != expected or not least <= header.pdu_bytes <= most:
        raise ProtocolError(
            f"PDU of type {header.kind:#x} with a header of {header.header_bytes} bytes and"
            f" {header.pdu_bytes} in all; expected {expected}, and from {least} to {most}"
        )


def check_response(answer: Connection, digests: int) -> None:
    """:class:`ProtocolError` for a connection response that does not grant what was asked for."""
    if answer.digests != digests:
        raise ProtocolError(f"the target grants digests {answer.digests}; expected {int(digests)}, as asked")
    if answer.version or answer.alignment or answer.limit < _LEAST_DATA_LIMIT:
        raise ProtocolError(
            f"a connection response with version {answer.version}, alignment {answer.alignment} and"
            f" {answer.limit} bytes of data; expected 0, 0 and at least {_LEAST_DATA_LIMIT}"
        )


def check_transfer(what: str, transfer: Transfer, done: int, size: int) -> None:
    """:class:`ProtocolError` if a transfer is not the next one of a command.

    done, size: the bytes that have moved so far, and all of them. what: the name of the transfer.
    """
    if transfer.offset != done or not 0 < transfer.length <= size - done:
        raise ProtocolError(
            f"{what} of command {transfer.cid}: {transfer.length} bytes from {transfer.offset} on;"
            f" expected from {done} on, up to {size}"
        )
