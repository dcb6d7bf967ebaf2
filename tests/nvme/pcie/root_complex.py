"""A host of a function in this process: a memory of bytes, queues in it, and interrupts as a list."""

import asyncio
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from flashtrain.host import Device, open_device
from flashtrain.nvme.pcie.function import Function
from flashtrain.nvme.pcie.memory import Regions, Unreachable
from flashtrain.nvme.pcie.qemu import HostedFunction
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.subsystem.subsystem import Subsystem
from flashtrain.nvme.wire.commands import AdminOpcode

MEMORY_BYTES = 4 << 20
ADMIN_SQ, ADMIN_CQ, QUEUES, DATA = 0x1_0000, 0x2_0000, 0x4_0000, 0x20_0000
CC, CSTS, AQA, ASQ, ACQ, DOORBELLS, TABLE = 0x14, 0x1C, 0x24, 0x28, 0x30, 0x1000, 0x2000
ENABLE = 0x0046_0061
MASTER_AND_MEMORY = 0x6
MSIX_CONTROL, MSIX_ENABLE = 0x52, 0x8000
SECONDS = 30.0


class Memory:
    """`MEMORY_BYTES` from address 0 on. `messages` has each message as (address, data)."""

    def __init__(self) -> None:
        self.bytes = bytearray(MEMORY_BYTES)
        self.messages: list[tuple[int, int]] = []

    def views(self, address: int, length: int) -> list[memoryview]:
        if address + length > MEMORY_BYTES:
            raise Unreachable(f"{address:#x}")
        return [memoryview(self.bytes)[address : address + length]] if length else []

    def watch(self, changed: Callable[[Regions], object]) -> None:
        changed([(0, memoryview(self.bytes))])

    def message(self, address: int, data: int) -> None:
        self.messages.append((address, data))


class Completion(NamedTuple):
    """`status` has type and code; `head` and `queue` are those of the submission queue."""

    result: int
    head: int
    queue: int
    cid: int
    status: int
    do_not_retry: bool


@dataclass
class Pair:
    """A submission queue and the completion queue of the same number, as their host keeps them."""

    number: int
    submissions: int
    completions: int
    entries: int
    tail: int = 0
    head: int = 0
    phase: int = 1
    fetched: int = 0


def entry(
    opcode: int,
    cid: int = 0,
    nsid: int = 0,
    prp1: int = 0,
    prp2: int = 0,
    dwords: tuple[int, ...] = (),
    flags: int = 0,
) -> bytes:
    """A submission entry; `dwords` from dword 10 on."""
    words = (*dwords, 0, 0, 0, 0, 0, 0)[:6]
    return struct.pack("<BBHIQQQQ6I", opcode, flags, cid, nsid, 0, 0, prp1, prp2, *words)


class RootComplex:
    """Drives a function: registers, queues, and completions. `log` has what it said."""

    def __init__(self, function: HostedFunction, memory: Memory, log: list[str]) -> None:
        self.function, self.memory, self.log = function, memory, log
        self.pairs: dict[int, Pair] = {}

    def write(self, offset: int, value: int, length: int = 4) -> None:
        self.function.write(offset, value, length)

    def read(self, offset: int, length: int = 4) -> int:
        return self.function.read(offset, length)

    async def until(self, condition: Callable[[], Any], what: str) -> None:
        """Let the event loop run until a condition holds."""
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, f"{what} has not come in {SECONDS} s"
            await asyncio.sleep(0)

    async def enable(self, entries: int = 32, configuration: int = ENABLE) -> None:
        """Make the function a bus master, and the controller ready."""
        self.function.configuration.write(0x04, MASTER_AND_MEMORY, 2)
        self.memory.bytes[ADMIN_CQ : ADMIN_CQ + 16 * entries] = bytes(16 * entries)
        self.pairs = {0: Pair(0, ADMIN_SQ, ADMIN_CQ, entries)}
        self.write(AQA, (entries - 1) << 16 | entries - 1)
        self.write(ASQ, ADMIN_SQ, 8)
        self.write(ACQ, ADMIN_CQ, 8)
        self.write(CC, configuration)
        await self.until(lambda: self.read(CSTS) & 3, "CSTS.RDY")
        assert self.read(CSTS) == 1

    async def disable(self) -> None:
        self.write(CC, ENABLE & ~1)
        await self.until(lambda: not self.read(CSTS) & 1, "the end of CSTS.RDY")

    def submit(self, queue: int, *entries: bytes) -> None:
        """Write entries and the doorbell."""
        pair = self.pairs[queue]
        for one in entries:
            place = pair.submissions + 64 * pair.tail
            self.memory.bytes[place : place + 64] = one
            pair.tail = (pair.tail + 1) % pair.entries
        self.write(DOORBELLS + 8 * queue, pair.tail)

    def poll(self, queue: int) -> list[Completion]:
        """Take the completions that are there, and write the doorbell."""
        pair, found = self.pairs[queue], []
        while True:
            place = pair.completions + 16 * pair.head
            result, head, number, cid, status = struct.unpack_from("<QHHHH", self.memory.bytes, place)
            if status & 1 != pair.phase:
                break
            found.append(Completion(result, head, number, cid, status >> 1 & 0x7FF, bool(status >> 15)))
            pair.head = (pair.head + 1) % pair.entries
            pair.phase ^= pair.head == 0
        if found:
            self.write(DOORBELLS + 8 * queue + 4, pair.head)
        return found

    async def completions(self, queue: int, count: int) -> list[Completion]:
        """Wait for so many completions."""
        found: list[Completion] = []
        await self.until(
            lambda: found.extend(self.poll(queue)) or len(found) >= count, f"a completion of queue {queue}"
        )
        return found

    async def execute(self, queue: int, one: bytes) -> Completion:
        self.submit(queue, one)
        (completion,) = await self.completions(queue, 1)
        return completion

    async def create(
        self, number: int, entries: int = 32, vector: int | None = None, priority: int = 0
    ) -> Pair:  # fmt: skip
        """Make a pair of I/O queues."""
        base = QUEUES + number * 0x2_0000
        pair = Pair(number, base, base + 0x1_0000, entries)
        self.memory.bytes[pair.completions : pair.completions + 16 * entries] = bytes(16 * entries)
        flags = 1 if vector is None else 3 | vector << 16
        for opcode, address, word in (
            (AdminOpcode.CREATE_CQ, pair.completions, flags),
            (AdminOpcode.CREATE_SQ, pair.submissions, 1 | priority << 1 | number << 16),
        ):
            made = entry(opcode, 7, prp1=address, dwords=((entries - 1) << 16 | number, word))
            assert (await self.execute(0, made)).status == 0
        self.pairs[number] = pair
        return pair


@asynccontextmanager
async def attached(device: Device, in_loop: bool = True, **settings: Any) -> AsyncIterator[RootComplex]:
    """A function of a device, and a host that has not enabled it.

    in_loop: the device runs in the event loop, and not in a thread.
    """
    log: list[str] = []
    subsystem = Subsystem(device, SubsystemSettings(**{"entries": 1024, **settings}), log.append, in_loop)
    subsystem.thread.start(asyncio.get_running_loop())
    memory = Memory()
    try:
        yield RootComplex(Function(subsystem, memory), memory, log)
    finally:
        subsystem.thread.stop()


@asynccontextmanager
async def function_of(
    preset: str = "tiny", link: Any = "functional", **settings: Any
) -> AsyncIterator[RootComplex]:
    """A function of a new device."""
    with open_device(preset, link, "serve") as device:
        async with attached(device, **settings) as host:
            yield host
