"""`Framing`: a TCP connection as PDUs, with digests, limits and the end that the standard asks for."""

import asyncio
from typing import Protocol, cast

from flashtrain.nvme.wire.commands import Entry, parse_entry
from flashtrain.nvme.wire.digest import digest
from flashtrain.nvme.wire.pdu import (
    COMMAND_BYTES,
    COMMON,
    CONNECTION_BYTES,
    DIGEST_BYTES,
    HEADER_BYTES,
    MOST_TERMINATION_BYTES,
    SHORT_BYTES,
    Connection,
    Fatal,
    Flags,
    Header,
    PduType,
    Transfer,
    connection_pdu,
    parse_connection,
    parse_header,
    parse_transfer,
    termination_pdu,
    transfer_header,
)

from .identify import IN_CAPSULE_BYTES

MOST_DATA_BYTES = 256 << 10
"""MAXH2CDATA: the most data of one PDU from the host."""

_HIGH_WATER = 1 << 20
_MOST_ALIGNMENT = 31
_LINGER_SECONDS = 1.0
_FROM_HOST = (PduType.IC_REQUEST, PduType.HOST_TERMINATION, PduType.COMMAND, PduType.HOST_DATA)
# Plain integers: the arithmetic of enumerations takes longer than a read of the functional model.
_HEADER_DIGEST, _DATA_DIGEST = int(Flags.HEADER_DIGEST), int(Flags.DATA_DIGEST)
_LAST, _SUCCESS = int(Flags.LAST), int(Flags.SUCCESS)
_BOTH_DIGESTS = _HEADER_DIGEST | _DATA_DIGEST


class Commands(Protocol):
    """The queue behind a connection, as the connection needs it."""

    def opened(self) -> None: ...

    def lost(self) -> None: ...

    def failed(self, reason: Fatal) -> None: ...

    def command(self, entry: Entry, data: bytes, intact: bool) -> None: ...

    def data(self, transfer: Transfer, last: bool, data: bytes, intact: bool) -> tuple[Fatal, int] | None: ...

    def go_on(self) -> None: ...


