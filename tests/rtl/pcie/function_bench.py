"""A host, firmware and an executor of commands round the whole function; the memory is compared whole."""

import random
import struct
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.configuration import MSIX_CONTROL
from flashtrain.nvme.pcie.memory import Span, Unreachable
from flashtrain.nvme.pcie.msix import ENABLE
from flashtrain.nvme.pcie.prp import spans
from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.rtl.pcie.layouts import (
    BURST_BEATS,
    PORT_BYTES,
    Access,
    ChangeKind,
    IoCommand,
    Piece,
    QueueAnswer,
)
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import Opcode, Status
from flashtrain.spec.pcie import (
    DOORBELLS,
    MAILBOX_PAGE_EXPONENT,
    PRP_BYTES,
    VECTORS,
    Configuration,
    Mailbox,
    MailboxAnswer,
    MailboxBurst,
    MailboxChange,
    MailboxControl,
    MailboxState,
    Property,
    Ready,
    Vector,
)
from tests.rtl.pcie.host_memory import TlpHost
from tests.rtl.pcie.software_function import SoftwareFunction

QUEUES, ENTRIES, COMMANDS = (bench_parameters()[name] for name in ("queues", "entries", "commands"))
BLOCK_BYTES, MOST_BYTES = (bench_parameters()[name] for name in ("block_bytes", "most_bytes"))
TAGS = 16
MEMORY_BYTES = 4 << 20
SMALLEST_PAGE = 4096
BURST_BYTES = BURST_BEATS * PORT_BYTES
LOG_BYTES = 256
"""Of the data that the firmware's own commands move."""
ADMIN_LATENCY, LATENCIES, COMMAND_LATENCIES, ANSWER_LATENCY = 10, range(12, 16), (7, 8), 6
ACCESS, COMMAND, PIECE, ANSWER = Access(), IoCommand(MOST_BYTES), Piece(), QueueAnswer()
BURST, READ_BEAT, WRITE_BEAT = burst_layout(64), read_beat_layout(64), write_beat_layout(64)
ENABLED = (
    Configuration.enable.put(1)
    | Configuration.submission_exponent.put(6)
    | Configuration.completion_exponent.put(4)
)
MESSAGES = 0xFEE0_0000
_OF_BLOCKS = (Opcode.WRITE, Opcode.READ, Opcode.ZONE_APPEND)
_TO_HOST = (Opcode.READ, Opcode.ZONE_MANAGEMENT_RECEIVE)


def entry(opcode: int, cid: int, prps: tuple[int, int] = (0, 0), flags: int = 0, **dwords: int) -> bytes:
    """A submission entry; `dwords` are d10 to d15."""
    words = [dwords.get(f"d{number}", 0) for number in range(10, 16)]
    return struct.pack("<BBHIQQQQ6I", opcode, flags, cid, 1, 0, 0, *prps, *words)


