"""The bus of the processor of firmware: random accesses of bytes, words, registers and the mailbox."""

import random

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from flashtrain.rtl.pcie.firmware_bus import ATTENTION, MAILBOX, REGISTERS
from flashtrain.rtl.pcie.layouts import Access
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start, unpack

PARAMETERS = bench_parameters()
IMAGE, ACCESSES = bytes.fromhex(PARAMETERS["image"]), PARAMETERS["accesses"]
MEMORY_BYTES = PARAMETERS["memory_bytes"]


class Ports:
    """The mailbox and the registers of a controller as words by their address, slow at random."""

    def __init__(self, dut):
        self.dut, self.layout = dut, Access()
        self.mailbox: dict[int, int] = {}
        self.registers: dict[int, int] = {}
        self.written: list[tuple[str, int, int]] = []
        self.accesses = StreamSink(dut, "firmware", 0.5)
        self.values = StreamSource(dut, "values", 0.5)
        for work in (self._serve_mailbox(), self._serve_writes(), self._serve_reads()):
            cocotb.start_soon(work)

    async def _serve_mailbox(self) -> None:
        seen = 0
        while True:
            await RisingEdge(self.dut.clk)
            for bits in self.accesses.items[seen:]:
                seen += 1
                fields = unpack(self.layout, bits)
                place = 4 * fields["offset"]
                if fields["write"]:
                    self.mailbox[place] = fields["data"]
                    self.written.append(("mailbox", place, fields["data"]))
                else:
                    self.values.send(self.mailbox.get(place, 0))

    async def _handshake(self, valid: str, ready: str) -> None:
        """Take an item of a channel, some cycles after it is there: it stays so long, and no longer."""
        dut = self.dut
        while getattr(dut, valid).value != 1:
            await RisingEdge(dut.clk)
        while random.random() < 0.5:
            await RisingEdge(dut.clk)
        getattr(dut, ready).value = 1
        await RisingEdge(dut.clk)
        assert getattr(dut, valid).value == 1, f"{valid} has fallen before its item was taken"
        getattr(dut, ready).value = 0
        await RisingEdge(dut.clk)
        assert getattr(dut, valid).value == 0, f"{valid} stays behind its item"

    async def _answer(self, valid: str, ready: str) -> None:
        dut = self.dut
        getattr(dut, valid).value = 1
        await RisingEdge(dut.clk)
        while getattr(dut, ready).value != 1:
            await RisingEdge(dut.clk)
        getattr(dut, valid).value = 0

    async def _serve_writes(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            if dut.registers__awvalid.value != 1:
                continue
            address, data = int(dut.registers__awaddr.value), int(dut.registers__wdata.value)
            both = [("registers__awvalid", "registers__awready"), ("registers__wvalid", "registers__wready")]
            random.shuffle(both)
            for valid, ready in both:
                await self._handshake(valid, ready)
            self.registers[address] = data
            self.written.append(("register", address, data))
            await self._answer("registers__bvalid", "registers__bready")

    async def _serve_reads(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            if dut.registers__arvalid.value != 1:
                continue
            address = int(dut.registers__araddr.value)
            await self._handshake("registers__arvalid", "registers__arready")
            dut.registers__rdata.value = self.registers.get(address, 0)
            await self._answer("registers__rvalid", "registers__rready")


async def access(dut, address: int, word: int = 0, strobes: int = 0) -> int:
    dut.valid.value, dut.address.value, dut.word.value, dut.strobes.value = 1, address, word, strobes
    for _ in range(500):
        await ReadOnly()
        found = int(dut.found.value) if dut.ready.value == 1 else None
        await RisingEdge(dut.clk)
        if found is not None:
            break
    else:
        raise AssertionError(f"the access to {address:#x} is not answered")
    dut.valid.value, dut.strobes.value = 0, 0
    while random.random() < 0.4:
        await RisingEdge(dut.clk)
    return found


@cocotb.test()
async def accesses_are_those_of_a_model(dut):
    ports = Ports(dut)
    pins = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")
    quiet = {f"registers__{name}": 0 for name in pins}
    await start(dut, valid=0, address=0, word=0, strobes=0, attention=0, **quiet)
    memory = bytearray(IMAGE.ljust(MEMORY_BYTES, b"\0"))
    for _ in range(ACCESSES):
        kind, word = random.random(), random.getrandbits(32)
        if kind < 0.5:
            place = 4 * random.choice([random.randrange(8), random.randrange(MEMORY_BYTES // 4)])
            strobes = random.choice([0, 0, 15, random.randrange(16)])
            found = await access(dut, place, word, strobes)
            expected = int.from_bytes(memory[place : place + 4], "little")
            assert strobes or found == expected, f"memory at {place:#x} is {found:#x}, expected {expected:#x}"
            for lane in range(4):
                if strobes >> lane & 1:
                    memory[place + lane] = word >> 8 * lane & 0xFF
        elif kind < 0.55:
            value = random.randrange(2)
            dut.attention.value = value
            assert await access(dut, ATTENTION << 28) == value
        else:
            name, base, model = random.choice(
                [("mailbox", MAILBOX, ports.mailbox), ("register", REGISTERS, ports.registers)]
            )
            place, before = 4 * random.randrange(64), len(ports.written)
            expected = model.get(place, 0)
            if random.random() < 0.5:
                await access(dut, base << 28 | place, word, 15)
                while len(ports.written) == before:
                    await RisingEdge(dut.clk)
                assert ports.written[before:] == [(name, place, word)]
            else:
                found = await access(dut, base << 28 | place)
                assert found == expected, f"{name} {place:#x} is {found:#x}, expected {expected:#x}"
                assert len(ports.written) == before
