"""Peers that have no secret, or no manners: each function is one connection's worth of abuse."""

import random
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress

from flashtrain.nvme.client.authentication import Offer, authenticate
from flashtrain.nvme.client.fabrics import connect_command, fabrics
from flashtrain.nvme.client.host import DEFAULT_HOST, Host, read_command
from flashtrain.nvme.client.queue import ClientQueue
from flashtrain.nvme.errors import NvmeError
from flashtrain.nvme.wire import dhchap
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, FabricsType, SglType
from flashtrain.nvme.wire.dhchap import Hash, Negotiation
from flashtrain.nvme.wire.ffdhe import DhGroup
from flashtrain.nvme.wire.pdu import PduType, Transfer, transfer_header

from .mutants import REQUEST, Mutants, capsule

_SECONDS = 5.0
_ROOM_BYTES = 1 << 30


class Peer:
    """Abuse of one target, from one random generator.

    - connections: that had some abuse. dialogues: authentications that were begun.
    - admitted: connections that the target has let in; none may be.
    """

    def __init__(self, address: tuple[str, int], subsystem: str, rng: random.Random) -> None:
        self._address, self._subsystem, self._rng = address, subsystem, rng
        self.connections = self.dialogues = self.admitted = 0
        self._dialogues: tuple[Callable[[], None], ...] = (self.wrong_secret, self.random_dialogue)
        self._others: tuple[Callable[[], None], ...] = (
            self.huge_room, self.half, self.flood, self.reads_nothing, self.mutated, self.drip,
            self.steals_a_queue, self.begins,
        )  # fmt: skip

    def run(self, dialogues_only: bool = False) -> None:
        """Abuse of a random kind; the target may end the connection at any time."""
        kinds = self._dialogues if dialogues_only or self._rng.random() < 0.5 else self._others
        with suppress(OSError, NvmeError):
            self._rng.choice(kinds)()
        self.connections += 1

    def wrong_secret(self) -> None:
        """A whole authentication with another secret."""
        rng = self._rng
        secret = dhchap.make_secret(rng.randbytes(rng.choice((32, 48, 64))))
        groups = (rng.choice((DhGroup.NULL,) * 40 + tuple(DhGroup)),)
        with self._open() as sock:
            queue = self._connected(ClientQueue(sock))
            self.dialogues += 1
            authenticate(
                queue, Offer(secret, (rng.choice(list(Hash)),), groups), DEFAULT_HOST, self._subsystem
            )
            self.admitted += 1

    def random_dialogue(self) -> None:
        """Messages in any order, right or mutated, and commands of a host between them."""
        rng = self._rng
        with self._open() as sock:
            queue = self._connected(ClientQueue(sock))
            self.dialogues += 1
            for _ in range(rng.randrange(1, 12)):
                if rng.random() < 0.5:
                    self._send(queue, self._message())
                elif rng.random() < 0.9:
                    self._receive(queue, rng.choice((0, 4, 64, 4096, 1 << 16)))
                elif not queue.execute(read_command(1, 0, 1, 512)).answer.status:
                    self.admitted += 1

    def huge_room(self) -> None:
        """An answer for which there is room for 1 GiB."""
        with self._open() as sock:
            queue = self._connected(ClientQueue(sock))
            self.dialogues += 1
            offer = Negotiation(1, 0, list(Hash), [DhGroup.NULL])
            self._send(queue, dhchap.negotiate(offer))
            entry = _message(FabricsType.AUTHENTICATION_RECEIVE, _ROOM_BYTES)
            entry = entry._replace(sgl_length=_ROOM_BYTES, sgl_type=SglType.TRANSPORT)
            for cid in range(100, 108):
                sock.sendall(capsule(entry._replace(cid=cid)))
            while sock.recv(1 << 16):
                pass

    def half(self) -> None:
        """A part of a PDU, and then nothing for a while."""
        whole = REQUEST + self._connect()
        with self._open() as sock:
            sock.sendall(whole[: self._rng.randrange(len(whole))])
            time.sleep(self._rng.uniform(0, 1))

    def flood(self) -> None:
        """Refused commands before Connect or behind it, with answers that are read now and then."""
        with self._open() as sock:
            sock.sendall(REQUEST + (self._connect() if self._rng.random() < 0.5 else b""))
            for _ in range(self._rng.randrange(1, 100)):
                sock.sendall(b"".join(self._refused(cid) for cid in range(8)))
                sock.recv(1 << 16)

    def reads_nothing(self) -> None:
        """The same without reading anything."""
        with self._open() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(REQUEST + self._connect())
            refused = b"".join(self._refused(cid) for cid in range(100))
            for _ in range(self._rng.randrange(1, 2000)):
                sock.sendall(refused)

    def mutated(self) -> None:
        """A stream of random and mutated PDUs."""
        with self._open() as sock:
            sock.sendall(b"".join(Mutants(self._subsystem, self._rng).stream()))
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(1 << 16):
                pass

    def drip(self) -> None:
        """Data before the proof, with the largest PDU, a byte at a time."""
        transfer = Transfer(0, 0, 0, 256 << 10)
        with self._open() as sock:
            sock.sendall(REQUEST + self._connect())
            sock.sendall(transfer_header(PduType.HOST_DATA, 4, transfer, 24, 24 + transfer.length))
            for _ in range(self._rng.randrange(20)):
                sock.sendall(b"\0")
                time.sleep(0.05)

    def steals_a_queue(self) -> None:
        """A Connect to a queue of a controller of another host, under its name."""
        rng = self._rng
        with self._open() as sock:
            queue = ClientQueue(sock)
            entry, data = connect_command(
                rng.randrange(1, 9), 32, rng.randrange(1, 64), self._subsystem, DEFAULT_HOST
            )
            queue.execute(entry, data)
            for _ in range(10):
                if not queue.execute(read_command(1, 0, 1, 512)).answer.status:
                    self.admitted += 1

    def begins(self) -> None:
        """A host without a secret."""
        Host(self._address, self._subsystem, timeout=_SECONDS).close()
        self.admitted += 1

    # Pieces.

    def _open(self) -> socket.socket:
        return socket.create_connection(self._address, _SECONDS)

    def _connected(self, queue: ClientQueue) -> ClientQueue:
        queue.execute(*connect_command(0, 32, 0xFFFF, self._subsystem, DEFAULT_HOST))
        return queue

    def _connect(self) -> bytes:
        entry, data = connect_command(0, 32, 0xFFFF, self._subsystem, DEFAULT_HOST)
        return capsule(entry._replace(cid=99, sgl_type=SglType.IN_CAPSULE, sgl_length=len(data)), data)

    def _refused(self, cid: int) -> bytes:
        rng = self._rng
        opcode = rng.choice((AdminOpcode.KEEP_ALIVE, AdminOpcode.IDENTIFY, 0x77))
        return capsule(Entry(opcode, cid=cid, nsid=rng.randrange(4), sgl_length=4096))

    def _message(self) -> bytes:
        rng = self._rng
        negotiation = Negotiation(rng.randrange(3), rng.choice((0, 0, 0, 1)), list(Hash), [DhGroup.NULL])
        message = bytearray(
            rng.choice(
                (
                    dhchap.negotiate(negotiation),
                    dhchap.reply_message(rng.randrange(3), 0, rng.randbytes(32), b""),
                    dhchap.success_message(1, Hash.SHA256),
                    dhchap.failure_message(1, 1),
                    rng.randbytes(rng.randrange(64)),
                )
            )
        )
        for _ in range(rng.choice((0, 0, 1, 3))):
            if message:
                message[rng.randrange(len(message))] = rng.randrange(256)
        return bytes(message)

    def _send(self, queue: ClientQueue, message: bytes) -> None:
        queue.execute(_message(FabricsType.AUTHENTICATION_SEND, len(message)), message)

    def _receive(self, queue: ClientQueue, room: int) -> None:
        entry = _message(FabricsType.AUTHENTICATION_RECEIVE, room)
        queue.execute(entry._replace(sgl_length=room))


def _message(kind: FabricsType, length: int) -> Entry:
    return fabrics(kind, struct.pack("<xBBBI16x", 1, 1, dhchap.SECURITY_PROTOCOL, length))
