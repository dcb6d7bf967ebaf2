"""The host of a function, with its memory, its queues, and what it expects, in tests."""

import random
import struct
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.configuration import MSIX_CONTROL
from flashtrain.nvme.pcie.memory import Span, Unreachable
from flashtrain.nvme.pcie.msix import ENABLE
from flashtrain.nvme.pcie.prp import spans
from flashtrain.nvme.pcie.sgl import sgl_spans
from flashtrain.nvme.subsystem.io_commands import Refusal
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start
from flashtrain.spec import Opcode, Status
from flashtrain.spec.pcie import (
    DOORBELLS,
    PRP_BYTES,
    VECTORS,
    Configuration,
    Property,
    Ready,
    Vector,
    most_blocks,
)
from tests.nvme.pcie.sgl_lists import FAULTS, Sgl, blocks_of
from tests.rtl.pcie.function_executor import MOST_BYTES, OF_BLOCKS, TLP, Executor
from tests.rtl.pcie.function_firmware import ACCESS, ENTRIES, QUEUE_OPCODES, QUEUES, SMALLEST_PAGE, Firmware
from tests.rtl.pcie.host_memory import TlpHost
from tests.rtl.pcie.software_function import SoftwareFunction

BLOCK_BYTES = bench_parameters()["block_bytes"]
MEMORY_BYTES = 4 << 20
ENABLED = (
    Configuration.enable.put(1)
    | Configuration.submission_exponent.put(6)
    | Configuration.completion_exponent.put(4)
)
MESSAGES = 0xFEE0_0000
WITHIN = 150_000
"""Cycles of a test."""


def entry(opcode: int, cid: int, prps: tuple[int, int] = (0, 0), flags: int = 0, **dwords: int) -> bytes:
    """A submission entry; `dwords` are d10 to d15."""
    words = [dwords.get(f"d{number}", 0) for number in range(10, 16)]
    return struct.pack("<BBHIQQQQ6I", opcode, flags, cid, 1, 0, 0, *prps, *words)


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
        self.accesses, self.answers = StreamSource(dut, "accesses", busy), StreamSink(dut, "answers", busy)
        self.software = SoftwareFunction(QUEUES, ENTRIES)
        self.host = self.new_host(latency)
        self.host.memory[:] = random.randbytes(MEMORY_BYTES)
        self.expected = bytearray(self.host.memory)
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
        self.executor = self.new_executor()
        self.firmware = Firmware(self)

    def new_host(self, latency: int):
        return TlpHost(self.dut, MEMORY_BYTES, TLP, self.busy, latency, dwords=True)

    def new_executor(self):
        return Executor(self)

    async def start(self) -> None:
        await start(self.dut, within=WITHIN, enable_vectors=0, mask_vectors=0, fault=0)
        workers = self.executor.run(), self.executor.answer(), self.firmware.run()
        self.tasks = [cocotb.start_soon(worker) for worker in workers]

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
            self.judge(key, status, result)
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

    def judge(self, key: tuple[int, int], status: int, result: int) -> None:
        """Firmware or executor have given this answer."""
        assert self.results.pop(key) == (status, result), f"{key} was answered otherwise"

    async def admin(self, opcode: int, prps: tuple[int, int] = (0, 0), **dwords: int) -> int:
        """The status of an admin command; of one about queues it is that of the software."""
        raw, sq = entry(opcode, self.new_cid(), prps, **dwords), self.sqs[0]
        key = 0, int.from_bytes(raw[2:4], "little")
        if opcode in QUEUE_OPCODES:
            self.expected_status[key] = self.software.change_queues(raw)
        await self.submit(sq, raw)
        await self.until(lambda: key in self.results, f"the answer to {opcode:#x}")
        for _ in range(5000):
            await RisingEdge(self.dut.clk)
            if await self.poll(self.cqs[0]) and key in self.found:
                return self.found.pop(key)
        raise AssertionError(f"no completion of {opcode:#x}")

    async def create(
        self, number: int, sq_entries: int, cq: Ring | None, interrupts: bool = True, *,
        vector: int | None = None, cq_entries: int | None = None,
    ) -> None:  # fmt: skip
        """Make a submission queue, and its completion queue unless there is one for it."""
        if cq is None:
            vector = random.randrange(QUEUES + 1) if vector is None else vector
            cq_entries = cq_entries or random.randint(2, ENTRIES)
            cq = Ring(number, self.take_page(), cq_entries, vector, interrupts)
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
        opcode = random.choice([*OF_BLOCKS, *OF_BLOCKS, *Opcode])
        flags = random.choice([0x40, 0x80]) if random.random() < 0.3 else 0
        if random.random() < 0.03:
            flags = 0xC0
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
        prps, pages = (random.getrandbits(64), 0), []
        if length:
            prps, pages = (self.sgl if flags else self.pointer)(length, faulty)
        status: int = Status.SUCCESS
        try:
            self.spans[number, cid] = self.spans_of(prps, length, flags)
        except Refusal as refusal:
            status = int(refusal.status)
        if not length and (opcode in OF_BLOCKS or opcode == Opcode.ZONE_MANAGEMENT_RECEIVE):
            status = Status.INVALID_FIELD
        key = number, cid
        self.expected_status[key], self.used[key] = status, pages
        return entry(opcode, cid, prps, flags, d10=random.getrandbits(32), d12=count - 1)

    @staticmethod
    def length_of(opcode: int, flags: int, count: int) -> int:
        size = {Opcode.ZONE_MANAGEMENT_RECEIVE: 4, **dict.fromkeys(OF_BLOCKS, BLOCK_BYTES)}.get(opcode, 0)
        length = count * size
        return length if length <= MOST_BYTES and flags != 0xC0 else 0

    def spans_of(self, words: tuple[int, int], length: int, flags: int) -> list[Span]:
        """What lies side by side is one span."""
        found: list[Span] = []
        for one in (
            sgl_spans(self, *words, length, MOST_BYTES) if flags else spans(self, *words, length, self.page)
        ):
            if found and found[-1].address + found[-1].length == one.address:
                one = Span(found[-1].address, found.pop().length + one.length)
            found.append(one)
        return found

    def sgl(self, length: int, faulty: bool) -> tuple[tuple[int, int], list[int]]:
        """The descriptor of an SGL, perhaps with a fault; the pages that it uses."""
        page, pages, most = self.page, [], most_blocks(MOST_BYTES)

        def new(size: int) -> int:
            pages.append(self.take_page())
            return pages[-1] + 8 * random.randint(0, (page - size) // 8)

        blocks = blocks_of(random, length, most, new, page)
        found = Sgl(random, blocks, lambda place, one: self.put(place, one.to_bytes(16, "little")), new)
        if faulty:
            found.spoil(random.choice(FAULTS), MEMORY_BYTES, most)
        return found.write(), pages

    def pointer(self, length: int, faulty: bool) -> tuple[tuple[int, int], list[int]]:
        """PRPs with random offsets, perhaps with a fault; the pages that they use."""
        page, pages = self.page, []

        def new() -> int:
            pages.append(self.take_page())
            return pages[-1]

        first = new() + random.choice([0, 4 * random.randrange(page // 4)])
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
