"""The BAR beside `flashtrain.nvme.pcie.Function`, whose subsystem has no device: accesses and vectors."""

import random
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.configuration import MSIX_CONTROL
from flashtrain.nvme.pcie.msix import ENABLE, FUNCTION_MASK
from flashtrain.rtl.pcie.layouts import Access, Doorbell, Message
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.pcie import DOORBELLS, PENDING, VECTORS, Configuration, Property, Ready, Vector
from tests.rtl.pcie.software_function import SoftwareFunction

QUEUES, ACCESSES = bench_parameters()["queues"], bench_parameters()["accesses"]
SETTLED = 60
"""Cycles after which nothing of an access is under way, but in the host."""
MOST_LATENCY, MOST_GAP = 9, 6
"""Cycles from a vector to its message, and between messages of two vectors."""
ACCESS, DOORBELL, MESSAGE = Access(), Doorbell(), Message()
GOOD = Configuration.enable.put(1) | Configuration.submission_exponent.put(6)


class Bench:
    def __init__(self, dut, busy: float):
        self.dut, self.busy = dut, busy
        self.model = SoftwareFunction(QUEUES)
        self.accesses = StreamSource(dut, "accesses", busy)
        self.answers = StreamSink(dut, "answers", busy)
        self.doorbells = StreamSink(dut, "doorbells", busy)
        self.messages = StreamSink(dut, "messages", busy)
        self.fire = StreamSource(dut, "fire")

    async def start(self) -> None:
        await start(
            self.dut, within=3_000_000, enable_vectors=0, mask_vectors=0, running=0, fail=0, fault=0, ended=0
        )
        cocotb.start_soon(self._surroundings())

    async def _surroundings(self) -> None:
        """Queues run some cycles after they are enabled, and an end is recorded as late."""
        while True:
            for level, follower in (("enabled", "running"), ("shut_down", "ended")):
                wanted = int(getattr(self.dut, level).value)
                if int(getattr(self.dut, follower).value) != wanted and random.random() < 0.2:
                    getattr(self.dut, follower).value = wanted
            await RisingEdge(self.dut.clk)

    async def settle(self) -> None:
        while not self.accesses.empty:
            await RisingEdge(self.dut.clk)
        for _ in range(int(SETTLED / self.busy)):
            await RisingEdge(self.dut.clk)

    async def write(self, offset: int, value: int) -> None:
        self.model.function.write(offset, value, 4)
        self.accesses.send(pack(ACCESS, write=1, offset=offset // 4, data=value))

    async def read(self, offset: int) -> int:
        self.accesses.send(pack(ACCESS, offset=offset // 4))
        return (await self.answers.wait_for(len(self.answers.items) + 1))[-1]

    async def compare(self, offset: int) -> None:
        expected, found = self.model.function.read(offset, 4), await self.read(offset)
        assert found == expected, f"{offset:#x} is {found:#x}, expected {expected:#x}"

    def control(self, value: int) -> None:
        """The host writes the message control of MSI-X."""
        self.model.function.configuration.write(MSIX_CONTROL, value, 2)
        self.dut.enable_vectors.value = value >> 15
        self.dut.mask_vectors.value = value >> 14 & 1


def any_write() -> tuple[int, int]:
    """A dword of the BAR and its new value; those that change something are frequent."""
    value = random.getrandbits(32)
    match random.randrange(6):
        case 0:
            wrong = 1 << random.randrange(32) if random.random() < 0.15 else 0
            shut_down = Configuration.shutdown.put(random.choice([0, 0, 1, 2]))
            exponent = Configuration.page_exponent.put(random.choice([0, 0, 0, 1, 4, 5]))
            return Property.CONFIGURATION, (GOOD | shut_down | exponent) ^ wrong ^ random.choice([0, 0, 0, 1])
        case 1:
            bases = (Property.ADMIN_SUBMISSIONS, Property.ADMIN_COMPLETIONS)
            return random.choice(bases) + random.choice([0, 4]), value & random.choice(
                [-1, 0xFFFF_0000, 0xFFFF_0000]
            )
        case 2:
            value &= random.choice([-1, -1, -1, 0xFFFF_F000])
            return random.choice([Property.ADMIN_SIZES, Property.MASK_SET, Property.MASK_CLEAR]), value
        case 3:
            return VECTORS + 4 * random.randrange(4 * QUEUES + 8), value & random.choice([-1, -2])
        case 4:
            return DOORBELLS + 4 * random.randrange(2 * QUEUES + 6), value
    return 4 * random.choice([random.randrange(0x20), random.randrange(0x1000)]), value


def any_read() -> int:
    pending, table = PENDING + 4 * random.randrange(4), VECTORS + 4 * random.randrange(4 * QUEUES + 8)
    anything = 4 * random.choice([random.randrange(0x20), random.randrange(0x1000)])
    return random.choice([Property.CONFIGURATION, Property.STATUS, pending, table, anything])


async def enable(bench: Bench) -> None:
    """Enable the controller, whatever its state, and wait until it is ready."""
    await bench.write(Property.CONFIGURATION, 0)
    await bench.settle()
    for offset in (Property.ADMIN_SUBMISSIONS, Property.ADMIN_COMPLETIONS):
        await bench.write(offset, 0x1_0000)
    await bench.write(Property.ADMIN_SIZES, 0x001F_001F)
    await bench.write(Property.CONFIGURATION, GOOD)
    await bench.settle()
    assert await bench.read(Property.STATUS) == Ready.READY


@cocotb.test()
async def accesses_are_those_of_the_software(dut):
    bench = Bench(dut, busy=0.7)
    await bench.start()
    # All vectors have an address and data, so that no two messages are the same. Most are not masked.
    for vector in range(QUEUES + 1):
        for place, value in ((0, 0xFEE0_0000), (1, vector), (2, 0x40 + vector), (3, vector % 4 == 3)):
            await bench.write(VECTORS + Vector.BYTES * vector + 4 * place, value)
    for _ in range(ACCESSES):
        if random.random() < 0.1:
            bench.control(random.choice([0, ENABLE, ENABLE, ENABLE | FUNCTION_MASK]))
            await bench.settle()
        if random.random() < 0.2:
            vector = random.randrange(QUEUES + 1)
            bench.model.function.msix.fire(vector)
            bench.fire.send(vector)
            await bench.settle()
        if random.random() < 0.05:
            await enable(bench)
        offset, value = any_write()
        await bench.write(offset, value)
        if offset == Property.CONFIGURATION or VECTORS <= offset < PENDING:
            await bench.settle()
        await bench.compare(any_read())
    await bench.settle()
    for offset in (*Property, *(PENDING + 4 * word for word in range(4))):
        await bench.compare(offset)
    for vector in range(4 * QUEUES + 8):
        await bench.compare(VECTORS + 4 * vector)
    doorbells = [unpack(DOORBELL, bits) for bits in bench.doorbells.items]
    assert [tuple(one.values()) for one in doorbells] == [
        (completions, queue, value) for queue, completions, value in bench.model.doorbells
    ]
    messages = [unpack(MESSAGE, bits) for bits in bench.messages.items]
    assert sorted(tuple(one.values()) for one in messages) == sorted(bench.model.messages)
    assert len(doorbells) > ACCESSES / 100 and len(messages) > ACCESSES / 100, "too few to tell"


@cocotb.test()
async def errors_stop_the_controller_until_it_is_disabled(dut):
    bench = Bench(dut, busy=1)
    await bench.start()
    await enable(bench)
    dut.fail.value = 1
    await RisingEdge(dut.clk)
    dut.fail.value = 0
    await bench.settle()
    assert dut.enabled.value == 0
    assert await bench.read(Property.STATUS) == Ready.READY | Ready.FATAL
    await bench.write(Property.CONFIGURATION, GOOD & ~1)
    await bench.settle()
    assert await bench.read(Property.STATUS) == 0
    dut.fault.value = 1
    assert await bench.read(Property.STATUS) == Ready.FATAL


@cocotb.test()
async def the_controller_is_enabled_anew_when_its_queues_have_stopped(dut):
    bench = Bench(dut, busy=1)
    await start(dut, enable_vectors=0, mask_vectors=0, running=0, fail=0, fault=0, ended=0)
    for offset in (Property.ADMIN_SUBMISSIONS, Property.ADMIN_COMPLETIONS):
        await bench.write(offset, 0x1_0000)
    await bench.write(Property.ADMIN_SIZES, 0x0001_0001)
    await bench.write(Property.CONFIGURATION, GOOD)
    await bench.settle()
    assert dut.enabled.value == 1 and await bench.read(Property.STATUS) == 0
    dut.running.value = 1
    assert await bench.read(Property.STATUS) == Ready.READY
    await bench.write(Property.CONFIGURATION, GOOD & ~1)
    assert await bench.read(Property.STATUS) == Ready.READY, "not ready while commands are under way"
    await bench.write(Property.CONFIGURATION, GOOD)
    await bench.settle()
    assert dut.enabled.value == 0 and await bench.read(Property.STATUS) == 0
    dut.running.value = 0
    await bench.settle()
    assert dut.enabled.value == 1 and await bench.read(Property.STATUS) == 0
    dut.running.value = 1
    assert await bench.read(Property.STATUS) == Ready.READY


@cocotb.test()
async def messages_come_soon_and_vectors_take_turns(dut):
    bench = Bench(dut, busy=1)
    await bench.start()
    bench.control(ENABLE)
    for vector in range(QUEUES + 1):
        await bench.write(VECTORS + Vector.BYTES * vector + 8, vector)
        await bench.write(VECTORS + Vector.BYTES * vector + 12, 0)
    await bench.settle()
    latencies = []
    for number in range(16):
        vector = random.randrange(QUEUES + 1)
        dut.fire__valid.value, dut.fire__payload.value = 1, vector
        await RisingEdge(dut.clk)
        dut.fire__valid.value = 0
        cycles = 1
        while dut.messages__valid.value != 1:
            await RisingEdge(dut.clk)
            cycles += 1
        latencies.append(cycles)
        await bench.messages.wait_for(number + 1)
        assert unpack(MESSAGE, bench.messages.items[-1])["data"] == vector
        await bench.settle()
    assert max(latencies) <= MOST_LATENCY, latencies
    # While masked, each vector fires twice; then all messages come, one of each, in turn.
    bench.control(ENABLE | FUNCTION_MASK)
    await bench.settle()
    bench.fire.send(*(2 * list(range(QUEUES + 1))))
    for _ in range(4 * QUEUES):
        await RisingEdge(dut.clk)
    before = len(bench.messages.items)
    dut.mask_vectors.value = 0
    for _ in range(10 * QUEUES + 60):
        await RisingEdge(dut.clk)
    order = [unpack(MESSAGE, bits)["data"] for bits in bench.messages.items[before:]]
    assert sorted(order) == list(range(QUEUES + 1))
    gaps = [second - first for first, second in pairwise(bench.messages.cycles[before:])]
    assert max(gaps) <= MOST_GAP, gaps
