"""`Host`: a host with an admin queue and I/O queues, connected to a subsystem."""

import socket
import struct
import time
from types import TracebackType
from typing import Self

from flashtrain.nvme.errors import CommandFailed, DeviceStopped, ProtocolError
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, FabricsType
from flashtrain.nvme.wire.pdu import Flags
from flashtrain.spec import Opcode

from .authentication import Offer, authenticate
from .fabrics import connect_command, fabrics
from .queue import ClientQueue, Completed

DEFAULT_HOST = "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000001"
_CAPABILITIES, _CONFIGURATION, _STATUS = 0x00, 0x14, 0x1C
_LEAST_ADMIN_ENTRIES = 32
_ENABLE = 0x0046_0061  # I/O command sets, entries of 64 and 16 bytes
_SHUTDOWN = 1 << 14
_FATAL, _SHUTDOWN_DONE = 1 << 1, 2 << 2
"""CSTS.CFS, and the value of CSTS.SHST when a shutdown is complete."""
_BETWEEN_LOOKS_SECONDS = 0.002
BLOCK_EXPONENTS = range(9, 17)
"""Powers of two that the bytes of a logical block may be."""


class Host:
    """One association. Block addresses and blocks are those of a namespace.

    flow_control: completions carry the head of the submission queue, which this host does not need. Without
    it flags of the data complete a read.

    :class:`CommandFailed` for a status other than success. offer: the secret, and what is offered for its
    proof; :class:`ProtocolError` if the target does not demand the proof.
    """

    def __init__(
        self,
        address: tuple[str, int],
        subsystem: str,
        host: str = DEFAULT_HOST,
        queues: int = 1,
        digests: Flags = Flags(0),
        keep_alive: int = 0,
        entries: int = 64,
        in_capsule: int = 8192,
        timeout: float = 60.0,
        offer: Offer | None = None,
        flow_control: bool = False,
    ) -> None:
        self._offer = offer
        self._address, self._subsystem, self._host = address, subsystem, host
        self._digests, self._entries, self._timeout = digests, entries, timeout
        self._in_capsule, self._keep_alive, self._flow_control = in_capsule, keep_alive, flow_control
        self.controller = 0xFFFF
        self.admin = self._open(0)
        self.io: list[ClientQueue] = []
        self._blocks: dict[int, int] = {}
        try:
            self.set_property(_CONFIGURATION, _ENABLE)
            for number in range(queues):
                self.io.append(self._open(number + 1))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, without a shutdown."""
        for queue in (*self.io, self.admin):
            queue.close()

    def shutdown(self) -> None:
        """Ask for an orderly end, and wait until it is recorded; :class:`DeviceStopped` if it cannot be."""
        seconds = (self.get_property(_CAPABILITIES, eight=True) >> 24 & 0xFF) / 2  # CAP.TO
        end = time.monotonic() + seconds
        self.set_property(_CONFIGURATION, _ENABLE | _SHUTDOWN)
        while (status := self.get_property(_STATUS)) & 3 << 2 != _SHUTDOWN_DONE:
            if status & _FATAL:
                raise DeviceStopped("the controller's status is fatal: no orderly end is recorded")
            if time.monotonic() > end:
                raise TimeoutError(f"the target has recorded no orderly end in {seconds:g} s, as it promises")
            time.sleep(_BETWEEN_LOOKS_SECONDS)

    # Fabrics.

    def get_property(self, offset: int, eight: bool = False) -> int:
        fields = struct.pack("<B3xI16x", int(eight), offset)
        return self._ok(
            "property get", self.admin.execute(fabrics(FabricsType.PROPERTY_GET, fields))
        ).answer.result

    def set_property(self, offset: int, value: int) -> None:
        fields = struct.pack("<B3xIQ8x", 0, offset, value)
        self._ok("property set", self.admin.execute(fabrics(FabricsType.PROPERTY_SET, fields)))

    def _open(self, number: int) -> ClientQueue:
        sock = socket.create_connection(self._address, self._timeout)
        try:
            queue = ClientQueue(sock, self._digests, self._in_capsule)
            entry, data = connect_command(
                number,
                self._entries if number else max(self._entries, _LEAST_ADMIN_ENTRIES),
                self.controller,
                self._subsystem,
                self._host,
                self._keep_alive,
                self._flow_control,
            )
            answer = self._ok(f"connect of queue {number}", queue.execute(entry, data)).answer
            if self._offer is not None:
                if not answer.result >> 16 & 3:
                    raise ProtocolError("no authentication: the target does not demand the secret's proof")
                authenticate(queue, self._offer, self._host, self._subsystem)
        except BaseException:
            sock.close()
            raise
        if number == 0:
            self.controller = answer.result & 0xFFFF
        return queue

    # Admin.

    def identify(self, structure: int, nsid: int = 0, command_set: int = 0) -> bytes:
        entry = Entry(
            AdminOpcode.IDENTIFY, nsid=nsid, sgl_length=4096, dword_10=structure, dword_11=command_set << 24
        )
        return bytes(self._ok("identify", self.admin.execute(entry)).data)

    def controllers(self) -> set[int]:
        """The controllers of the subsystem (NVM Express Base 2.0, section 5.17.2.15)."""
        count, *numbers = struct.unpack("<2048H", self.identify(0x13))
        if count > len(numbers):
            raise ProtocolError(f"a list of {count} controllers; expected at most {len(numbers)}")
        return set(numbers[:count])

    def log_page(self, page: int, length: int, nsid: int = 0, command_set: int = 0, offset: int = 0) -> bytes:
        dwords = length // 4 - 1
        entry = Entry(
            AdminOpcode.GET_LOG_PAGE, nsid=nsid, sgl_length=length, dword_10=page | (dwords & 0xFFFF) << 16,
            dword_11=dwords >> 16, dword_12=offset, dword_14=command_set << 24,
        )  # fmt: skip
        return bytes(self._ok("get log page", self.admin.execute(entry)).data)

    def set_feature(self, feature: int, value: int, nsid: int = 0) -> int:
        entry = Entry(AdminOpcode.SET_FEATURES, nsid=nsid, dword_10=feature, dword_11=value)
        return self._ok("set features", self.admin.execute(entry)).answer.result

    # I/O.

    def block_bytes(self, nsid: int) -> int:
        """Bytes of a logical block."""
        if nsid not in self._blocks:
            exponent = self.identify(0, nsid)[130]
            if exponent not in BLOCK_EXPONENTS:
                raise ProtocolError(
                    f"namespace {nsid} has blocks of 2^{exponent} bytes; expected 512 to 64 KiB"
                )
            self._blocks[nsid] = 1 << exponent
        return self._blocks[nsid]

    def read(self, nsid: int, lba: int, blocks: int) -> bytes:
        entry = read_command(nsid, lba, blocks, self.block_bytes(nsid))
        return bytes(self._ok("read", self.io[0].execute(entry)).data)

    def write(self, nsid: int, lba: int, data: bytes, durable: bool = False) -> None:
        entry = data_command(Opcode.WRITE, nsid, lba, len(data) // self.block_bytes(nsid), durable)
        self._ok("write", self.io[0].execute(entry, data))

    def append(self, nsid: int, zone_start: int, data: bytes) -> int:
        """Append to a zone; the block address of the data."""
        entry = data_command(Opcode.ZONE_APPEND, nsid, zone_start, len(data) // self.block_bytes(nsid))
        return self._ok("zone append", self.io[0].execute(entry, data)).answer.result

    def flush(self, nsid: int) -> None:
        self._ok("flush", self.io[0].execute(Entry(Opcode.FLUSH, nsid=nsid)))

    def manage(self, nsid: int, lba: int, action: int, every: bool = False) -> None:
        """Zone management send."""
        entry = Entry(
            Opcode.ZONE_MANAGEMENT_SEND, nsid=nsid, dword_10=lba & 0xFFFF_FFFF, dword_11=lba >> 32,
            dword_13=action | every << 8,
        )  # fmt: skip
        self._ok("zone management send", self.io[0].execute(entry))

    def report(self, nsid: int, lba: int, length: int, option: int = 0, partial: bool = True) -> bytes:
        """Zone management receive."""
        entry = Entry(
            Opcode.ZONE_MANAGEMENT_RECEIVE, nsid=nsid, sgl_length=length, dword_10=lba & 0xFFFF_FFFF,
            dword_11=lba >> 32, dword_12=length // 4 - 1, dword_13=option << 8 | partial << 16,
        )  # fmt: skip
        return bytes(self._ok("zone management receive", self.io[0].execute(entry)).data)

    def _ok(self, what: str, completed: Completed) -> Completed:
        answer = completed.answer
        if answer.status:
            raise CommandFailed(what, answer.status, answer.do_not_retry, answer.result)
        return completed


def read_command(nsid: int, lba: int, blocks: int, block_bytes: int) -> Entry:
    return data_command(Opcode.READ, nsid, lba, blocks)._replace(sgl_length=blocks * block_bytes)


def data_command(opcode: int, nsid: int, lba: int, blocks: int, durable: bool = False) -> Entry:
    return Entry(
        opcode, nsid=nsid, dword_10=lba & 0xFFFF_FFFF, dword_11=lba >> 32,
        dword_12=(blocks - 1) | durable << 30,
    )  # fmt: skip
