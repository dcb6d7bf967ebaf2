"""A host of QEMU's NVMe controller: registers over qtest, queues and data in the machine's memory."""

import os
import struct
import time
from dataclasses import dataclass
from typing import NamedTuple

from flashtrain.spec.errors import ToolError

from .machine import MEMORY_BYTES, Machine

SLOT = 4
"""The device's slot on the PCI bus, for QEMU's option `addr`."""

MOST_BYTES = 128 << 10
"""The most data of a command."""

_BAR = 0xE000_0000
_MEMORY_AND_MASTER = 0x6
_CONFIGURATION, _STATUS, _ADMIN_SIZES, _ADMIN_SQ, _ADMIN_CQ = 0x14, 0x1C, 0x24, 0x28, 0x30
_DOORBELLS = 0x1000
_ENABLE = 0x0046_0061  # I/O command sets, entries of 64 and 16 bytes
_PAGE = 4096
_ENTRIES = 64
_ENTRY, _COMPLETION = 64, 16
_CREATE_CQ, _CREATE_SQ = 0x05, 0x01
_SECONDS = 20.0

_QUEUES = 0x10_0000
"""Address of the queues, two pages each; behind them the list of the data's pages, and the data."""


class Completion(NamedTuple):
    """`status` is the type in bits 10:8 and the code in bits 7:0."""

    result: int
    status: int
    do_not_retry: bool


@dataclass
class _Queue:
    """A pair of queues with one command at a time."""

    number: int
    sq: int
    cq: int
    tail: int = 0
    head: int = 0
    phase: int = 1


class NvmeController:
    """The controller in `SLOT`, enabled, with an admin queue and one I/O queue."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._qtest, self._memory = machine, machine.qtest, machine.memory
        self._queues = [_Queue(n, _QUEUES + 2 * n * _PAGE, _QUEUES + (2 * n + 1) * _PAGE) for n in range(2)]
        self._list = _QUEUES + 4 * _PAGE
        self._data = self._list + _PAGE
        assert self._data + MOST_BYTES <= MEMORY_BYTES
        pages = range(self._data + _PAGE, self._data + MOST_BYTES, _PAGE)
        self._memory[self._list : self._list + 8 * len(pages)] = struct.pack(f"<{len(pages)}Q", *pages)
        self._enable()
        io = self._queues[1]
        self._create(_CREATE_CQ, io.cq, 1)
        self._create(_CREATE_SQ, io.sq, 1 << 16 | 1)

    def begin(self, queue: int, entry: bytes, data: bytes, length: int) -> None:
        """Submit a command to queue 0 or 1, with data for the controller or room for `length` bytes of it.

        The data pointer of `entry` is replaced by PRPs.
        """
        q = self._queues[queue]
        moved = len(data) or length
        if moved > MOST_BYTES:
            raise ToolError(f"{moved} bytes of data; the most is {MOST_BYTES}")
        self._memory[self._data : self._data + moved] = data if data else bytes(moved)
        second = 0
        if moved > _PAGE:
            second = self._data + _PAGE if moved <= 2 * _PAGE else self._list
        self._submit(q, entry[:24] + struct.pack("<QQ", self._data, second) + entry[40:])

    def end(self, queue: int) -> Completion:
        """Wait for the completion of the command in `queue`."""
        q = self._queues[queue]
        place = q.cq + q.head * _COMPLETION
        began = None
        while self._memory[place + 14] & 1 != q.phase:
            os.sched_yield()
            now = time.monotonic()
            began = began or now
            if now - began > _SECONDS:
                self._machine.check()
                raise ToolError(f"QEMU has not completed a command of queue {queue} in {_SECONDS} s")
        result, status = struct.unpack_from("<Q6xH", self._memory, place)
        q.head = (q.head + 1) % _ENTRIES
        q.phase ^= q.head == 0
        self._qtest.write32(_BAR + _DOORBELLS + 8 * q.number + 4, q.head)
        return Completion(result, status >> 1 & 0x7FF, bool(status >> 15))

    def data(self, length: int) -> bytes:
        """The first bytes of the data of the last command."""
        return self._memory[self._data : self._data + length]

    def _enable(self) -> None:
        qtest = self._qtest
        if qtest.read_config(SLOT, 8) >> 8 != 0x010802:
            raise ToolError(f"slot {SLOT} has no NVMe controller")
        qtest.write_config(SLOT, 0x10, _BAR)
        qtest.write_config(SLOT, 0x14, 0)
        qtest.write_config(SLOT, 0x04, _MEMORY_AND_MASTER)
        admin = self._queues[0]
        qtest.write32(_BAR + _ADMIN_SIZES, (_ENTRIES - 1) << 16 | (_ENTRIES - 1))
        qtest.write64(_BAR + _ADMIN_SQ, admin.sq)
        qtest.write64(_BAR + _ADMIN_CQ, admin.cq)
        qtest.write32(_BAR + _CONFIGURATION, _ENABLE)
        if qtest.read32(_BAR + _STATUS) != 1:
            raise ToolError("QEMU's NVMe controller does not become ready")

    def _create(self, opcode: int, address: int, flags: int) -> None:
        entry = struct.pack("<B23xQ8xII16x", opcode, address, (_ENTRIES - 1) << 16 | 1, flags)
        self._submit(self._queues[0], entry)
        if (status := self.end(0).status) != 0:
            raise ToolError(f"QEMU's NVMe controller refuses a queue with status {status:#05x}")

    def _submit(self, q: _Queue, entry: bytes) -> None:
        place = q.sq + q.tail * _ENTRY
        self._memory[place : place + _ENTRY] = entry
        q.tail = (q.tail + 1) % _ENTRIES
        self._qtest.write32(_BAR + _DOORBELLS + 8 * q.number, q.tail)
