"""The whole function below cocotbext-pcie's root complex: each access, request and completion is a TLP."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.configuration import COMMAND, MASTER, MSIX_CONTROL
from flashtrain.nvme.pcie.msix import ENABLE
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack, unpack
from flashtrain.spec import Opcode, Status
from flashtrain.spec.pcie import BAR_BYTES, PENDING, VECTORS, Property, Ready, Vector
from tests.rtl.pcie.function_bench import open_queues, submit_some
from tests.rtl.pcie.function_executor import MOST_BYTES, TLP, WIDTH
from tests.rtl.pcie.function_firmware import QUEUES
from tests.rtl.pcie.function_host import BLOCK_BYTES, ENABLED, MEMORY_BYTES, Bench, entry
from tests.rtl.pcie.root_complex import RootComplexHost, Wrong

COMMANDS = bench_parameters()["commands"]
BURST, READ_ROW = burst_layout(64), read_beat_layout(8 * WIDTH)
NANOSECONDS = 60
"""Of a read, at least."""


class RootComplexBench(Bench):
    """The host of `function_bench`, whose accesses and memory are those of the root complex."""

    def new_host(self, latency: int):
        return RootComplexHost(
            self.dut, MEMORY_BYTES, TLP, QUEUES + 1, self.accesses, self.answers, self.busy, latency,
            self.software.function.reset_controller,
        )  # fmt: skip

    async def start(self) -> None:
        await super().start()
        await self.host.connect()
        self.bar = self.host.function.bar_addr[0]

    async def write(self, offset: int, value: int) -> None:
        self.software.function.write(offset, value, 4)
        await self.host.complex.mem_write_dword(self.bar + offset, value)

    async def read(self, offset: int) -> int:
        return await self.host.complex.mem_read_dword(self.bar + offset)

    async def enable_vectors(self) -> None:
        assert await self.host.enable_vectors() == QUEUES + 1
        self.software.function.configuration.write(MSIX_CONTROL, ENABLE, 2)

    def pointer(self, length: int, faulty: bool) -> tuple[tuple[int, int], list[int]]:
        """A list that cannot be read has one of the reasons."""
        (first, second), pages = super().pointer(length, faulty)
        if second == MEMORY_BYTES:
            second = random.choice(list(Wrong))
        return (first, second), pages

    async def answer_all(self) -> None:
        """Take completions until no command is open."""
        for _ in range(20_000):
            for cq in list(self.cqs.values()):
                await self.poll(cq)
            if not self.open:
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"{len(self.open)} commands have no completion")


@cocotb.test()
@cocotb.parametrize(busy=[0.7, 1])
async def commands_pass_from_doorbell_to_interrupt(dut, busy):
    bench = RootComplexBench(dut, busy, NANOSECONDS)
    await bench.start()
    assert bench.host.function.bar_size[0] == BAR_BYTES
    await bench.enable_vectors()
    capabilities = await bench.host.complex.mem_read_qword(bench.bar + Property.CAPABILITIES)
    assert capabilities == bench.software.function.read(Property.CAPABILITIES, 8)
    await bench.enable(random.randrange(2), random.randint(3, 8))
    page = bench.take_page()
    assert not await bench.admin(AdminOpcode.GET_LOG_PAGE, (page, 0))
    assert not await bench.admin(AdminOpcode.SET_FEATURES, (page, 0))
    numbers = await open_queues(bench, 3)
    for kind in Wrong:
        raw = bench.command(numbers[0], Opcode.READ, MOST_BYTES // BLOCK_BYTES)
        cid = int.from_bytes(raw[2:4], "little")
        raw = raw[:32] + kind.to_bytes(8, "little") + raw[40:]
        bench.expected_status[numbers[0], cid] = Status.DATA_TRANSFER_ERROR
        await bench.submit(bench.sqs[numbers[0]], raw)
        await bench.answer_all()
    for opcode in (Opcode.READ, Opcode.ZONE_APPEND):  # in each direction one without a fault
        await bench.submit(bench.sqs[numbers[0]], bench.command(numbers[0], opcode, 3))
        await bench.answer_all()
    left = COMMANDS
    while left:
        left -= await submit_some(bench, numbers, left)
        for cq in list(bench.cqs.values()):
            await bench.poll(cq)
        await RisingEdge(dut.clk)
    await bench.answer_all()
    await bench.settle()
    bench.compare()
    assert all(bench.executor.moved.values()) and len(set(bench.found.values())) > 1
    # Each message is behind the entries that it tells of.
    for vector in range(QUEUES + 1):
        mine = [cq for cq in bench.cqs.values() if cq.partner == vector and cq.interrupts and cq.place]
        places = [place for number, place in bench.host.messages if number == vector]
        assert bool(mine) == bool(places), f"vector {vector}"
        for cq in mine:
            ends = cq.base, cq.base + 16 * cq.entries
            posted = [at for at, (address, _) in enumerate(bench.host.complex.written)
                      if ends[0] <= address < ends[1]]  # fmt: skip
            assert len(posted) == cq.place and posted[-1] < places[-1]


@cocotb.test()
async def a_read_that_fails_is_an_error(dut):
    """Rows of data that are missing have `error`, and those of other requests have none."""
    bench = RootComplexBench(dut, latency=NANOSECONDS)
    await bench.start()
    await bench.enable()
    beats, expected = bench.executor.beats, []
    for kind in [*Wrong, *random.choices(list(Wrong), k=4)]:
        for address, fails in ((kind, True), (128 * random.randrange(99), False)):
            bench.executor.asks.send(pack(BURST, address=address, length=31))
            expected.append((address, fails))
    found = [unpack(READ_ROW, bits) for bits in await beats.wait_for(len(expected) * (128 // WIDTH))]
    for number, (address, fails) in enumerate(expected):
        rows = found[number * (128 // WIDTH) : (number + 1) * (128 // WIDTH)]
        assert any(row["error"] for row in rows) == fails, f"{address:#x}"
        if not fails:
            data = b"".join(row["data"].to_bytes(WIDTH, "little") for row in rows)
            assert data == bench.expected[address : address + 128]
    bench.compare()


@cocotb.test()
async def a_queue_that_cannot_be_read_is_fatal(dut):
    bench = RootComplexBench(dut, latency=NANOSECONDS)
    await bench.start()
    for kind in Wrong:
        await bench.enable()
        await bench.write(Property.CONFIGURATION, 0)
        await bench.status(0)
        await bench.write(Property.ADMIN_SUBMISSIONS, kind)
        await bench.write(Property.CONFIGURATION, ENABLED)
        await bench.status(Ready.READY)
        await bench.ring(0, False, 1)
        while (found := await bench.read(Property.STATUS)) == Ready.READY:
            pass
        assert found == Ready.READY | Ready.FATAL
        await bench.write(Property.CONFIGURATION, 0)
        while await bench.read(Property.STATUS):
            pass
    bench.compare()


@cocotb.test()
async def a_function_level_reset_ends_all(dut):
    """Entries, lists, completions and messages are under way, and commands wait for their answer."""
    bench = RootComplexBench(dut, latency=NANOSECONDS)
    await bench.start()
    executor, firmware, software = bench.executor, bench.firmware, bench.software.function
    for _ in range(3):
        await bench.enable_vectors()
        await bench.enable()
        numbers = await open_queues(bench, QUEUES)
        for _ in range(4):
            await submit_some(bench, numbers, 4)
        await bench.answer_all()
        # No command is open, also if some were at the reset before.
        gone = numbers.pop()
        assert not await bench.admin(AdminOpcode.DELETE_SQ, d10=gone)
        firmware.stalled = executor.held = True
        await submit_some(bench, numbers, 4)
        await bench.until(lambda: not firmware.accesses.items and executor.waiting, "a command")
        await bench.until(lambda: executor.seen == len(executor.commands.items), "rest")
        bench.tasks[0].cancel()
        executor.held = False
        await bench.until(lambda: not executor.waiting and executor.done.empty, "answers")
        executor.held = True
        await bench.submit(bench.sqs[0], entry(AdminOpcode.ASYNC_EVENT_REQUEST, bench.new_cid()))
        for _ in range(3):
            await submit_some(bench, numbers, 4)
        for _ in range(random.randrange(100)):
            await RisingEdge(dut.clk)
        await bench.host.reset_function()
        # As the hard block says it to who is behind the function.
        executor.seen, executor.pieces_seen = len(executor.commands.items), len(executor.pieces.items)
        for state in (bench.spans, firmware.sqs, firmware.cqs, firmware.events):
            state.clear()
        bench.tasks[0] = cocotb.start_soon(executor.run())
        firmware.stalled = executor.held = False
        software.configuration.write(COMMAND, MASTER, 2)
        for cq in bench.cqs.values():
            await bench.poll(cq, release=False)
        bench.compare()
        for offset in (Property.CONFIGURATION, Property.STATUS, Property.ADMIN_SIZES, PENDING):
            assert not await bench.read(offset), f"{offset:#x} is not reset"
        for vector in range(QUEUES + 1):
            assert await bench.read(VECTORS + Vector.BYTES * vector + Vector.masked.low // 8)
