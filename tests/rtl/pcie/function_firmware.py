"""The firmware of a function, in tests."""

import random
import struct
from typing import TYPE_CHECKING

from cocotb.triggers import RisingEdge

from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.rtl.pcie.layouts import BURST_BEATS, Access, ChangeKind
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack
from flashtrain.spec import Status
from flashtrain.spec.pcie import (
    MAILBOX_PAGE_EXPONENT,
    REQUEST_BYTES,
    WORD_BYTES,
    Mailbox,
    MailboxAnswer,
    MailboxBurst,
    MailboxChange,
    MailboxControl,
    MailboxState,
)

if TYPE_CHECKING:
    from tests.rtl.pcie.function_host import Bench

QUEUES, ENTRIES = (bench_parameters()[name] for name in ("queues", "entries"))
SMALLEST_PAGE = 4096
LOG_BYTES = 256
"""Of the data that the firmware's own commands move."""
ACCESS = Access()
_AGGREGATION = {
    Feature.INTERRUPT_COALESCING: Mailbox.AGGREGATION,
    Feature.INTERRUPT_VECTOR: Mailbox.VECTOR,
}
QUEUE_OPCODES = AdminOpcode.CREATE_CQ, AdminOpcode.CREATE_SQ, AdminOpcode.DELETE_CQ, AdminOpcode.DELETE_SQ


