"""Bursts and messages through the port to a host that completes reads in any order."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.rtl.pcie.layouts import BURST_BEATS, PORT_BYTES, Message
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from tests.rtl.pcie.host_memory import TlpHost

TAGS, BURSTS = bench_parameters()["tags"], bench_parameters()["bursts"]
MEMORY_BYTES = 1 << 14
BURST, READ_BEAT, WRITE_BEAT, MESSAGE = (
    burst_layout(64),
    read_beat_layout(64),
    write_beat_layout(64),
    Message(),
)


class Bench:
    def __init__(self, dut, busy: float = 1, latency: int = 0, spurious: float = 0):
        self.dut = dut
        self.host = TlpHost(dut, MEMORY_BYTES, TAGS, busy, latency, spurious)
        self.reads = StreamSource(dut, "read__ar", busy)
        self.beats = StreamSink(dut, "read__r", busy)
        self.writes = StreamSource(dut, "write__aw", busy)
        self.data = StreamSource(dut, "write__w", busy)
        self.answers = StreamSink(dut, "write__b", busy)
        self.messages = StreamSource(dut, "messages", busy)
        self.host.memory[:] = random.randbytes(MEMORY_BYTES)

    def read(self, address: int, beats: int) -> None:
        self.reads.send(pack(BURST, address=address, length=beats - 1))

    def write(self, address: int, data: bytes) -> None:
        words = [data[at : at + PORT_BYTES] for at in range(0, len(data), PORT_BYTES)]
        self.writes.send(pack(BURST, address=address, length=len(words) - 1))
        for number, word in enumerate(words, 1):
            self.data.send(pack(WRITE_BEAT, data=int.from_bytes(word, "little"), last=number == len(words)))

    async def idle(self) -> None:
        for _ in range(20_000):
            await RisingEdge(self.dut.clk)
            sources = self.reads, self.writes, self.data, self.messages
            if self.dut.idle.value == 1 and self.host.quiet and all(source.empty for source in sources):
                return
        raise AssertionError("it is not idle after 20,000 cycles")


def place(low: int, high: int) -> tuple[int, int]:
    """Address and beats of a burst between two addresses, which crosses no page."""
    address = random.randrange(low, high, PORT_BYTES)
    room = min(high, (address | 4095) + 1) - address
    return address, random.randint(1, min(BURST_BEATS, room // PORT_BYTES))


@cocotb.test()
@cocotb.parametrize((("busy", "latency", "spurious"), [(0.5, 5, 0.1), (0.8, 60, 0.1), (1, 0, 0)]))
async def reads_come_in_order_and_writes_arrive(dut, busy, latency, spurious):
    """Reads are of the lower half of the memory, and writes of the upper one; some reads fail."""
    bench = Bench(dut, busy, latency, spurious)
    await start(dut)
    half = MEMORY_BYTES // 2
    expected, written, messages = [], bytearray(bench.host.memory), []
    for _ in range(BURSTS):
        address, beats = place(0, half)
        if random.random() < 0.1:
            bench.host.faults.add(address)
        bench.read(address, beats)
        expected.append((address, beats))
        address, beats = place(half, MEMORY_BYTES)
        data = random.randbytes(beats * PORT_BYTES)
        written[address : address + len(data)] = data
        bench.write(address, data)
        messages.append((random.getrandbits(62) << 2, random.getrandbits(32)))
        bench.messages.send(pack(MESSAGE, address=messages[-1][0], data=messages[-1][1]))
    await bench.beats.wait_for(sum(beats for _, beats in expected))
    await bench.idle()
    found = iter(unpack(READ_BEAT, bits) for bits in bench.beats.items)
    for address, beats in expected:
        failed = False
        for number in range(beats):
            beat, at = next(found), address + number * PORT_BYTES
            assert beat["last"] == (number == beats - 1)
            failed = failed or bool(beat["error"])
            if not failed:
                right = int.from_bytes(bench.host.memory[at : at + PORT_BYTES], "little")
                assert beat["data"] == right, f"{at:#x} of the burst at {address:#x}"
            else:
                assert beat["error"], "a beat without error after one that is missing"
        assert failed == (address in bench.host.faults)
    assert next(found, None) is None
    assert bench.host.memory == written
    assert bench.host.messages == messages
    assert len(bench.answers.items) == BURSTS


@cocotb.test()
async def a_message_follows_the_writes_that_were_answered(dut):
    bench = Bench(dut, busy=0.5)
    await start(dut)
    for number in range(20):
        bench.write(0x1000, bytes([number]) * 16)
        await bench.answers.wait_for(number + 1)
        bench.messages.send(pack(MESSAGE, address=0xFEE0_0000, data=number))
        await bench.idle()
    kinds = [request["length"] for request in bench.host.log]
    assert kinds == [4, 1] * 20


@cocotb.test()
async def reads_have_their_latency_and_rate(dut):
    """The request comes a cycle after the burst; entries of 64 bytes come at a beat per cycle from afar."""
    bench = Bench(dut, latency=8 * TAGS - 40)
    await start(dut)
    for number in range(3 * TAGS):
        bench.read(64 * number, 8)
    cycles = 0
    while dut.read__ar__valid.value != 1:
        await RisingEdge(dut.clk)
    while dut.requests__valid.value != 1:
        await RisingEdge(dut.clk)
        cycles += 1
    assert cycles == 1
    await bench.beats.wait_for(8 * 3 * TAGS)
    steady = bench.beats.cycles[8 * TAGS :]
    assert (steady[-1] - steady[0]) / (len(steady) - 1) <= 1.2
    assert bench.host.most_reading > TAGS // 2


@cocotb.test()
async def writes_leave_without_a_gap(dut):
    bench = Bench(dut)
    await start(dut)
    for number in range(8):
        bench.write(BURST_BEATS * PORT_BYTES * number, random.randbytes(BURST_BEATS * PORT_BYTES))
    await bench.answers.wait_for(8)
    assert bench.host.beat_cycles[-1] - bench.host.beat_cycles[0] == 8 * BURST_BEATS - 1