class Framing(asyncio.Protocol):
    """One connection. A wrong PDU ends it with a termination request; other connections go on.

    `stalled_seconds` limits the time until the queue is connected, and that in which the host takes no data.
    """

    def __init__(self, queue: Commands, stalled_seconds: float) -> None:
        self._queue = queue
        self._stalled_seconds = stalled_seconds
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._digests = 0
        self._alignment = 4
        self._initialised = self._ended = False
        self._out: list[bytes | bytearray | memoryview] = []
        self._timer: asyncio.TimerHandle | None = None
        self.writable = True

    # Of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=_HIGH_WATER)
        self._set_timer(self._stalled_seconds)
        self._queue.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._set_timer(None)
        self._out.clear()
        self._buffer.clear()
        self._queue.lost()

    def pause_writing(self) -> None:
        self.writable = False
        self._set_timer(self._stalled_seconds)

    def resume_writing(self) -> None:
        self.writable = True
        self._set_timer(None)
        self._queue.go_on()

    def data_received(self, data: bytes) -> None:
        if self._ended:
            return
        self._buffer += data
        place = 0
        while not self._ended and (length := self._take(place)):
            place += length
        if place:
            del self._buffer[:place]

    # For the queue.

    def connected(self) -> None:
        """The queue is connected: from now on its host may be silent."""
        self._set_timer(None)

    def close(self) -> None:
        """End the connection after what is to be sent."""
        if not self._ended:
            self._ended = True
            self._flush()
            self._transport.close()

    def send_answer(self, completion: bytes) -> None:
        """A completion entry."""
        header = COMMON.pack(
            PduType.RESPONSE, self._header_flag, SHORT_BYTES, 0, SHORT_BYTES + self._digest_bytes
        )
        self._send(self._with_digest(header + completion))

    def send_data(self, cid: int, data: bytes | bytearray | memoryview, success: bool) -> None:
        """The data of a command. success: the completion is in the flags of the last PDU."""
        start = SHORT_BYTES + self._digest_bytes
        offset = -(-start // self._alignment) * self._alignment
        view = memoryview(data)
        for place in range(0, len(view), MOST_DATA_BYTES):
            part = view[place : place + MOST_DATA_BYTES]
            flags = self._digests
            if place + len(part) == len(view):
                flags |= _LAST | (_SUCCESS if success else 0)
            tail = digest(part) if self._digests & _DATA_DIGEST else b""
            header = transfer_header(
                PduType.CONTROLLER_DATA, flags, Transfer(cid, 0, place, len(part)),
                offset, offset + len(part) + len(tail),
            )  # fmt: skip
            self._send(self._with_digest(header).ljust(offset, b"\0"))
            self._send(part)
            if tail:
                self._send(tail)

    def send_ready(self, transfer: Transfer) -> None:
        """A request for a command's data (R2T)."""
        header = transfer_header(
            PduType.READY_TO_TRANSFER, self._header_flag, transfer, 0, SHORT_BYTES + self._digest_bytes
        )
        self._send(self._with_digest(header))

    def fail(self, reason: Fatal, information: int = 0, header: bytes = b"") -> None:
        """End the connection with a termination request, and give the host time to read it."""
        if self._ended:
            return
        self._ended = True
        self._queue.failed(reason)
        self._out.append(termination_pdu(PduType.CONTROLLER_TERMINATION, reason, information, header))
        self._flush()
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._set_timer(_LINGER_SECONDS)

    # Receiving.

    def _take(self, place: int) -> int:
        """Handle the PDU at a place of the buffer; its length, or 0 if it is not there yet."""
        if len(self._buffer) - place < COMMON.size:
            return 0
        header = parse_header(self._buffer, place)
        wrong = self._wrong_field(header)
        if wrong is not None:
            self._refuse(place, *wrong)
            return 0
        if len(self._buffer) - place < header.pdu_bytes:
            return 0
        digest_bytes = DIGEST_BYTES if header.flags & _HEADER_DIGEST else 0
        if digest_bytes:
            end = place + header.header_bytes
            raw = bytes(self._buffer[place:end])
            if digest(raw) != self._buffer[end : end + DIGEST_BYTES]:
                self.fail(
                    Fatal.HEADER_DIGEST_ERROR, int.from_bytes(self._buffer[end : end + 4], "little"), raw
                )
                return 0
        self._handle(header, place)
        return header.pdu_bytes

    def _wrong_field(self, header: Header) -> tuple[Fatal, int] | None:
        """The reason and the place of the first wrong field of a header."""
        if header.kind not in _FROM_HOST:
            return Fatal.INVALID_HEADER_FIELD, 0
        if (header.kind == PduType.IC_REQUEST) == self._initialised:
            if header.kind == PduType.HOST_TERMINATION:
                return None
            return Fatal.SEQUENCE_ERROR, 0
        if header.header_bytes != HEADER_BYTES[header.kind]:
            return Fatal.INVALID_HEADER_FIELD, 2
        if header.kind == PduType.IC_REQUEST:
            return None if header.pdu_bytes == CONNECTION_BYTES else (Fatal.INVALID_HEADER_FIELD, 4)
        if header.kind == PduType.HOST_TERMINATION:
            fits = SHORT_BYTES <= header.pdu_bytes <= MOST_TERMINATION_BYTES
            return None if fits else (Fatal.INVALID_HEADER_FIELD, 4)
        return self._wrong_place_of_data(header)

    def _wrong_place_of_data(self, header: Header) -> tuple[Fatal, int] | None:
        most = IN_CAPSULE_BYTES if header.kind == PduType.COMMAND else MOST_DATA_BYTES
        start = header.header_bytes + self._digest_bytes
        has_data = header.pdu_bytes > start
        expected = self._header_flag | (self._digests & _DATA_DIGEST if has_data else 0)
        # A host may set the flag of the data digest in a capsule without data.
        if header.flags & _HEADER_DIGEST != expected & _HEADER_DIGEST or (
            has_data and header.flags & _DATA_DIGEST != expected & _DATA_DIGEST
        ):
            return Fatal.INVALID_HEADER_FIELD, 1
        if not has_data:
            good = header.kind == PduType.COMMAND and header.pdu_bytes == start
            return None if good else (Fatal.INVALID_HEADER_FIELD, 4)
        tail = DIGEST_BYTES if self._digests & _DATA_DIGEST else 0
        if (
            header.data_offset < start
            or header.data_offset + tail > header.pdu_bytes
            or header.data_offset % 4
        ):
            return Fatal.INVALID_HEADER_FIELD, 3
        if header.pdu_bytes - header.data_offset - tail > most:
            return Fatal.LIMIT_EXCEEDED if header.kind == PduType.HOST_DATA else Fatal.INVALID_HEADER_FIELD, 4
        return None

    def _refuse(self, place: int, reason: Fatal, field: int) -> None:
        self.fail(reason, field, bytes(self._buffer[place : place + COMMAND_BYTES]))

    def _handle(self, header: Header, place: int) -> None:
        match header.kind:
            case PduType.IC_REQUEST:
                self._initialise(place)
            case PduType.HOST_TERMINATION:
                self.close()
            case PduType.COMMAND:
                entry = parse_entry(self._buffer, place + COMMON.size)
                data, intact = self._data(header, place)
                self._queue.command(entry, data, intact)
            case PduType.HOST_DATA:
                transfer = parse_transfer(self._buffer, place)
                data, intact = self._data(header, place)
                problem = self._queue.data(transfer, bool(header.flags & _LAST), data, intact)
                if problem is not None:
                    self._refuse(place, *problem)

    def _data(self, header: Header, place: int) -> tuple[bytes, bool]:
        """The data of a PDU, and whether they agree with their digest."""
        start = header.header_bytes + self._digest_bytes
        if header.pdu_bytes == start:
            return b"", True
        with_digest = bool(self._digests & _DATA_DIGEST)
        end = place + header.pdu_bytes - (DIGEST_BYTES if with_digest else 0)
        with memoryview(self._buffer) as view:
            data = bytes(view[place + header.data_offset : end])
        return data, not with_digest or digest(data) == self._buffer[end : end + DIGEST_BYTES]

    def _initialise(self, place: int) -> None:
        request = parse_connection(memoryview(self._buffer)[place:])
        if request.version != 0:
            self._refuse(place, Fatal.UNSUPPORTED_PARAMETER, 8)
        elif request.alignment > _MOST_ALIGNMENT or request.digests & ~_BOTH_DIGESTS:
            self._refuse(place, Fatal.INVALID_HEADER_FIELD, 10 if request.alignment > _MOST_ALIGNMENT else 11)
        else:
            self._alignment = 4 * (request.alignment + 1)
            self._initialised = True
            digests = request.digests & _BOTH_DIGESTS
            answer = Connection(0, 0, digests, MOST_DATA_BYTES)
            self._send(connection_pdu(PduType.IC_RESPONSE, answer))
            self._digests = digests

    # Sending.

    @property
    def _header_flag(self) -> int:
        return self._digests & _HEADER_DIGEST

    @property
    def _digest_bytes(self) -> int:
        return DIGEST_BYTES if self._digests & _HEADER_DIGEST else 0

    def _with_digest(self, header: bytes) -> bytes:
        return header + digest(header) if self._digest_bytes else header

    def _send(self, part: bytes | bytearray | memoryview) -> None:
        """Queue bytes; those of one turn of the event loop go out together."""
        if self._ended:
            return
        if not self._out:
            asyncio.get_running_loop().call_soon(self._flush)
        self._out.append(part)

    def _flush(self) -> None:
        if self._out:
            out, self._out = self._out, []
            self._transport.write(out[0] if len(out) == 1 else b"".join(out))

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._transport.abort)