class Firmware:
    """Answers admin commands through the mailbox: queues, a log to the host, a table from it, events."""

    def __init__(self, bench: "Bench"):
        self.bench, self.dut = bench, bench.dut
        self.accesses = StreamSource(bench.dut, "firmware", bench.busy)
        self.values = StreamSink(bench.dut, "values", bench.busy)
        self.cqs: dict[int, int] = {}
        self.sqs: dict[int, int] = {}
        self.events: list[int] = []
        self.wrong = 0
        self.stalled = False
        self.page = SMALLEST_PAGE

    def write(self, register: int, value: int) -> None:
        self.accesses.send(pack(ACCESS, write=1, offset=register // 4, data=value))

    async def read(self, register: int) -> int:
        self.accesses.send(pack(ACCESS, offset=register // 4))
        return (await self.values.wait_for(len(self.values.items) + 1))[-1]

    async def rest(self) -> int:
        """Wait for the end of what was begun; the state."""
        while (state := await self.read(Mailbox.STATE)) & MailboxState.BUSY:
            pass
        return state

    async def run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if self.stalled or self.dut.attention.value != 1:
                continue
            state = await self.rest()
            self.wrong |= state & (MailboxState.WRONG_QUEUE | MailboxState.WRONG_VALUE)
            ended = MailboxControl.ENDED if state & MailboxState.SHUT_DOWN else 0
            self.write(Mailbox.CONTROL, state & MailboxControl.FORGET | ended)
            if state & MailboxState.STOPPED:
                self.cqs.clear()
                self.sqs.clear()
                while self.events:
                    await self.answer(self.events.pop(), 0)
            if state & MailboxState.WAITING:
                self.write(Mailbox.TAKE, 0)
                if await self.rest() & MailboxState.TAKEN:
                    self.page = SMALLEST_PAGE << MAILBOX_PAGE_EXPONENT.get(state)
                    await self.execute()

    async def answer(self, cid: int, status: int, result: int = 0) -> None:
        await self.rest()
        self.bench.results[0, cid] = status, result
        for half in range(2):
            self.write(Mailbox.RESULT + 4 * half, result >> 32 * half & 0xFFFF_FFFF)
        self.write(Mailbox.ANSWER, MailboxAnswer.cid.put(cid) | MailboxAnswer.status.put(status))

    async def execute(self) -> None:
        words = [await self.read(Mailbox.ENTRY + 4 * number) for number in range(16)]
        raw = struct.pack("<16I", *words)
        opcode, cid = raw[0], words[0] >> 16
        assert self.bench.open.get((0, cid)) == raw, "the host has no such admin command"
        first, result = words[6] | words[7] << 32, random.getrandbits(64)
        status: int = Status.SUCCESS
        match opcode:
            case AdminOpcode.CREATE_CQ | AdminOpcode.CREATE_SQ:
                status = await self.create(opcode == AdminOpcode.CREATE_CQ, first, words[10], words[11])
            case AdminOpcode.DELETE_SQ:
                status = await self.delete_submissions(words[10] & 0xFFFF)
            case AdminOpcode.DELETE_CQ:
                status = await self.delete_completions(words[10] & 0xFFFF)
            case AdminOpcode.GET_LOG_PAGE:
                await self.move(first, random.randbytes(LOG_BYTES))
                await self.put(first + random.randrange(0, LOG_BYTES, 4))
            case AdminOpcode.SET_FEATURES if words[10] in _AGGREGATION:
                self.write(_AGGREGATION[words[10]], words[11])
            case AdminOpcode.SET_FEATURES:
                found = await self.move(first)
                assert found == self.bench.expected[first : first + LOG_BYTES]
            case AdminOpcode.ASYNC_EVENT_REQUEST:
                self.events.append(cid)
                return
            case _:
                status = Status.INVALID_OPCODE
        await self.answer(cid, status, result)

    async def put(self, address: int) -> None:
        """A dword alone to the host's memory, from its half of a word of the buffer."""
        half, dwords = address // 4 % 2, [random.getrandbits(32) for _ in range(2)]
        await self.rest()
        for number, word in enumerate((address & -WORD_BYTES & 0xFFFF_FFFF, address >> 32)):
            self.write(Mailbox.ADDRESS + 4 * number, word)
        for number, dword in enumerate(dwords):
            self.write(Mailbox.BUFFER + 4 * number, dword)
        self.bench.expected[address : address + 4] = dwords[half].to_bytes(4, "little")
        self.write(Mailbox.BURST, MailboxBurst.write.put(1) | MailboxBurst.kept.put(2 - half))
        assert not await self.rest() & MailboxState.FAILED

    async def move(self, address: int, data: bytes | None = None) -> bytes:
        """Bytes to the host's memory, or from it, in bursts."""
        found = b""
        for place in range(0, LOG_BYTES, REQUEST_BYTES):
            await self.rest()
            for half in range(2):
                self.write(Mailbox.ADDRESS + 4 * half, (address + place) >> 32 * half & 0xFFFF_FFFF)
            if data is not None:
                part = data[place : place + REQUEST_BYTES]
                for number, word in enumerate(struct.unpack(f"<{REQUEST_BYTES // 4}I", part)):
                    self.write(Mailbox.BUFFER + 4 * number, word)
                self.bench.expected[address + place : address + place + REQUEST_BYTES] = part
            burst = MailboxBurst.beats.put(BURST_BEATS - 1) | MailboxBurst.write.put(data is not None)
            self.write(Mailbox.BURST, burst)
            assert not await self.rest() & MailboxState.FAILED
            if data is None:
                words = [await self.read(Mailbox.BUFFER + 4 * number) for number in range(REQUEST_BYTES // 4)]
                found += struct.pack(f"<{len(words)}I", *words)
        return found

    async def change(self, kind: ChangeKind, queue: int, **fields: int) -> None:
        await self.rest()
        word = MailboxChange.kind.put(kind.value) | MailboxChange.queue.put(queue)
        for name, value in fields.items():
            word |= getattr(MailboxChange, name).put(value)
        self.write(Mailbox.CHANGE, word)
        await self.rest()

    async def create(self, of_completions: bool, base: int, dword_10: int, dword_11: int) -> int:
        number, entries = dword_10 & 0xFFFF, (dword_10 >> 16) + 1
        mine, partner = self.cqs if of_completions else self.sqs, dword_11 >> 16
        if not 0 < number <= QUEUES or number in mine:
            return TargetStatus.INVALID_QUEUE_NUMBER
        if not 2 <= entries <= ENTRIES:
            return TargetStatus.INVALID_QUEUE_SIZE
        if of_completions and partner > QUEUES:
            return TargetStatus.INVALID_VECTOR
        if not of_completions and not 0 < partner <= QUEUES:
            return TargetStatus.INVALID_QUEUE_NUMBER
        if not of_completions and partner not in self.cqs:
            return TargetStatus.INVALID_COMPLETION_QUEUE
        if base % self.page:
            return TargetStatus.INVALID_PRP_OFFSET
        if not dword_11 & 1:
            return TargetStatus.INVALID_FIELD
        await self.rest()
        for half in range(2):
            self.write(Mailbox.ADDRESS + 4 * half, base >> 32 * half & 0xFFFF_FFFF)
        self.write(Mailbox.SIZE, entries - 1)
        kind = ChangeKind.CREATE_COMPLETIONS if of_completions else ChangeKind.CREATE_SUBMISSIONS
        await self.change(
            kind, number, partner=partner, interrupts=dword_11 >> 1 & 1 if of_completions else 0
        )
        mine[number] = partner
        return Status.SUCCESS

    async def delete_submissions(self, number: int) -> int:
        """The queue is gone when none of its commands is open."""
        if number not in self.sqs:
            return TargetStatus.INVALID_QUEUE_NUMBER
        await self.change(ChangeKind.DELETE_SUBMISSIONS, number)
        self.write(Mailbox.OPEN, number)
        while await self.read(Mailbox.OPEN):
            pass
        del self.sqs[number]
        return Status.SUCCESS

    async def delete_completions(self, number: int) -> int:
        if number not in self.cqs:
            return TargetStatus.INVALID_QUEUE_NUMBER
        if number in self.sqs.values():
            return TargetStatus.INVALID_QUEUE_DELETION
        await self.change(ChangeKind.DELETE_COMPLETIONS, number)
        del self.cqs[number]
        return Status.SUCCESS