def bursts(address: int, length: int) -> list[tuple[int, int]]:
    """Address and beats of the bursts that hold these bytes, within 128 bytes each."""
    found, end = [], -(-(address + length) // PORT_BYTES) * PORT_BYTES
    place = address // PORT_BYTES * PORT_BYTES
    while place < end:
        stop = min(end, (place // BURST_BYTES + 1) * BURST_BYTES)
        found.append((place, (stop - place) // PORT_BYTES))
        place = stop
    return found


def ends_of(address: int, length: int) -> list[tuple[int, int]]:
    """What is moved of a piece: all of a short one, and both ends of a long one."""
    if length <= 2 * BURST_BYTES:
        return [(address, length)]
    return [(address, BURST_BYTES), (address + length - BURST_BYTES, BURST_BYTES)]


@dataclass
class Ring:
    """A queue of the host: `place` counts its entries, `partner` is its completion queue or vector."""

    number: int
    base: int
    entries: int
    partner: int
    interrupts: bool = True
    place: int = 0
    reported: int = 0
    pages: int = field(default=1)


class Bench:
    def __init__(self, dut, busy: float = 1, latency: int = 0):
        self.dut, self.busy = dut, busy
        self.host = TlpHost(dut, MEMORY_BYTES, TAGS, busy, latency)
        self.host.memory[:] = random.randbytes(MEMORY_BYTES)
        self.expected = bytearray(self.host.memory)
        self.accesses, self.answers = StreamSource(dut, "accesses", busy), StreamSink(dut, "answers", busy)
        self.software = SoftwareFunction(QUEUES, ENTRIES)
        self.page = SMALLEST_PAGE
        self.sqs: dict[int, Ring] = {}
        self.cqs: dict[int, Ring] = {}
        self.free: list[int] = []
        self.used: dict[tuple[int, int], list[int]] = {}
        self.open: dict[tuple[int, int], bytes] = {}
        """Commands of I/O queues that the host waits for."""
        self.expected_status: dict[tuple[int, int], int] = {}
        self.spans: dict[tuple[int, int], list[Span]] = {}
        """The data of I/O commands, as the software reads their PRPs."""
        self.results: dict[tuple[int, int], tuple[int, int]] = {}
        """Status and result as the firmware or the executor gave them."""
        self.found: dict[tuple[int, int], int] = {}
        self._cid = 0
        self.executor = Executor(self)
        self.firmware = Firmware(self)

    async def start(self) -> None:
        await start(self.dut, within=150_000, enable_vectors=0, mask_vectors=0, fault=0)
        cocotb.start_soon(self.executor.run())
        cocotb.start_soon(self.executor.answer())
        cocotb.start_soon(self.firmware.run())

    # The memory of the host.

    def put(self, address: int, data: bytes) -> None:
        self.host.memory[address : address + len(data)] = data
        self.expected[address : address + len(data)] = data

    def views(self, address: int, length: int) -> list[memoryview]:
        """The memory as the software sees it."""
        if address + length > MEMORY_BYTES:
            raise Unreachable(f"{address:#x}")
        return [memoryview(self.expected)[address : address + length]]

    def take_page(self, pages: int = 1) -> int:
        """A page that nothing uses; of several the first, at the end of the memory where none is recycled."""
        return self.free.pop(random.randrange(len(self.free))) if pages == 1 else self.free.pop(0)

    def compare(self) -> None:
        if self.host.memory != self.expected:
            places = [at for at in range(MEMORY_BYTES) if self.host.memory[at] != self.expected[at]]
            raise AssertionError(f"{len(places)} bytes differ, the first at {places[0]:#x}")

    # Registers.

    async def write(self, offset: int, value: int) -> None:
        self.accesses.send(pack(ACCESS, write=1, offset=offset // 4, data=value))
        self.software.function.write(offset, value, 4)
        while not self.accesses.empty:
            await RisingEdge(self.dut.clk)

    async def read(self, offset: int) -> int:
        self.accesses.send(pack(ACCESS, offset=offset // 4))
        return (await self.answers.wait_for(len(self.answers.items) + 1))[-1]

    async def status(self, wanted: int, cycles: int = 100_000) -> None:
        """Wait until CSTS has the wanted value, which is that of the software."""
        assert self.software.function.read(Property.STATUS, 4) == wanted
        begun = self.executor.clock
        while (found := await self.read(Property.STATUS)) != wanted:
            assert self.executor.clock - begun < cycles, f"CSTS is {found:#x}, expected {wanted:#x}"

    async def enable(self, exponent: int = 0, entries: int = 8) -> None:
        self.page = SMALLEST_PAGE << exponent
        self.free = list(range(self.page, MEMORY_BYTES, self.page))
        random.shuffle(self.free)
        self.open.clear()
        self.used.clear()
        self.expected_status.clear()
        self.results.clear()
        self.sqs = {0: Ring(0, self.take_page(), entries, 0)}
        self.cqs = {0: Ring(0, self.take_page(), entries, 0)}
        self.put(self.cqs[0].base, bytes(16 * entries))
        await self.write(Property.ADMIN_SIZES, (entries - 1) << 16 | entries - 1)
        for register, ring in (
            (Property.ADMIN_SUBMISSIONS, self.sqs[0]), (Property.ADMIN_COMPLETIONS, self.cqs[0]),
        ):  # fmt: skip
            await self.write(register, ring.base)
            await self.write(register + 4, 0)
        await self.write(Property.CONFIGURATION, ENABLED | Configuration.page_exponent.put(exponent))
        await self.status(Ready.READY)

    async def enable_vectors(self) -> None:
        for vector in range(QUEUES + 1):
            words = MESSAGES + Vector.BYTES * vector, 0, vector, 0
            for dword, value in enumerate(words):
                await self.write(VECTORS + Vector.BYTES * vector + 4 * dword, value)
        self.software.function.configuration.write(MSIX_CONTROL, ENABLE, 2)
        self.dut.enable_vectors.value = 1

    # Queues.

    async def ring(self, queue: int, of_completions: bool, value: int) -> None:
        await self.write(DOORBELLS + 8 * queue + 4 * of_completions, value)

    def room(self, sq: Ring) -> int:
        """Entries that the host may add; a completion says which ones the controller has taken."""
        return sq.entries - 1 - (sq.place - sq.reported)

    def new_cid(self) -> int:
        self._cid = (self._cid + 1) & 0xFFFF
        return self._cid

    async def submit(self, sq: Ring, *entries: bytes) -> None:
        for raw in entries:
            self.put(sq.base + 64 * (sq.place % sq.entries), raw)
            self.open[sq.number, int.from_bytes(raw[2:4], "little")] = raw
            sq.place += 1
        await self.ring(sq.number, False, sq.place % sq.entries)

    async def poll(self, cq: Ring, release: bool = True) -> int:
        """Take the completions that are there: each is of an open command, with what it was answered."""
        taken = 0
        while True:
            at = cq.base + 16 * (cq.place % cq.entries)
            raw = bytes(self.host.memory[at : at + 16])
            result, head, number, cid, word = struct.unpack("<QHHHH", raw)
            if word & 1 == cq.place // cq.entries % 2:
                break
            sq, key = self.sqs[number], (number, cid)
            assert sq.partner == cq.number and self.open.pop(key, None), f"{key} was not open"
            status = word >> 1 & 0x7FF
            assert self.results.pop(key) == (status, result), f"{key} was answered otherwise"
            wanted = self.expected_status.pop(key, status)
            assert status == wanted, f"{key} has {status:#x}, expected {wanted:#x}"
            sq.reported += (head - sq.reported) % sq.entries
            assert sq.reported <= sq.place
            self.expected[at : at + 16] = raw
            self.free += self.used.pop(key, [])
            self.found[key] = status
            cq.place += 1
            taken += 1
        if taken and release:
            await self.ring(cq.number, True, cq.place % cq.entries)
        return taken

    async def admin(self, opcode: int, prps: tuple[int, int] = (0, 0), **dwords: int) -> int:
        """The status of an admin command; of one about queues it is that of the software."""
        raw, sq = entry(opcode, self.new_cid(), prps, **dwords), self.sqs[0]
        key = 0, int.from_bytes(raw[2:4], "little")
        if opcode in _QUEUE_OPCODES:
            self.expected_status[key] = self.software.change_queues(raw)
        await self.submit(sq, raw)
        await self.until(lambda: key in self.results, f"the answer to {opcode:#x}")
        for _ in range(5000):
            await RisingEdge(self.dut.clk)
            if await self.poll(self.cqs[0]) and key in self.found:
                return self.found.pop(key)
        raise AssertionError(f"no completion of {opcode:#x}")

    async def create(self, number: int, sq_entries: int, cq: Ring | None, interrupts: bool = True) -> None:
        """Make a submission queue, and its completion queue unless there is one for it."""
        if cq is None:
            cq = Ring(number, self.take_page(), random.randint(2, ENTRIES), random.randrange(QUEUES + 1),
                      interrupts)  # fmt: skip
            self.put(cq.base, bytes(16 * cq.entries))
            word = 1 | interrupts << 1 | cq.partner << 16
            assert not await self.admin(
                AdminOpcode.CREATE_CQ, (cq.base, 0), d10=(cq.entries - 1) << 16 | number, d11=word
            )
            self.cqs[number] = cq
        sq = Ring(number, self.take_page(), sq_entries, cq.number)
        assert not await self.admin(
            AdminOpcode.CREATE_SQ, (sq.base, 0), d10=(sq_entries - 1) << 16 | number, d11=1 | cq.number << 16
        )
        self.sqs[number] = sq

    async def until(self, condition, what: str, cycles: int = 60_000) -> None:
        for _ in range(cycles):
            if condition():
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"{what} has not come in {cycles} cycles")

    async def settle(self, cycles: int = 150) -> None:
        for _ in range(int(cycles / self.busy) + 2 * self.host.latency):
            await RisingEdge(self.dut.clk)

    # I/O commands.

    def any_command(self, number: int) -> bytes:
        """A command of any kind and length; a few of them are wrong."""
        opcode = random.choice([*_OF_BLOCKS, *_OF_BLOCKS, *Opcode])
        flags = 0x40 if random.random() < 0.05 else 0
        most = MOST_BYTES // BLOCK_BYTES
        count = random.choice([random.randint(1, 4), random.randint(1, most), 1, 2])
        if random.random() < 0.05:
            count = most + random.randint(1, 5)
        if opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            count = 2 * random.randint(1, 300)
        return self.command(number, opcode, count, flags, faulty=random.random() < 0.2)

    def command(self, number: int, opcode: int, count: int, flags: int = 0, faulty: bool = False) -> bytes:
        """A command with the spans and the status that the software gives its data pointer."""
        cid, length = self.new_cid(), self.length_of(opcode, flags, count)
        grain = PORT_BYTES if opcode in _TO_HOST else 4
        prps, pages = (random.getrandbits(64), 0), []
        if length:
            prps, pages = self.pointer(length, grain, faulty)
        status: int = Status.SUCCESS
        try:
            self.spans[number, cid] = spans(self, *prps, length, self.page)
        except Refusal as refusal:
            status = int(refusal.status)
        if not length and (opcode in _OF_BLOCKS or opcode == Opcode.ZONE_MANAGEMENT_RECEIVE):
            status = Status.INVALID_FIELD
        key = number, cid
        self.expected_status[key], self.used[key] = status, pages
        return entry(opcode, cid, prps, flags, d10=random.getrandbits(32), d12=count - 1)

    @staticmethod
    def length_of(opcode: int, flags: int, count: int) -> int:
        size = {Opcode.ZONE_MANAGEMENT_RECEIVE: 4, **dict.fromkeys(_OF_BLOCKS, BLOCK_BYTES)}.get(opcode, 0)
        length = count * size
        return length if length <= MOST_BYTES and not flags else 0

    def pointer(self, length: int, grain: int, faulty: bool) -> tuple[tuple[int, int], list[int]]:
        """PRPs with random offsets, perhaps with a fault; the pages that they use."""
        page, pages = self.page, []

        def new() -> int:
            pages.append(self.take_page())
            return pages[-1]

        first = new() + random.choice([0, grain * random.randrange(page // grain)])
        left = length - (page - first % page)
        second = random.getrandbits(64)
        if 0 < left <= page:
            second = new()
        elif left > page:
            count = -(-left // page)
            place = second = new() + page - PRP_BYTES * random.choice([1, 2, page // PRP_BYTES])
            while count:
                if place % page == page - PRP_BYTES and count > 1:
                    self.put_entry(place, place := new())
                    continue
                self.put_entry(place, new())
                place, count = place + PRP_BYTES, count - 1
        if faulty:
            match random.randrange(3):
                case 0:
                    first |= random.randrange(1, 4)
                case 1 if left > 0:
                    second |= 1 << random.randrange(12)
                case 2 if left > page and random.random() < 0.5:
                    second = MEMORY_BYTES
                case 2 if left > page:
                    self.put_entry(second, MEMORY_BYTES + PRP_BYTES)
        return (first, second), pages

    def put_entry(self, place: int, value: int) -> None:
        self.put(place, value.to_bytes(PRP_BYTES, "little"))


_QUEUE_OPCODES = AdminOpcode.CREATE_CQ, AdminOpcode.CREATE_SQ, AdminOpcode.DELETE_CQ, AdminOpcode.DELETE_SQ


class Executor:
    """Takes I/O commands, moves their data piece by piece, and answers them in any order."""

    def __init__(self, bench: Bench):
        self.bench, dut, busy = bench, bench.dut, bench.busy
        self.dut = dut
        self.commands, self.pieces = StreamSink(dut, "commands", busy), StreamSink(dut, "pieces", busy)
        self.done = StreamSource(dut, "done", busy)
        # The multiplexer wants beats of data to be taken at once.
        self.asks, self.beats = StreamSource(dut, "data_read__ar", busy), StreamSink(dut, "data_read__r")
        self.writes, self.words = (
            StreamSource(dut, "data_write__aw"),
            StreamSource(dut, "data_write__w", busy),
        )
        self.wrote = StreamSink(dut, "data_write__b", busy)
        self.waiting: list[tuple[int, int, int]] = []
        self.held = False
        self.seen = self.pieces_seen = self.clock = 0
        self.moved = {False: 0, True: 0}

    @property
    def under_way(self) -> int:
        return len(self.commands.items) - self.seen + len(self.waiting)

    async def run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if len(self.commands.items) > self.seen:
                await self._execute(unpack(COMMAND, self.commands.items[self.seen]))
                self.seen += 1

    async def _execute(self, item: dict[str, int]) -> None:
        raw = item["bytes"].to_bytes(64, "little")
        opcode, flags, cid = struct.unpack_from("<BBH", raw)
        assert self.bench.open.get((item["queue"], cid)) == raw, f"queue {item['queue']} has no such command"
        count = int.from_bytes(raw[48:52], "little") + 1
        assert item["length"] == self.bench.length_of(opcode, flags, count)
        status: int = Status.SUCCESS
        if item["length"]:
            status = await self._move(opcode in _TO_HOST, (item["queue"], cid))
        elif opcode in (*_OF_BLOCKS, Opcode.ZONE_MANAGEMENT_RECEIVE):
            status = Status.INVALID_FIELD
        self.waiting.append((item["queue"], cid, status))

    async def _move(self, to_host: bool, key: tuple[int, int]) -> int:
        """Bytes of all pieces, of long ones both ends; the status of the data pointer."""
        found: list[Span] = []
        last = False
        while not last:
            while len(self.pieces.items) <= self.pieces_seen:
                await RisingEdge(self.dut.clk)
            piece = unpack(PIECE, self.pieces.items[self.pieces_seen])
            self.pieces_seen += 1
            if piece["status"]:
                assert piece["last"] and not found
                assert piece["status"] == self.bench.expected_status[key], "the software has another status"
                return piece["status"]
            last = bool(piece["last"])
            begin, size = piece["address"], piece["length"]
            if found and found[-1].address + found[-1].length == begin:
                found[-1] = Span(found[-1].address, found[-1].length + size)
            else:
                found.append(Span(begin, size))
            for address, length in ends_of(begin, size):
                await (self._put(address, length) if to_host else self._get(address, length))
        assert found == self.bench.spans.pop(key), "these are not the spans of the software"
        return Status.SUCCESS

    async def _get(self, address: int, length: int) -> None:
        for place, beats in bursts(address, length):
            at = len(self.beats.items)
            self.asks.send(pack(BURST, address=place, length=beats - 1))
            await self.beats.wait_for(at + beats)
            found = [unpack(READ_BEAT, bits) for bits in self.beats.items[at:]]
            data = b"".join(beat["data"].to_bytes(PORT_BYTES, "little") for beat in found)
            assert data == self.bench.expected[place : place + len(data)], f"other bytes at {place:#x}"
            assert [beat["last"] for beat in found] == [0] * (beats - 1) + [1]
            assert not any(beat["error"] for beat in found)
            self.moved[False] += len(data)

    async def _put(self, address: int, length: int) -> None:
        for place, beats in bursts(address, length):
            data, answered = random.randbytes(beats * PORT_BYTES), len(self.wrote.items)
            self.bench.expected[place : place + len(data)] = data
            self.writes.send(pack(BURST, address=place, length=beats - 1))
            for number in range(beats):
                word = int.from_bytes(data[number * PORT_BYTES :][:PORT_BYTES], "little")
                self.words.send(pack(WRITE_BEAT, data=word, last=number == beats - 1))
            await self.wrote.wait_for(answered + 1)
            self.moved[True] += len(data)

    async def answer(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self.clock += 1
            if self.waiting and not self.held and random.random() < self.bench.busy:
                item = random.choice(self.waiting) if self.bench.busy < 1 else self.waiting[0]
                self.waiting.remove(item)
                queue, cid, status = item
                result = random.getrandbits(64)
                self.bench.results[queue, cid] = status, result
                self.done.send(pack(ANSWER, queue=queue, cid=cid, status=status, result=result))


class Firmware:
    """Answers admin commands through the mailbox: queues, a log to the host, a table from it, events."""

    def __init__(self, bench: Bench):
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
            case AdminOpcode.SET_FEATURES:
                found = await self.move(first)
                assert found == self.bench.expected[first : first + LOG_BYTES]
            case AdminOpcode.ASYNC_EVENT_REQUEST:
                self.events.append(cid)
                return
            case _:
                status = Status.INVALID_OPCODE
        await self.answer(cid, status, result)

    async def move(self, address: int, data: bytes | None = None) -> bytes:
        """Bytes to the host's memory, or from it, in bursts."""
        found = b""
        for place in range(0, LOG_BYTES, BURST_BYTES):
            await self.rest()
            for half in range(2):
                self.write(Mailbox.ADDRESS + 4 * half, (address + place) >> 32 * half & 0xFFFF_FFFF)
            if data is not None:
                part = data[place : place + BURST_BYTES]
                for number, word in enumerate(struct.unpack(f"<{BURST_BYTES // 4}I", part)):
                    self.write(Mailbox.BUFFER + 4 * number, word)
                self.bench.expected[address + place : address + place + BURST_BYTES] = part
            burst = MailboxBurst.beats.put(BURST_BEATS - 1) | MailboxBurst.write.put(data is not None)
            self.write(Mailbox.BURST, burst)
            assert not await self.rest() & MailboxState.FAILED
            if data is None:
                words = [await self.read(Mailbox.BUFFER + 4 * number) for number in range(BURST_BYTES // 4)]
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


async def open_queues(bench: Bench, count: int) -> list[int]:
    """Make I/O queues, some of which share their completion queue."""
    numbers = random.sample(range(1, QUEUES + 1), count)
    for number in numbers:
        others = [cq for cq in bench.cqs.values() if cq.number]
        shared = random.choice(others) if others and random.random() < 0.3 else None
        await bench.create(number, random.randint(2, ENTRIES), shared, random.random() < 0.8)
    return numbers


async def wrong_changes(bench: Bench, count: int) -> None:
    """Commands about queues with any values: the statuses are those of the software."""
    for _ in range(count):
        opcode = random.choice([AdminOpcode.CREATE_CQ, AdminOpcode.CREATE_SQ])
        number = random.choice([0, QUEUES + 1, *bench.sqs, random.randint(1, QUEUES)])
        entries = random.choice([1, ENTRIES + 1, 4])
        base = random.choice([bench.page, bench.page + 512])
        partner = random.choice([0, QUEUES + 1, *bench.cqs, random.randint(1, QUEUES)])
        await bench.admin(
            opcode, (base, 0), d10=(entries - 1) << 16 | number,
            d11=partner << 16 | (base == bench.page and 2 <= entries <= ENTRIES) * 0,
        )  # fmt: skip
        await bench.admin(AdminOpcode.DELETE_CQ, d10=random.choice([0, QUEUES + 1, *bench.cqs]))
    assert await bench.admin(AdminOpcode.DELETE_SQ, d10=random.choice([0, QUEUES + 1]))


async def submit_some(bench: Bench, numbers: list[int], left: int) -> int:
    """Commands in any queue with room; how many."""
    sq = bench.sqs[random.choice(numbers)]
    count = min(bench.room(sq), left, random.randint(1, 4), len(bench.free) // 24)
    if count <= 0:
        return 0
    await bench.submit(sq, *(bench.any_command(sq.number) for _ in range(count)))
    return count


@cocotb.test()
@cocotb.parametrize((("exponent", "busy", "latency"), [(0, 0.7, 20), (1, 1, 50)]))
async def commands_pass_from_doorbell_to_interrupt(dut, exponent, busy, latency):
    bench = Bench(dut, busy, latency)
    await bench.start()
    await bench.enable_vectors()
    await bench.enable(exponent, random.randint(3, 8))
    page = bench.take_page()
    assert not await bench.admin(AdminOpcode.GET_LOG_PAGE, (page, 0))
    assert not await bench.admin(AdminOpcode.SET_FEATURES, (page, 0))
    assert await bench.admin(AdminOpcode.KEEP_ALIVE) == Status.INVALID_OPCODE
    numbers = await open_queues(bench, 4)
    await wrong_changes(bench, 3)
    left = COMMANDS
    for _ in range(20_000):
        if left and random.random() < 0.3:
            left -= await submit_some(bench, numbers, left)
        for cq in list(bench.cqs.values()):
            await bench.poll(cq)
        if not left and not bench.open:
            break
        await RisingEdge(dut.clk)
    assert not bench.open, f"{len(bench.open)} commands have no completion"
    await bench.settle()
    bench.compare()
    assert all(bench.executor.moved.values()) and len(set(bench.found.values())) > 1
    # The message of a vector is behind the entries that it tells of.
    for vector in range(QUEUES + 1):
        mine = [cq for cq in bench.cqs.values() if cq.partner == vector and cq.interrupts and cq.place]
        places = [number for number, one in enumerate(bench.host.log)
                  if one["length"] == 1 and one["address"] == MESSAGES + Vector.BYTES * vector]  # fmt: skip
        assert bool(mine) == bool(places), f"vector {vector}"
        for cq in mine:
            ends = cq.base, cq.base + 16 * cq.entries
            posted = [number for number, one in enumerate(bench.host.log)
                      if one["write"] and ends[0] <= one["address"] < ends[1]]  # fmt: skip
            assert len(posted) == cq.place and posted[-1] < places[-1]
    assert all(data == (address - MESSAGES) // Vector.BYTES for address, data in bench.host.messages)
    # Queues are deleted with commands that wait, and their doorbells are wrong then.
    number = random.choice(numbers)
    bench.executor.held = True
    await submit_some(bench, [number], 3)
    cocotb.start_soon(_let_go(bench))
    assert not await bench.admin(AdminOpcode.DELETE_SQ, d10=number)
    assert not bench.executor.under_way
    await bench.poll(bench.cqs[bench.sqs[number].partner])
    fetched = len(bench.executor.commands.items)
    await bench.ring(number, False, bench.sqs[number].place % bench.sqs[number].entries ^ 1)
    await bench.settle(400)
    assert len(bench.executor.commands.items) == fetched
    assert bench.firmware.wrong == MailboxState.WRONG_QUEUE
    bench.compare()


async def _let_go(bench: Bench) -> None:
    """Answers are held until the queue's end has waited for them."""
    await bench.settle(1500)
    assert all(queue for queue, _ in bench.results), "the queue has ended before its commands"
    bench.executor.held = False


@cocotb.test()
@cocotb.parametrize((("busy", "latency"), [(0.7, 10), (1, 60)]))
async def a_reset_ends_what_was_begun(dut, busy, latency):
    """Commands are in all places when the controller is disabled; the memory does not change afterwards."""
    bench = Bench(dut, busy, latency)
    await bench.start()
    for exponent in (0, 1, 0, 2):
        await bench.enable(exponent)
        numbers = await open_queues(bench, 2)
        await bench.submit(bench.sqs[0], entry(AdminOpcode.ASYNC_EVENT_REQUEST, bench.new_cid()))
        for _ in range(6):
            await submit_some(bench, numbers, 8)
        page = bench.take_page()
        await bench.submit(bench.sqs[0], entry(AdminOpcode.GET_LOG_PAGE, bench.new_cid(), (page, 0)))
        bench.executor.held = True
        # Pieces wait in the walker.
        bench.executor.pieces.busy = random.choice([0, busy])
        for _ in range(random.randrange(400)):
            await RisingEdge(dut.clk)
        # CC.MPS changes with CC.EN, and not that of the commands under way.
        await bench.write(Property.CONFIGURATION, Configuration.page_exponent.put(random.randrange(5)))
        await bench.settle(300)
        waits = bench.executor.under_way
        ready = await bench.read(Property.STATUS)
        assert ready == (Ready.READY if waits else ready)
        bench.executor.held, bench.executor.pieces.busy = False, busy
        await bench.status(0)
        assert not bench.executor.under_way and dut.running.value == 0
        for cq in bench.cqs.values():
            await bench.poll(cq, release=False)
        bench.compare()
        requests = len(bench.host.log)
        for number in (0, *numbers):
            await bench.ring(number, False, 1)
        bench.firmware.stalled = True
        await bench.settle(100)
        bench.firmware.write(Mailbox.ADDRESS, page)
        bench.firmware.write(Mailbox.BURST, MailboxBurst.write.put(1))
        assert await bench.firmware.rest() & MailboxState.FAILED
        bench.firmware.stalled = False
        await bench.settle()
        assert len(bench.host.log) == requests and bench.host.quiet, "it touches memory while it is disabled"
        bench.compare()


@cocotb.test()
async def a_new_page_size_is_not_that_of_commands_under_way(dut):
    """The host changes CC.MPS as it disables the controller, and the pieces of a list have not been taken."""
    bench = Bench(dut)
    await bench.start()
    await bench.enable()
    await bench.create(1, 8, None)
    bench.executor.pieces.busy = 0
    await bench.submit(bench.sqs[1], bench.command(1, Opcode.READ, MOST_BYTES // BLOCK_BYTES))
    await bench.until(lambda: bench.executor.commands.items, "the command")
    await bench.write(Property.CONFIGURATION, Configuration.page_exponent.put(4))
    await bench.settle()
    bench.executor.pieces.busy = 1
    await bench.status(0)
    assert not bench.executor.under_way
    bench.compare()


@cocotb.test()
async def the_function_comes_to_rest_once(dut):
    """The controller is disabled at each time of a fetch, and its entry is dropped or was not read."""
    bench = Bench(dut)
    await bench.start()
    bench.firmware.stalled = True
    for delay in range(24):
        await bench.enable()
        await bench.submit(bench.sqs[0], entry(AdminOpcode.KEEP_ALIVE, bench.new_cid()))
        for _ in range(delay):
            await RisingEdge(dut.clk)
        await bench.write(Property.CONFIGURATION, 0)
        await bench.until(lambda: dut.running.value == 0, "rest", 200)
        for _ in range(40):
            await RisingEdge(dut.clk)
            assert dut.running.value == 0, f"it goes on after its rest, {delay} cycles after the doorbell"
        assert await bench.read(Property.STATUS) == 0


@cocotb.test()
async def the_end_is_recorded_by_the_firmware(dut):
    bench = Bench(dut)
    await bench.start()
    await bench.enable()
    await bench.write(Property.CONFIGURATION, ENABLED | Configuration.shutdown.put(1))
    await bench.status(Ready.READY | Ready.SHUTDOWN_DONE)


@cocotb.test()
async def latencies_are_those_of_the_data_sheet(dut):
    bench = Bench(dut, latency=40)
    await bench.start()
    await bench.enable()
    await bench.create(1, 8, None)
    bench.executor.held = True

    async def cycles_to(begin, end) -> int:
        while not begin():
            await RisingEdge(dut.clk)
        cycles = 0
        while not end():
            await RisingEdge(dut.clk)
            cycles += 1
        return cycles

    def requests() -> bool:
        return dut.requests__valid.value == 1

    found = []
    for queue, raw in (
        (0, entry(AdminOpcode.ASYNC_EVENT_REQUEST, bench.new_cid())),
        (1, bench.command(1, Opcode.FLUSH, 1)),
        (1, bench.command(1, Opcode.WRITE, 1)),
    ):
        await bench.settle(200)
        sq = bench.sqs[queue]
        bench.put(sq.base + 64 * (sq.place % sq.entries), raw)
        bench.open[queue, int.from_bytes(raw[2:4], "little")] = raw
        sq.place += 1
        access = pack(ACCESS, write=1, offset=(DOORBELLS + 8 * queue) // 4, data=sq.place % sq.entries)
        bench.accesses.send(access)
        # The doorbell reaches the engine a cycle after the access.
        found.append(await cycles_to(lambda: dut.accesses__valid.value == 1, requests) - 1)
        if queue:
            beats = [0]

            def ended(beats=beats) -> bool:
                beats[0] += dut.completions__valid.value == 1
                return beats[0] == 8

            found.append(await cycles_to(ended, lambda: dut.commands__valid.value == 1))
    await bench.settle(200)
    bench.executor.held = False
    found.append(await cycles_to(lambda: dut.done__valid.value == 1, requests))
    print(found)
    assert found[0] == ADMIN_LATENCY, found
    assert found[1] in LATENCIES and found[3] in LATENCIES, found
    assert (found[2], found[4]) == COMMAND_LATENCIES, found
    assert found[5] == ANSWER_LATENCY, found
