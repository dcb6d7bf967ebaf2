"""`ClientQueue`: a queue of a host over a socket, with many commands in flight."""

import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import NamedTuple

from flashtrain.host.process import ProcessOwned
from flashtrain.nvme.errors import ProtocolError
from flashtrain.nvme.wire.commands import AdminOpcode, Answer, Entry, SglType, parse_answer
from flashtrain.nvme.wire.digest import digest
from flashtrain.nvme.wire.pdu import (
    COMMAND_BYTES,
    COMMON,
    DATA_DIGEST,
    DIGEST_BYTES,
    HEADER_DIGEST,
    LAST,
    SHORT_BYTES,
    SUCCESS,
    Connection,
    Fatal,
    Flags,
    Header,
    PduType,
    Transfer,
    connection_pdu,
    parse_connection,
    parse_header,
    parse_termination,
    parse_transfer,
    transfer_header,
)

from .checks import MOST_PDU_BYTES, check_header, check_response, check_transfer


class Completed(NamedTuple):
    """The end of a command, with the data that came for the host."""

    answer: Answer
    data: bytearray


@dataclass(eq=False, slots=True)
class _Sent:
    """A command in flight: data for the target, and how much of them has gone; data for the host, the same.

    whole: a success comes with all data for the host.
    """

    data: bytes | memoryview
    received: bytearray
    gone: int = 0
    come: int = 0
    whole: bool = True


