"""`Sender`: the PDUs of a connection to its host, with their digests."""

import asyncio

from flashtrain.nvme.wire.digest import digest
from flashtrain.nvme.wire.pdu import (
    COMMON,
    DATA_DIGEST,
    DIGEST_BYTES,
    HEADER_DIGEST,
    LAST,
    SHORT_BYTES,
    SUCCESS,
    Connection,
    PduType,
    Transfer,
    connection_pdu,
    transfer_header,
)

MOST_DATA_BYTES = 256 << 10
"""MAXH2CDATA: the most data of one PDU from the host. PDUs to the host have no more."""


class Sender:
    """PDUs of one turn of the event loop go out together, in one write of the transport.

    - most_held: PDUs of more bytes do not wait for the end of the turn, so that the transport counts them.
    """

    def __init__(self, most_held: int) -> None:
        self.most_held = most_held
        self._transport: asyncio.Transport
        self._out: list[bytes | bytearray | memoryview] = []
        self._held = 0
        self._ended = False
        self._digests = 0
        self._agreed(Connection(0, 0, 0, 0))

    def start(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def agree(self, request: Connection) -> None:
        """Accept an ICReq: later PDUs have its digests and its alignment of data."""
        self._send(connection_pdu(PduType.IC_RESPONSE, Connection(0, 0, request.digests, MOST_DATA_BYTES)))
        self._agreed(request)

    def answer(self, completion: bytes) -> None:
        """A completion entry."""
        self._send(self._with_digest(self._answer_start + completion))

    def data(self, cid: int, data: bytes | bytearray | memoryview, success: bool) -> None:
        """The data of a command. success: the completion is in the flags of the last PDU."""
        for place in range(0, len(data), MOST_DATA_BYTES):
            part, flags = data, self._digests
            if len(data) > MOST_DATA_BYTES:
                part = memoryview(data)[place : place + MOST_DATA_BYTES]
            if place + len(part) == len(data):
                flags |= LAST | SUCCESS if success else LAST
            tail = digest(part) if self._digests & DATA_DIGEST else b""
            header = transfer_header(
                PduType.CONTROLLER_DATA, flags, Transfer(cid, 0, place, len(part)),
                self._data_offset, self._data_offset + len(part) + len(tail),
            )  # fmt: skip
            self._send(self._with_digest(header) + self._padding, part, tail)

    def ready(self, transfer: Transfer) -> None:
        """A request for a command's data (R2T)."""
        header = transfer_header(
            PduType.READY_TO_TRANSFER, self._header_flag, transfer, 0, SHORT_BYTES + self._digest_bytes
        )
        self._send(self._with_digest(header))

    def end(self, last: bytes = b"") -> None:
        """Send what is waiting, and `last` behind it; all later PDUs are dropped."""
        if last:
            self._send(last)
        self._ended = True
        self.flush()

    def flush(self) -> None:
        if self._out:
            out, self._out, self._held = self._out, [], 0
            self._transport.writelines(out)

    def lost(self) -> None:
        """The connection has ended: nothing is sent any more."""
        self._ended = True
        self._out.clear()

    def _agreed(self, request: Connection) -> None:
        """Compute the parts of PDUs that are the same in all of a connection."""
        self._digests = request.digests
        self._header_flag = request.digests & HEADER_DIGEST
        self._digest_bytes = DIGEST_BYTES if self._header_flag else 0
        header_bytes, alignment = SHORT_BYTES + self._digest_bytes, 4 * (request.alignment + 1)
        self._data_offset = -(-header_bytes // alignment) * alignment
        self._padding = bytes(self._data_offset - header_bytes)
        self._answer_start = COMMON.pack(PduType.RESPONSE, self._header_flag, SHORT_BYTES, 0, header_bytes)

    def _with_digest(self, header: bytes) -> bytes:
        return header + digest(header) if self._header_flag else header

    def _send(self, *parts: bytes | bytearray | memoryview) -> None:
        if self._ended:
            return
        if not self._out:
            asyncio.get_running_loop().call_soon(self.flush)
        self._out += parts
        for part in parts:
            self._held += len(part)
        if self._held > self.most_held:
            self.flush()
