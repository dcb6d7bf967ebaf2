"""Sends streams of PDUs, and judges what comes back by the grammar of the transport."""

import random
import socket
import struct
from dataclasses import dataclass

from flashtrain.nvme.wire.pdu import (
    COMMON,
    CONNECTION_BYTES,
    HEADER_BYTES,
    MOST_TERMINATION_BYTES,
    Fatal,
    PduType,
    parse_header,
    parse_termination,
)
from flashtrain.spec import FlashtrainError

from .mutants import Mutants

_FROM_CONTROLLER = (
    PduType.IC_RESPONSE, PduType.CONTROLLER_TERMINATION, PduType.RESPONSE, PduType.CONTROLLER_DATA,
    PduType.READY_TO_TRANSFER,
)  # fmt: skip
_SECONDS = 10.0


class BrokenTarget(FlashtrainError):
    """The target has answered otherwise than the transport has it; the message names the seed."""


@dataclass
class Seen:
    """PDUs sent and received, and the ends of connections by their reasons."""

    sent: int = 0
    connections: int = 0
    answers: int = 0
    terminations: int = 0


def fuzz(address: tuple[str, int], subsystem: str, pdus: int, seed: int) -> Seen:
    """Send at least so many PDUs over connections of their own; :class:`BrokenTarget` at the first mistake.

    The stream of connection n comes from the seed `seed + n`.
    """
    seen = Seen()
    while seen.sent < pdus:
        own = seed + seen.connections
        stream = Mutants(subsystem, random.Random(own)).stream()
        seen.sent += len(stream)
        seen.connections += 1
        try:
            _judge(_exchange(address, stream), seen)
        except (OSError, ValueError) as error:
            raise BrokenTarget(f"seed {own}: {error}") from None
    return seen


def _exchange(address: tuple[str, int], stream: list[bytes]) -> bytes:
    """Send a stream, end it, and receive until the target has ended, too."""
    received = bytearray()
    with socket.create_connection(address, _SECONDS) as sock:
        try:
            sock.sendall(b"".join(stream))
            sock.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            return b""  # the target has ended first, and its last words may be lost
        try:
            while part := sock.recv(1 << 18):
                received += part
        except ConnectionResetError:
            return b""
    return bytes(received)


def _judge(data: bytes, seen: Seen) -> None:
    """Whole PDUs of a controller with sound headers; nothing behind a termination request."""
    place, first = 0, True
    while place < len(data):
        if len(data) - place < COMMON.size:
            return  # cut by the end of the connection
        header = parse_header(data, place)
        if header.kind not in _FROM_CONTROLLER:
            raise ValueError(f"PDU of type {header.kind:#x}")
        if header.header_bytes != HEADER_BYTES[header.kind] or header.pdu_bytes < header.header_bytes:
            raise ValueError(f"header {header}")
        if header.kind == PduType.IC_RESPONSE and not (first and header.pdu_bytes == CONNECTION_BYTES):
            raise ValueError("a second connection response")
        if header.kind == PduType.CONTROLLER_TERMINATION:
            reason, _ = parse_termination(data[place:])
            if reason not in list(Fatal) or header.pdu_bytes > MOST_TERMINATION_BYTES:
                raise ValueError(f"termination for reason {reason}")
            if place + header.pdu_bytes != len(data):
                raise ValueError("bytes behind a termination request")
            seen.terminations += 1
        if header.kind == PduType.RESPONSE:
            status = struct.unpack_from("<H", data, place + 22)[0]
            if status & 1:
                raise ValueError(f"status field {status:#x}")
            seen.answers += 1
        place, first = place + header.pdu_bytes, False
