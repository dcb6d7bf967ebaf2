"""Bursts and messages through the port to a host that completes reads in any order."""

import random
from collections.abc import Sequence

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.rtl.pcie.layouts import BURST_BEATS, HostWrite, Message
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.pcie import REQUEST_BYTES, WORD_BYTES, TlpSizes
from tests.rtl.pcie.host_memory import TlpHost, bytes_of, requests_of, rows_of

BURSTS = bench_parameters()["bursts"]
TLP = TlpSizes(bench_parameters()["port_bytes"], bench_parameters()["tags"])
WIDTH, TAGS = TLP.port_bytes, TLP.tags
MEMORY_BYTES = 1 << 14
BURST, MESSAGE = burst_layout(64), Message()
READ_WORD, WRITE_WORD = read_beat_layout(64), write_beat_layout(64, parts=2)
READ_ROW, WRITE_ROW = read_beat_layout(8 * WIDTH), HostWrite(WIDTH)


class Bench:
    def __init__(self, dut, busy: float = 1, latency: int = 0, spurious: float = 0):
        self.dut = dut
        self.host = TlpHost(dut, MEMORY_BYTES, TLP, busy, latency, spurious, dwords=True)
        self.reads, self.data_reads = (
            StreamSource(dut, "read__ar", busy),
            StreamSource(dut, "data_read__ar", busy),
        )
        self.words, self.rows = StreamSink(dut, "read__r", busy), StreamSink(dut, "data_read__r", busy)
        self.writes = StreamSource(dut, "write__aw", busy)
        self.data = StreamSource(dut, "write__w", busy)
        self.answers = StreamSink(dut, "write__b", busy)
        self.data_writes = StreamSource(dut, "data_write", busy)
        self.messages = StreamSource(dut, "messages", busy)
        self.host.memory[:] = random.randbytes(MEMORY_BYTES)

    def read(self, address: int, words: int) -> None:
        self.reads.send(pack(BURST, address=address, length=words - 1))

    def write(self, address: int, data: bytes) -> None:
        words = [data[at : at + WORD_BYTES] for at in range(0, len(data), WORD_BYTES)]
        self.writes.send(pack(BURST, address=address, length=len(words) - 1))
        for number, word in enumerate(words, 1):
            self.data.send(pack(WRITE_WORD, data=int.from_bytes(word, "little"), last=number == len(words)))

    def write_dword(self, address: int, dword: bytes) -> None:
        """One dword of a word; what stands in the other one is not written."""
        upper = address // 4 % 2
        data = int.from_bytes(random.randbytes(4) + dword if upper else dword + random.randbytes(4), "little")
        self.writes.send(pack(BURST, address=address & -WORD_BYTES, length=0))
        self.data.send(pack(WRITE_WORD, data=data, last=1, masked=1 if upper else 2))

    def read_data(self, address: int, length: int) -> None:
        self.data_reads.send(pack(BURST, address=address, length=length // 4 - 1))

    def write_data(self, address: int, data: bytes) -> None:
        rows = rows_of(address, data, WIDTH)
        for number, row in enumerate(rows, 1):
            item = {"address": address, "length": len(data) // 4, "last": number == len(rows)}
            self.data_writes.send(pack(WRITE_ROW, data=row, **item))

    async def idle(self) -> None:
        for _ in range(20_000):
            await RisingEdge(self.dut.clk)
            sources = (
                self.reads, self.data_reads, self.writes, self.data, self.data_writes, self.messages,
            )  # fmt: skip
            if self.dut.idle.value == 1 and self.host.quiet and all(source.empty for source in sources):
                return
        raise AssertionError("it is not idle after 20,000 cycles")


def place(low: int, high: int) -> tuple[int, int]:
    """Address and bytes of a burst of words between two addresses, which crosses no page."""
    address = random.randrange(low, high, WORD_BYTES)
    room = min(high, (address | 4095) + 1) - address
    return address, WORD_BYTES * random.randint(1, min(BURST_BEATS, room // WORD_BYTES))


def data_place(low: int, high: int) -> tuple[int, int]:
    """Address and bytes of a request of dwords; many are whole."""
    block = random.randrange(low, high, REQUEST_BYTES)
    first = random.choice([0, random.randrange(0, REQUEST_BYTES, 4)])
    room = (REQUEST_BYTES - first) // 4
    return block + first, 4 * random.choice([room, random.randint(1, room)])


def check_words(host: TlpHost, found: Sequence[dict[str, int]], expected: list[tuple[int, int]]) -> None:
    """Words of bursts, in order. In a request that fails, none is right behind the first that is missing."""
    words = iter(found)
    for address, length in expected:
        for part, size in requests_of(address, length):
            failed = False
            for at in range(part, part + size, WORD_BYTES):
                word = next(words)
                assert word["last"] == (at + WORD_BYTES == address + length)
                failed = failed or bool(word["error"])
                right = int.from_bytes(host.memory[at : at + WORD_BYTES], "little")
                assert bool(word["error"]) if failed else word["data"] == right, f"{at:#x} of {address:#x}"
            assert failed == (part in host.faults)
    assert next(words, None) is None


def check_rows(host: TlpHost, found: Sequence[dict[str, int]], expected: list[tuple[int, int]]) -> None:
    """Rows of requests, in order, as `check_words`."""
    rows = iter(found)
    for address, length in expected:
        mine = [next(rows) for _ in rows_of(address, bytes(length), WIDTH)]
        assert [row["last"] for row in mine] == [0] * (len(mine) - 1) + [1]
        errors = [row["error"] for row in mine]
        assert errors == sorted(errors), "a row without error after one that is missing"
        assert any(errors) == (address in host.faults)
        if not any(errors):
            data = bytes_of([row["data"] for row in mine], address, length, WIDTH)
            assert data == host.memory[address : address + length], f"at {address:#x}"
    assert next(rows, None) is None


@cocotb.test()
@cocotb.parametrize((("busy", "latency", "spurious"), [(0.5, 5, 0.1), (0.8, 60, 0.1), (1, 0, 0)]))
async def reads_come_in_order_and_writes_arrive(dut, busy, latency, spurious):
    """Reads are of the lower half of the memory; writes of words and of data have a quarter each."""
    bench = Bench(dut, busy, latency, spurious)
    await start(dut)
    half, quarter = MEMORY_BYTES // 2, MEMORY_BYTES // 4
    words, rows, written, messages = [], [], bytearray(bench.host.memory), []
    for _ in range(BURSTS):
        words.append(place(0, half))
        rows.append(data_place(0, half))
        if random.random() < 0.1:
            bench.host.faults.add(random.choice([words, rows])[-1][0])
        bench.read(words[-1][0], words[-1][1] // WORD_BYTES)
        bench.read_data(*rows[-1])
        for send, (address, length) in (
            (bench.write, place(half, half + quarter)),
            (bench.write_data, data_place(half + quarter, MEMORY_BYTES)),
        ):  # fmt: skip
            data = random.randbytes(length)
            written[address : address + length] = data
            send(address, data)
        dword, data = random.randrange(half, half + quarter, 4), random.randbytes(4)
        written[dword : dword + 4] = data
        bench.write_dword(dword, data)
        messages.append((random.randrange(1 << 20, 1 << 64, 4), random.getrandbits(32)))
        bench.messages.send(pack(MESSAGE, address=messages[-1][0], data=messages[-1][1]))
    await bench.words.wait_for(sum(length for _, length in words) // WORD_BYTES)
    await bench.rows.wait_for(sum(len(rows_of(address, bytes(length), WIDTH)) for address, length in rows))
    await bench.idle()
    check_words(bench.host, [unpack(READ_WORD, bits) for bits in bench.words.items], words)
    check_rows(bench.host, [unpack(READ_ROW, bits) for bits in bench.rows.items], rows)
    assert bench.host.memory == written
    assert bench.host.messages == messages
    assert len(bench.answers.items) == 2 * BURSTS


@cocotb.test()
async def a_message_follows_the_writes_before_it(dut):
    """Those of words that were answered, and those of data that were taken."""
    bench = Bench(dut, busy=0.5)
    await start(dut)
    for number in range(20):
        bench.write(0x1000, bytes([number]) * 16)
        await bench.answers.wait_for(number + 1)
        bench.write_data(0x2000, bytes([number]) * 12)
        while not bench.data_writes.empty:
            await RisingEdge(dut.clk)
        bench.messages.send(pack(MESSAGE, address=0xFEE0_0000, data=number))
        await bench.idle()
    kinds = [request["length"] for request in bench.host.log]
    assert kinds == [4, 3, 1] * 20


async def cycles_between(dut, begin: str, end: str) -> int:
    cycles = 0
    while getattr(dut, begin).value != 1:
        await RisingEdge(dut.clk)
    while getattr(dut, end).value != 1:
        await RisingEdge(dut.clk)
        cycles += 1
    return cycles


@cocotb.test()
async def reads_of_words_have_their_latency_and_rate(dut):
    """The request comes a cycle after the burst; entries of 64 bytes come at a word per cycle from afar."""
    bench = Bench(dut, latency=min(8 * TAGS - 40, 100))
    await start(dut)
    for number in range(3 * TAGS):
        bench.read(64 * (number % 64), 8)
    assert await cycles_between(dut, "read__ar__valid", "requests__valid") == 2
    await bench.words.wait_for(8 * 3 * TAGS)
    steady = bench.words.cycles[8 * TAGS :]
    assert (steady[-1] - steady[0]) / (len(steady) - 1) <= 1.2


@cocotb.test()
async def reads_of_data_have_their_rate(dut):
    """Whole requests: a row per cycle, with as many requests under way as the tags are for."""
    count, rows = 4 * TAGS, REQUEST_BYTES // WIDTH
    bench = Bench(dut, latency=TAGS * rows - 8)
    await start(dut)
    for number in range(count):
        bench.read_data(REQUEST_BYTES * (number % 64), REQUEST_BYTES)
    assert await cycles_between(dut, "data_read__ar__valid", "requests__valid") == 1
    await bench.rows.wait_for(rows * count)
    steady = bench.rows.cycles[rows * TAGS :]
    print((steady[-1] - steady[0]) / (len(steady) - 1), bench.host.most_reading)
    assert (steady[-1] - steady[0]) / (len(steady) - 1) <= 1.1
    assert bench.host.most_reading > TAGS // 2


@cocotb.test()
async def writes_leave_without_a_gap(dut):
    """Those of words whose rows are words, and those of data."""
    bench = Bench(dut)
    await start(dut)
    count = REQUEST_BYTES // WIDTH
    if WIDTH == WORD_BYTES:
        for number in range(8):
            bench.write(REQUEST_BYTES * number, random.randbytes(REQUEST_BYTES))
        await bench.answers.wait_for(8)
        await bench.idle()
        assert bench.host.beat_cycles[-1] - bench.host.beat_cycles[0] == 8 * count - 1
    begin = len(bench.host.beat_cycles)
    for number in range(8):
        bench.write_data(REQUEST_BYTES * number, random.randbytes(REQUEST_BYTES))
    assert await cycles_between(dut, "data_write__valid", "requests__valid") == 3
    await bench.idle()
    taken = bench.host.beat_cycles[begin:]
    assert taken[-1] - taken[0] == 8 * count - 1