class ClientQueue(ProcessOwned):
    """One connection. `in_capsule` is the most data that a capsule may carry.

    :class:`ProtocolError` when the target ends the connection, with its reason, or sends what no target does.
    TimeoutError when no whole PDU has come for the time of the socket. :class:`ForeignProcess` in a forked
    process.
    """

    subject = "the connection to a target"

    def __init__(self, sock: socket.socket, digests: Flags = Flags(0), in_capsule: int = 8192) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = sock
        self.in_capsule = in_capsule
        self._digests = 0
        self._input = memoryview(bytearray(MOST_PDU_BYTES))
        self._start = self._end = 0
        self._sent: dict[int, _Sent] = {}
        self._completed: dict[int, Completed] = {}
        self._next_cid = 0
        self.socket.sendall(connection_pdu(PduType.IC_REQUEST, Connection(0, 0, digests, 0)))
        header = self._next()
        if header.kind != PduType.IC_RESPONSE:
            raise ProtocolError(f"PDU of type {header.kind:#x} in the place of a connection response")
        answer = parse_connection(self._input[self._start :])
        check_response(answer, digests)
        self._start += header.pdu_bytes
        self._most_data = answer.limit
        self._digests = answer.digests

    def close(self) -> None:
        self.socket.close()

    def forked(self) -> None:
        """Close the socket: the connection ends when the process that opened it closes its own."""
        super().forked()
        self.socket.close()

    @property
    def in_flight(self) -> int:
        return len(self._sent)

    def submit(self, entry: Entry, data: bytes | memoryview = b"") -> int:
        """Send a command; its CID is given by the queue, and so is the descriptor of its data."""
        cid, capsule = self._capsule(entry, data)
        self.socket.sendall(capsule)
        return cid

    def wait(self, cid: int) -> Completed:
        """Receive until this command has completed."""
        while cid not in self._completed:
            self._take(self._next())
        return self._completed.pop(cid)

    def wait_any(self) -> Completed:
        """Receive until some command has completed."""
        while not self._completed:
            self._take(self._next())
        return self._completed.pop(next(iter(self._completed)))

    def execute(self, entry: Entry, data: bytes | memoryview = b"") -> Completed:
        """Send a command, and wait for it."""
        return self.wait(self.submit(entry, data))

    def execute_all(self, entries: Iterable[Entry], depth: int) -> list[Completed]:
        """Commands without data for the target, so many in flight; in the order of completion.

        Commands that can start together go out in one piece.
        """
        done, left = [], iter(entries)
        while True:
            capsules = [self._capsule(entry)[1] for entry in islice(left, depth - self.in_flight)]
            if capsules:
                self.socket.sendall(b"".join(capsules))
            elif not (self.in_flight or self._completed):
                return done
            self._take_all()
            done += self._completed.values()
            self._completed.clear()

    # PDUs.

    def _capsule(self, entry: Entry, data: bytes | memoryview = b"") -> tuple[int, bytes]:
        """A command with its CID, which is in flight from now on, and the bytes of its capsule."""
        self.require_own()
        cid = self._next_cid
        self._next_cid = (cid + 1) & 0xFFFF
        inside = data if len(data) <= self.in_capsule else b""
        length = len(data) or entry.sgl_length
        kind = SglType.IN_CAPSULE if len(inside) else SglType.TRANSPORT
        entry = entry._replace(cid=cid, sgl_length=length, sgl_type=kind)
        whole = entry.opcode != AdminOpcode.FABRICS
        self._sent[cid] = _Sent(data, bytearray(0 if len(data) else length), gone=len(inside), whole=whole)
        tail = digest(inside) if len(inside) and self._digests & DATA_DIGEST else b""
        flags = self._digests & HEADER_DIGEST | (DATA_DIGEST if tail else 0)
        start = COMMAND_BYTES + self._header_digest_bytes
        pdu_bytes = start + len(inside) + len(tail)
        header = COMMON.pack(PduType.COMMAND, flags, COMMAND_BYTES, start if len(inside) else 0, pdu_bytes)
        header = self._with_digest(header + entry.packed())
        return cid, b"".join((header, inside, tail)) if len(inside) else header

    def _with_digest(self, header: bytes) -> bytes:
        return header + digest(header) if self._header_digest_bytes else header

    def _send_data(self, transfer: Transfer) -> None:
        sent = self._in_flight(transfer.cid)
        check_transfer("a request for data", transfer, sent.gone, len(sent.data))
        sent.gone = end = transfer.offset + transfer.length
        for place in range(transfer.offset, end, self._most_data):
            part = memoryview(sent.data)[place : min(place + self._most_data, end)]
            tail = digest(part) if self._digests & DATA_DIGEST else b""
            start = SHORT_BYTES + self._header_digest_bytes
            header = transfer_header(
                PduType.HOST_DATA,
                self._digests | (LAST if place + len(part) == end else 0),
                Transfer(transfer.cid, transfer.tag, place, len(part)),
                start,
                start + len(part) + len(tail),
            )
            self.socket.sendall(self._with_digest(header))
            self.socket.sendall(part)
            if tail:
                self.socket.sendall(tail)

    @property
    def _header_digest_bytes(self) -> int:
        return DIGEST_BYTES if self._digests & HEADER_DIGEST else 0

    def _take_all(self) -> None:
        """Receive until some commands have completed, and take all PDUs that came with them."""
        while (header := self._header()) is not None or not self._completed:
            self._take(header or self._next())

    def _next(self) -> Header:
        """Receive until there is a whole PDU."""
        timeout = self.socket.gettimeout()
        end = inf if timeout is None else time.monotonic() + timeout
        while (header := self._header()) is None:
            if time.monotonic() > end:
                raise TimeoutError(f"no whole PDU for {timeout:g} s")
            self._receive()
        return header

    def _take(self, header: Header) -> None:
        """Take the PDU with this header, and do what it asks for."""
        place, self._start = self._start, self._start + header.pdu_bytes
        if self._digests & HEADER_DIGEST:
            self._check(place, place + header.header_bytes, "header")
        match header.kind:
            case PduType.RESPONSE:
                self._complete(parse_answer(self._input, place + COMMON.size))
            case PduType.CONTROLLER_DATA:
                transfer = parse_transfer(self._input, place)
                start = place + header.data_offset
                end = self._start - (DIGEST_BYTES if self._digests & DATA_DIGEST else 0)
                if transfer.length != end - start:
                    raise ProtocolError(f"a PDU with {end - start} bytes of data; expected {transfer.length}")
                if self._digests & DATA_DIGEST:
                    self._check(start, end, "data")
                sent = self._in_flight(transfer.cid)
                check_transfer("data", transfer, sent.come, len(sent.received))
                sent.received[transfer.offset : transfer.offset + transfer.length] = self._input[start:end]
                sent.come += transfer.length
                if header.flags & SUCCESS:
                    self._complete(Answer(0, 0, 0, transfer.cid, 0, False))
            case PduType.READY_TO_TRANSFER:
                self._send_data(parse_transfer(self._input, place))
            case PduType.CONTROLLER_TERMINATION:
                reason, field = parse_termination(self._input[place:])
                raise ProtocolError(f"the target ended the connection: {_name(reason)}, at {field}")
            case _:
                raise ProtocolError(f"PDU of type {header.kind:#x} in the place of an answer")

    def _in_flight(self, cid: int) -> _Sent:
        sent = self._sent.get(cid)
        if sent is None:
            raise ProtocolError(f"a PDU of command {cid}, which is not in flight")
        return sent

    def _complete(self, answer: Answer) -> None:
        sent = self._in_flight(answer.cid)
        del self._sent[answer.cid]
        moved, expected = sent.come + sent.gone, len(sent.received) + len(sent.data)
        if not answer.status and sent.whole and moved != expected:
            raise ProtocolError(f"command {answer.cid} has succeeded with {moved} of {expected} bytes")
        self._completed[answer.cid] = Completed(answer, sent.received)

    def _check(self, start: int, end: int, part: str) -> None:
        if digest(self._input[start:end]) != self._input[end : end + DIGEST_BYTES]:
            raise ProtocolError(f"wrong digest of a PDU's {part}")

    def _header(self) -> Header | None:
        """The header of the next PDU, if all of the PDU is there."""
        received = self._end - self._start
        if received < COMMON.size:
            return None
        header = parse_header(self._input, self._start)
        check_header(header, self._digests)
        return header if header.pdu_bytes <= received else None

    def _receive(self) -> None:
        """Receive what has come; wait if there is nothing."""
        self.require_own()
        if self._start == self._end:
            self._start = self._end = 0
        elif self._end == len(self._input):
            self._input[: self._end - self._start] = self._input[self._start : self._end]
            self._start, self._end = 0, self._end - self._start
        count = self.socket.recv_into(self._input[self._end :])
        if not count:
            raise ProtocolError("the target closed the connection")
        self._end += count


def _name(reason: int) -> str:
    return Fatal(reason).name.lower().replace("_", " ") if reason in list(Fatal) else f"reason {reason}"
