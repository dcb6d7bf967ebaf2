"""Streams of PDUs of a host, and what may be wrong with them."""

import random
import struct

from flashtrain.nvme.client.fabrics import connect_command
from flashtrain.nvme.client.host import data_command
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, FabricsType, SglType
from flashtrain.nvme.wire.pdu import (
    COMMAND_BYTES,
    COMMON,
    Connection,
    Flags,
    PduType,
    Transfer,
    connection_pdu,
    transfer_header,
)
from flashtrain.spec import Opcode

REQUEST = connection_pdu(PduType.IC_REQUEST, Connection(0, 0, 0, 0))
HOST = "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-0000000000ff"
_OPCODES = (*AdminOpcode, *Opcode)
_INTERESTING = (0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF)


class Mutants:
    """PDUs from one random generator; `subsystem` is the name to connect to."""

    def __init__(self, subsystem: str, rng: random.Random) -> None:
        self._subsystem = subsystem
        self._rng = rng

    def stream(self) -> list[bytes]:
        """The PDUs of one connection: mostly a start as it should be, then anything."""
        rng, pdus = self._rng, []
        if rng.random() < 0.95:
            pdus.append(REQUEST)
        if rng.random() < 0.9:
            entry, data = connect_command(0, 32, 0xFFFF, self._subsystem, HOST)
            pdus.append(capsule(entry._replace(sgl_type=SglType.IN_CAPSULE, sgl_length=len(data)), data))
        if rng.random() < 0.8:
            fields = struct.pack("<B3xIQ8x", 0, 0x14, 0x0046_0061)
            entry = Entry(AdminOpcode.FABRICS, 0x40, 1, FabricsType.PROPERTY_SET)
            pdus.append(capsule(Entry(*entry[:9], *struct.unpack("<6I", fields))))
        return pdus + [self._any() for _ in range(rng.randrange(1, 24))]

    def _any(self) -> bytes:
        rng = self._rng
        kind = rng.choices((self._command, self._data, self._noise), (10, 2, 1))[0]
        pdu = kind()
        return self._mutated(pdu) if rng.random() < 0.3 else pdu

    def _command(self) -> bytes:
        rng = self._rng
        opcode = rng.choice(_OPCODES) if rng.random() < 0.9 else rng.randrange(256)
        length = rng.choice((0, 4, 64, 512, 4096, 8192, 1 << 20, 0xFFFF_FFFF))
        words = [self._word() if rng.random() < 0.3 else rng.randrange(4) for _ in range(6)]
        kind = rng.choice((SglType.TRANSPORT, SglType.IN_CAPSULE, rng.randrange(256)))
        flags, nsid = rng.choice((0x40, 0x40, 0x40, 0, 0xFF)), rng.choice((0, 1, 1, 1, 2, 4, 5))
        entry = Entry(opcode, flags, rng.randrange(64), nsid, 0, 0, 0, length, kind, *words)
        if rng.random() < 0.3:
            entry = data_command(Opcode.WRITE, 1, 0, rng.randrange(1, 9))._replace(
                cid=rng.randrange(64), sgl_length=4096
            )
        data = rng.randbytes(rng.choice((4, 512, 1024, 4096, 20_000))) if rng.random() < 0.3 else b""
        return capsule(entry, data)

    def _data(self) -> bytes:
        rng = self._rng
        data = rng.randbytes(rng.choice((0, 4, 512, 4096)))
        transfer = Transfer(
            rng.randrange(64), rng.randrange(8), rng.choice((0, 4096, self._word())), len(data)
        )
        flags = rng.choice((0, Flags.LAST))
        return transfer_header(PduType.HOST_DATA, flags, transfer, 24, 24 + len(data)) + data

    def _noise(self) -> bytes:
        return self._rng.randbytes(self._rng.randrange(1, 200))

    def _word(self) -> int:
        return self._rng.choice((*_INTERESTING, self._rng.getrandbits(32)))

    def _mutated(self, pdu: bytes) -> bytes:
        """A PDU with a few other bytes, mostly of its header, or with another length."""
        rng, changed = self._rng, bytearray(pdu)
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(min(len(changed), 8 if rng.random() < 0.5 else COMMAND_BYTES))
            changed[place] = rng.choice((0, 1, 0xFF, rng.randrange(256)))
        if rng.random() < 0.1:
            del changed[rng.randrange(len(changed)) :]
        return bytes(changed)


def capsule(entry: Entry, data: bytes = b"") -> bytes:
    """A command capsule without digests."""
    start = COMMAND_BYTES if data else 0
    return (
        COMMON.pack(PduType.COMMAND, 0, COMMAND_BYTES, start, COMMAND_BYTES + len(data))
        + entry.packed()
        + data
    )
