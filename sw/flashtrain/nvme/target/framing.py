"""`Framing`: a TCP connection as PDUs, with limits and the end that the standard asks for."""

import asyncio
from math import inf
from typing import Protocol, cast

from flashtrain.nvme.subsystem.profile import IN_CAPSULE_BYTES
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
from .sending import MOST_DATA_BYTES, Sender

MOST_UNSENT_BYTES = 1 << 20
"""Bytes on their way to a host beyond which no command of it starts."""

MOST_UNSENT_ENTERING_BYTES = 64 << 10
"""The same until the host is admitted."""

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
    - ended: the end has begun; nothing more is received.

    `stalled_seconds` limits the time until the host is admitted, and that from a PDU's first byte to its
    last. It also limits the time in which the host takes no data: see :meth:`overdue`. Until the host is
    admitted, PDUs are small and few answers wait for it.
    """

    def __init__(self, queue: Commands, stalled_seconds: float) -> None:
        self._queue = queue
        self._stalled_seconds = stalled_seconds
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._digests: int | None = None  # until the host has asked for some
        self.ended = False
        self._most_data = IN_CAPSULE_BYTES
        self._entering_since: float | None = None
        self._half_since: float | None = None
        self._full_since: float | None = None
        self._end_by = inf
        self.sender = Sender(MOST_UNSENT_ENTERING_BYTES)
        self.writable = True

    # Of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=MOST_UNSENT_ENTERING_BYTES)
        self.sender.start(self._transport)
        self._entering_since = _now()
        self._queue.opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self.sender.lost()
        self._buffer.clear()
        self._queue.lost()

    def pause_writing(self) -> None:
        self.writable = False
        self._full_since = _now()

    def resume_writing(self) -> None:
        self.writable = True
        self._full_since = None
        self._queue.go_on()

    def data_received(self, data: bytes) -> None:
        if self.ended:
            return
        self._buffer += data
        place = 0
        while not self.ended and (length := self._take(place)):
            place += length
        if place:
            del self._buffer[:place]
        if not self._buffer:
            self._half_since = None
        elif place or self._half_since is None:
            self._half_since = _now()  # of the first byte of what is left

    # For the queue.

    @property
    def local_address(self) -> tuple[str, int]:
        """The address and the port of this end of the connection."""
        address, port, *_ = self._transport.get_extra_info("sockname")
        return address, port

    def admitted(self) -> None:
        """The host is admitted: from here on it may be silent between PDUs, and move data."""
        self._entering_since = None
        self._most_data = MOST_DATA_BYTES
        self.sender.most_held = MOST_DATA_BYTES
        self._transport.set_write_buffer_limits(high=MOST_UNSENT_BYTES)

    def overdue(self, now: float) -> bool:
        """Whether something of this connection has lasted for too long; `now` is the event loop's time."""
        since = (self._entering_since, self._half_since, self._full_since)
        latest = now - self._stalled_seconds
        return now > self._end_by or any(one is not None and one < latest for one in since)

    def abort(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def close(self) -> None:
        """End the connection after what is to be sent."""
        if not self.ended:
            self.ended = True
            self.sender.end()
            self._transport.close()
            self._end_by = _now() + self._stalled_seconds

    def fail(self, reason: Fatal, information: int = 0, header: bytes = b"") -> None:
        """End the connection with a termination request, and give the host time to read it."""
        if self.ended:
            return
        self.ended = True
        self._queue.failed(reason)
        self.sender.end(termination_pdu(PduType.CONTROLLER_TERMINATION, reason, information, header))
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._end_by = _now() + _LINGER_SECONDS

    # Receiving.

    def _take(self, place: int) -> int:
        """Handle the PDU at a place of the buffer; its length, or 0 if it is not there yet."""
        if len(self._buffer) - place < COMMON.size:
            return 0
        header = parse_header(self._buffer, place)
        wrong = wrong_field(header, self._digests, self._most_data)
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


def _now() -> float:
    return asyncio.get_running_loop().time()
