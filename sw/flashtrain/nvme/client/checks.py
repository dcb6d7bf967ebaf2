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
    kind, _, header_bytes, data_offset, pdu_bytes = header
    least = most = start = SHORT_BYTES + (DIGEST_BYTES if digests & HEADER_DIGEST else 0)
    match kind:
        case PduType.CONTROLLER_DATA:
            least, most = data_offset + 1 + (DIGEST_BYTES if digests & DATA_DIGEST else 0), MOST_PDU_BYTES
            if data_offset < start:
                raise ProtocolError(f"data at byte {data_offset} of a PDU; expected {start} or more")
        case PduType.RESPONSE | PduType.READY_TO_TRANSFER:
            pass
        case PduType.IC_RESPONSE:
            least = most = CONNECTION_BYTES
        case PduType.CONTROLLER_TERMINATION:
            least, most = SHORT_BYTES, MOST_TERMINATION_BYTES
        case _:
            raise ProtocolError(f"PDU of type {kind:#x} from the target")
    expected = HEADER_BYTES[kind]
    if header_bytes != expected or not least <= pdu_bytes <= most:
        raise ProtocolError(
            f"PDU of type {kind:#x} with a header of {header_bytes} bytes and"
            f" {pdu_bytes} in all; expected {expected}, and from {least} to {most}"
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
    cid, _, offset, length = transfer
    if offset != done or not 0 < length <= size - done:
        raise ProtocolError(
            f"{what} of command {cid}: {length} bytes from {offset} on; expected from {done} on, up to {size}"
        )
