"""`Framing`: a TCP connection as PDUs, with limits and the end that the standard asks for."""

import asyncio
from typing import Protocol, cast

from flashtrain.nvme.wire.commands import Entry, parse_entry
from flashtrain.nvme.wire.digest import digest
from flashtrain.nvme.wire.pdu import (
    COMMAND_BYTES,
    COMMON,
    DATA_DIGEST,
    DIGEST_BYTES,
    HEADER_DIGEST,
    LAST,
    Fatal,
    Header,
    PduType,
    Transfer,
    parse_connection,
    parse_header,
    parse_transfer,
    termination_pdu,
)

from .headers import wrong_field
from .sending import Sender

_HIGH_WATER = 1 << 20
_MOST_ALIGNMENT = 31
_LINGER_SECONDS = 1.0
_BOTH_DIGESTS = HEADER_DIGEST | DATA_DIGEST


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

    - sender: sends PDUs to the host.
    - writable: the host takes data.

    `stalled_seconds` limits the time until the queue is connected, and that in which the host takes no data.
    """

    def __init__(self, queue: Commands, stalled_seconds: float) -> None:
        self._queue = queue
        self._stalled_seconds = stalled_seconds
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._digests: int | None = None  # until the host has asked for some
        self._ended = False
        self._timer: asyncio.TimerHandle | None = None
        self.sender = Sender()
        self.writable = True

    # Of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=_HIGH_WATER)
        self.sender.start(self._transport)
        self._set_timer(self._stalled_seconds)
        self._queue.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._set_timer(None)
        self.sender.lost()
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
            self.sender.end()
            self._transport.close()

    def fail(self, reason: Fatal, information: int = 0, header: bytes = b"") -> None:
        """End the connection with a termination request, and give the host time to read it."""
        if self._ended:
            return
        self._ended = True
        self._queue.failed(reason)
        self.sender.end(termination_pdu(PduType.CONTROLLER_TERMINATION, reason, information, header))
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._set_timer(_LINGER_SECONDS)

    # Receiving.

    def _take(self, place: int) -> int:
        """Handle the PDU at a place of the buffer; its length, or 0 if it is not there yet."""
        if len(self._buffer) - place < COMMON.size:
            return 0
        header = parse_header(self._buffer, place)
        wrong = wrong_field(header, self._digests)
        if wrong is not None:
            self._refuse(place, *wrong)
            return 0
        if len(self._buffer) - place < header.pdu_bytes:
            return 0
        if header.flags & HEADER_DIGEST:
            end = place + header.header_bytes
            raw = bytes(self._buffer[place:end])
            given = self._buffer[end : end + DIGEST_BYTES]
            if digest(raw) != given:
                self.fail(Fatal.HEADER_DIGEST_ERROR, int.from_bytes(given, "little"), raw)
                return 0
        self._handle(header, place)
        return header.pdu_bytes

    def _refuse(self, place: int, reason: Fatal, field: int) -> None:
        self.fail(reason, field, bytes(self._buffer[place : place + COMMAND_BYTES]))

    def _handle(self, header: Header, place: int) -> None:
        match header.kind:
            case PduType.COMMAND:
                entry = parse_entry(self._buffer, place + COMMON.size)
                data, intact = self._data(header, place)
                self._queue.command(entry, data, intact)
            case PduType.HOST_DATA:
                transfer = parse_transfer(self._buffer, place)
                data, intact = self._data(header, place)
                problem = self._queue.data(transfer, bool(header.flags & LAST), data, intact)
                if problem is not None:
                    self._refuse(place, *problem)
            case PduType.IC_REQUEST:
                self._initialise(place)
            case PduType.HOST_TERMINATION:
                self.close()

    def _data(self, header: Header, place: int) -> tuple[bytes, bool]:
        """The data of a PDU, and whether they agree with their digest."""
        start = header.header_bytes + (DIGEST_BYTES if header.flags & HEADER_DIGEST else 0)
        if header.pdu_bytes == start:
            return b"", True
        with_digest = bool(header.flags & DATA_DIGEST)
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
            self._digests = request.digests
            self.sender.agree(request)

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._transport.abort)
