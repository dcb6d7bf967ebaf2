"""The serial bridge against its model in Python: random requests, damaged frames, AXI accesses, cycles."""

import logging
import random
from collections import deque

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiMaster, AxiResp

from flashtrain.host import RegisterError
from flashtrain.host.serial.frames import Answer, Deframer, Request, framed
from flashtrain.rtl.board.chip_pins import RESET_CYCLES
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import PERIOD_NS, start
from flashtrain.spec import preset
from flashtrain.spec.serial import CHANGES_BYTES, FLAG, MOST_DATA, Flags, Operation, Status
from tests.host.serial.bridge_model import BridgeModel
from tests.rtl.board.bridge_top import BUFFER_BYTES, DIVISOR

REQUESTS = bench_parameters()["requests"]
BIT_NS = DIVISOR * PERIOD_NS
BYTE_CYCLES = 10 * DIVISOR
OVERHEAD = 7
"""Cycles of a request beside its access."""
REFUSED_FROM = 0x1800
"""Registers from here on are answered with SLVERR."""


class Device:
    """What the model of the bridge stands in front of: memory and registers of the bench."""

    config = preset("tiny")

    def __init__(self) -> None:
        self.memory = np.zeros(BUFFER_BYTES, np.uint8)
        self.registers: dict[int, int] = {}
        self.irq = False

    def read_register(self, address: int) -> int:
        if address >= REFUSED_FROM:
            raise RegisterError("refused")
        return self.registers.get(address, address * 0x10001)

    def write_register(self, address: int, value: int) -> None:
        if address >= REFUSED_FROM:
            raise RegisterError("refused")
        self.registers[address] = value

    def wait(self, cycles: int) -> bool:
        return self.irq

    def run(self, cycles: int) -> None:
        """The bench has the time."""


class Line:
    """The host's end of the line."""

    def __init__(self, dut):
        self.dut = dut
        self.deframer = Deframer()
        self.answers: deque[Answer] = deque()
        self.began = 0.0
        dut.line_in.value = 1
        cocotb.start_soon(self._listen())

    async def send(self, content: bytes, stop: int = 1) -> None:
        await FallingEdge(self.dut.clk)  # no bit changes with a clock edge
        for byte in content:
            for bit in (0, *(byte >> number & 1 for number in range(8)), stop):
                self.dut.line_in.value = bit
                await Timer(BIT_NS, "ns")
            self.dut.line_in.value = 1

    async def answer(self, within: int = 60_000) -> Answer | None:
        """The next answer; None if there is none within so many cycles."""
        for _ in range(within // BYTE_CYCLES):
            if self.answers:
                return self.answers.popleft()
            await Timer(BYTE_CYCLES * PERIOD_NS, "ns")
        return None

    async def _listen(self) -> None:
        while True:
            await FallingEdge(self.dut.line_out)
            self.began = self.began or now()
            await Timer(BIT_NS // 2, "ns")
            byte = 0
            for number in range(8):
                await Timer(BIT_NS, "ns")
                byte |= int(self.dut.line_out.value) << number
            await Timer(BIT_NS, "ns")
            assert self.dut.line_out.value == 1, "no stop bit"
            for content in self.deframer.feed(bytes([byte])):
                answer = Answer.of(content)
                assert answer is not None
                self.answers.append(answer)


def now() -> float:
    """Cycles since the simulation began. Levels of the line change in the middle of one."""
    return cocotb.utils.get_sim_time("ns") / PERIOD_NS


class Registers:
    """Answers the bridge's accesses as `Device` does, after random cycles unless `at_once`."""

    def __init__(self, dut, device: Device, at_once: bool = False):
        self.pins = {
            name: getattr(dut, f"registers__{name}")
            for name in (
                "awaddr awvalid awready wdata wstrb wvalid wready bresp bvalid bready "
                "araddr arvalid arready rdata rresp rvalid rready"
            ).split()
        }
        self.dut, self.device, self.at_once = dut, device, at_once
        for name in ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rresp", "rdata"):
            self.pins[name].value = 0
        cocotb.start_soon(self._write())
        cocotb.start_soon(self._read())

    async def _taken(self, valid: str, ready: str, *values: str) -> list[int]:
        """The values of a channel, which is accepted after random cycles."""
        while True:
            offered = self.at_once or random.random() < 0.4
            self.pins[ready].value = int(offered)
            await RisingEdge(self.dut.clk)
            if offered and self.pins[valid].value == 1:
                taken = [int(self.pins[name].value) for name in values]
                self.pins[ready].value = 0
                return taken

    async def _given(self, valid: str, ready: str, **values: int) -> None:
        self.pins[valid].value = 1
        for name, value in values.items():
            self.pins[name].value = value
        while True:
            await RisingEdge(self.dut.clk)
            if self.pins[ready].value == 1:
                break
        self.pins[valid].value = 0

    async def _write(self) -> None:
        while True:
            address = cocotb.start_soon(self._taken("awvalid", "awready", "awaddr"))
            data = cocotb.start_soon(self._taken("wvalid", "wready", "wdata", "wstrb"))
            (where,), (value, strobe) = await address, await data
            assert strobe == 0b1111
            try:
                self.device.write_register(where, value)
                response = 0
            except RegisterError:
                response = 2
            await self._given("bvalid", "bready", bresp=response)

    async def _read(self) -> None:
        while True:
            (where,) = await self._taken("arvalid", "arready", "araddr")
            try:
                value, response = self.device.read_register(where), 0
            except RegisterError:
                value, response = 0, 2
            await self._given("rvalid", "rready", rdata=value, rresp=response)


class Bench:
    """The bridge, its model, and masters on the AXI ports of the tensor buffer."""

    def __init__(self, dut, at_once: bool = False):
        self.dut, self.line = dut, Line(dut)
        self.device, self.reference = Device(), Device()
        self.registers = Registers(dut, self.device, at_once)
        self.model = BridgeModel(self.reference)
        self.axi = {}
        for port in ("data", "queue"):
            self.axi[port] = master = AxiMaster(AxiBus.from_prefix(dut, f"{port}_"), dut.clk, dut.rst)
            for side in (master.write_if, master.read_if):
                side.log.setLevel(logging.ERROR)

    async def ask(self, request: Request) -> Answer:
        """The bridge's answer, which is that of the model but for the cycle."""
        expected = self.model.answer(request.content)
        await self.line.send(request.frame())
        answer = await self.line.answer()
        assert answer is not None, f"no answer to {request}"
        assert answer.cycles < now()
        if request.operation is Operation.OPEN and answer.status is Status.DONE:
            assert answer.data[:4] == b"FTSB" and int.from_bytes(answer.data[8:12], "little") == BUFFER_BYTES
            data = expected.data
        else:
            data = answer.data
        got = (answer.operation, answer.sequence, answer.status, answer.flags, data)
        want = (expected.operation, expected.sequence, expected.status, expected.flags, expected.data)
        assert got == want, request
        return answer

    async def access(self) -> None:
        """A random burst of a random AXI port, and the same in the model."""
        master = self.axi[random.choice(("data", "queue"))]
        size = 8 * random.randrange(1, 20)
        address = 8 * random.randrange((BUFFER_BYTES - size) // 8)
        if random.random() < 0.3:
            read = await master.read(address, size)
            assert (
                read.resp == AxiResp.OKAY
                and read.data == self.reference.memory[address : address + size].tobytes()
            )
        else:
            written = random.randbytes(size)
            assert (await master.write(address, written)).resp == AxiResp.OKAY
            self.reference.memory[address : address + size] = np.frombuffer(written, np.uint8)
            self.model.touch(address, size)


def some_request(sequence: int) -> Request:
    """Mostly valid, else with an address, a length or data that are not."""
    operation = random.choices(list(Operation), (1, 4, 4, 4, 4, 3, 4))[0]
    words = random.choice((1, 2, random.randrange(1, 65), random.randrange(1, 1025)))
    address = 8 * random.randrange(BUFFER_BYTES // 8)
    data = b""
    match operation:
        case Operation.OPEN:
            words = address = 0
        case Operation.READ | Operation.WRITE:
            words, address = 0, 4 * random.randrange(0x2000 // 4)
            data = random.randbytes(4) if operation is Operation.WRITE else b""
        case Operation.STORE:
            words = min(words, random.choice((64, 65)))
            data = random.choice((random.randbytes(8 * words), b"\x7e\x7d" * (4 * words)))
        case Operation.FILL:
            data = random.randbytes(8)
        case Operation.CHANGES:
            words, address = random.choice((512, 1024, 512, 8)), random.choice((0, 0, CHANGES_BYTES))
    if random.random() < 0.15:
        match random.randrange(4):
            case 0:
                address = address ^ random.choice((1, 4, 1 << 20, 1 << 31))
            case 1:
                words = random.choice((0, 1, 0xFFFF))
            case 2:
                data += random.randbytes(random.choice((1, 8, MOST_DATA + 40)))
            case 3:
                data = data[:-1]
    return Request(operation, sequence, words, address, data)


@cocotb.test()
async def answers_as_the_model_does(dut):
    bench = Bench(dut)
    await start(dut, within=8_000_000, irq=0, locked=1)
    sequence = random.randrange(256)
    for _ in range(REQUESTS):
        request = some_request(sequence)
        irq = random.random() < 0.5
        dut.irq.value, bench.reference.irq = int(irq), irq
        await bench.ask(request)
        while random.random() < 0.3:  # as if the answer had been lost
            await bench.ask(request)
        while random.random() < 0.5:
            await bench.access()
        sequence = (sequence + 1) % 256
    assert bench.device.registers == bench.reference.registers


@cocotb.test()
async def a_damaged_frame_is_not_performed(dut):
    """Frames that are cut, changed or interrupted have no answer, and the next whole one has."""
    bench = Bench(dut)
    await start(dut, within=8_000_000, irq=0, locked=1)
    await bench.ask(Request(Operation.STORE, 0, 2, 64, bytes(range(16))))
    for number in range(REQUESTS // 3):
        frame = bytearray(Request(Operation.FILL, number, 8, 64, random.randbytes(8)).frame())
        match random.randrange(5):
            case 0:
                frame = frame[: random.randrange(1, len(frame) - 1)]
            case 1:
                frame[random.randrange(1, len(frame) - 1)] ^= 1 << random.randrange(8)
                frame = bytearray(
                    byte if 0 < place < len(frame) - 1 else FLAG for place, byte in enumerate(frame)
                )
            case 2:
                frame = bytearray(random.randbytes(random.randrange(1, 60)))
            case 3:
                frame = bytearray(framed(random.randbytes(random.randrange(8))))
            case 4:
                # A byte without its stop bit, in a frame that goes on.
                middle = random.randrange(1, len(frame) - 1)
                await bench.line.send(bytes(frame[:middle]))
                await bench.line.send(b"\x00", stop=0)
                await Timer(2 * BIT_NS, "ns")
                frame = frame[middle + 1 :]
        await bench.line.send(bytes(frame))
        assert await bench.line.answer(200) is None
        answer = await bench.ask(Request(Operation.LOAD, number, 2, 64))
        assert answer.data == bytes(range(16))


@cocotb.test()
async def a_byte_without_its_stop_bit_is_none(dut):
    """The frame around it is whole, and is performed."""
    bench = Bench(dut)
    await start(dut, within=400_000, irq=0, locked=1)
    content = random.randbytes(16)
    await bench.ask(Request(Operation.STORE, 0, 2, 64, content))
    for number in range(4):
        frame = Request(Operation.LOAD, number, 2, 64).frame()
        middle = random.randrange(1, len(frame) - 1)
        await bench.line.send(frame[:middle])
        await bench.line.send(random.randbytes(1), stop=0)
        await Timer(2 * BIT_NS, "ns")
        await bench.line.send(frame[middle:])
        answer = await bench.line.answer()
        assert answer is not None and answer.data == content


@cocotb.test()
async def bytes_behind_a_request_are_dropped(dut):
    """A second request, without a pause, is lost or answered whole: never taken in part."""
    bench = Bench(dut)
    await start(dut, within=8_000_000, irq=0, locked=1)
    for number in range(REQUESTS // 4):
        first = Request(Operation.LOAD, 2 * number % 256, random.choice((1, 4)), 0)
        second = Request(Operation.WRITE, (2 * number + 1) % 256, 0, 4, random.randbytes(4))
        behind = second.frame()[random.randrange(2) :]
        await bench.line.send(first.frame() + behind)
        answers = []
        while (answer := await bench.line.answer(4_000 if not answers else 1_500)) is not None:
            answers.append((answer.operation, answer.sequence))
        assert answers in (
            [(first.operation, first.sequence)],
            [(first.operation, first.sequence), (second.operation, second.sequence)],
        )
        assert set(bench.device.registers) <= {4}


@cocotb.test()
async def bursts_beyond_the_memory_are_refused(dut):
    bench = Bench(dut)
    await start(dut, within=400_000, irq=0, locked=1)
    for master in bench.axi.values():
        assert (await master.write(BUFFER_BYTES, bytes(16))).resp == AxiResp.SLVERR
        assert (await master.read(BUFFER_BYTES, 16)).resp == AxiResp.SLVERR
    assert (await bench.ask(Request(Operation.LOAD, 1, 2, 0))).data == bytes(16)


@cocotb.test()
async def chips_are_protected_without_a_clock(dut):
    """From power-on, and from each loss of the clock, to the end of the reset and a cycle more."""
    await start(dut, within=400_000, irq=0, line_in=1, locked=0)
    for _ in range(6):
        for _ in range(random.randrange(30, 60)):
            await RisingEdge(dut.clk)
        assert (dut.reset.value, dut.wp_n.value) == (1, 0)
        dut.locked.value = 1
        levels = []
        for _ in range(RESET_CYCLES + 8):
            await RisingEdge(dut.clk)
            levels.append((int(dut.reset.value), int(dut.wp_n.value)))
        in_reset = levels.count((1, 0))
        assert in_reset >= RESET_CYCLES
        assert levels == [(1, 0)] * in_reset + [(0, 0)] + [(0, 1)] * (len(levels) - in_reset - 1)
        # As short as the synchroniser sees it.
        dut.locked.value = 0
        for _ in range(random.choice((1, 2, 20))):
            await RisingEdge(dut.clk)
        dut.locked.value = 1
        for _ in range(4):
            await RisingEdge(dut.clk)
        assert (dut.reset.value, dut.wp_n.value) == (1, 0)
        dut.locked.value = 0


@cocotb.test()
async def refusals_of_registers_are_answered(dut):
    bench = Bench(dut)
    await start(dut, within=400_000, irq=0, locked=1)
    for number, address in enumerate((0, REFUSED_FROM, 4, REFUSED_FROM + 4)):
        for operation, data in ((Operation.WRITE, bytes(4)), (Operation.READ, b"")):
            answer = await bench.ask(Request(operation, number, 0, address, data))
            assert (answer.status is Status.REFUSED) == (address >= REFUSED_FROM)


@cocotb.test()
async def takes_the_documented_cycles(dut):
    """From the middle of a request's last stop bit to the first start bit of its answer."""
    bench = Bench(dut, at_once=True)
    await start(dut, within=400_000, irq=0, locked=1)
    wrong = 0
    access = {
        Request(Operation.LOAD, 1, 1, 0): 4,
        Request(Operation.LOAD, 2, 3, 0): 12,
        Request(Operation.STORE, 3, 4, 0, bytes(32)): 7,
        Request(Operation.FILL, 4, 100, 0, bytes(8)): 100,
        Request(Operation.CHANGES, 5, 512, 0): 257,
    }
    for request, cycles in access.items():
        bench.line.began = 0
        frame = request.frame()
        await bench.line.send(frame[:-1])
        begun = now()
        await bench.line.send(frame[-1:])
        answer = await bench.line.answer()
        assert answer is not None and answer.status is Status.DONE
        # The stop bit is seen in its middle.
        taken = int(bench.line.began - begun - 9 * DIVISOR - DIVISOR // 2)
        dut._log.info("%s: %d cycles, %d of them the access", request.operation.name, taken, cycles)
        wrong += taken != OVERHEAD + cycles
    assert not wrong
    assert Flags.CHANGED not in answer.flags
