"""Places for reads that may have to be read again: none is ever missing, and none is held for nothing."""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.read_buffer.read_retry import pages_under_way
from flashtrain.rtl.layouts import DieRead, PageRetry, PageSource
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from tests.rtl.channel.channel_helpers import EVERY_CONFIG

CONFIG = EVERY_CONFIG[bench_parameters()["config"]]
DIES = range(CONFIG.geometry.dies)
LEAST = pages_under_way(CONFIG, CONFIG.code)
MOST = LEAST + 2 * len(DIES)


class Bench:
    """`page` numbers the reads of all dies, and `die` is where they belong."""

    def __init__(self, dut, busy: float = 1):
        self.dut = dut
        self.reads = [StreamSource(dut, f"reads__{die}", busy) for die in DIES]
        self.places = [StreamSink(dut, f"places__{die}", busy) for die in DIES]
        self.retries = [StreamSink(dut, f"retries__{die}", busy) for die in DIES]
        self.failed = StreamSource(dut, "failed")
        self.sent: list[list[int]] = [[] for _ in DIES]
        dut.settled.value = 0

    def read(self, die: int, number: int, statistics: int = 0) -> None:
        item = pack(DieRead(CONFIG), buffer_block=number, statistics=statistics)
        self.sent[die].append(item)
        self.reads[die].send(item)

    def passed(self) -> int:
        """Pages with a place that were let through."""
        items = [item for sink in self.places for item in sink.items]
        return sum(not unpack(DieRead(CONFIG), item)["statistics"] for item in items)

    async def settle(self) -> None:
        self.dut.settled.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.settled.value = 0


async def cycles(dut, count: int) -> None:
    for _ in range(count):
        await RisingEdge(dut.clk)


@cocotb.test()
async def as_many_pass_as_there_are_places(dut):
    """At a read per clock and die; statistics need no place, and each page that is settled makes room."""
    bench = Bench(dut)
    await start(dut)
    for die in DIES:
        for number in range(2 * MOST):
            bench.read(die, number)
    await cycles(dut, 3 * MOST)
    first = bench.passed()
    assert LEAST <= first <= MOST
    for _ in range(first - LEAST + 1):
        await bench.settle()
    await cycles(dut, 10)
    assert first < bench.passed() <= MOST + first - LEAST + 1


@cocotb.test()
async def statistics_need_no_place(dut):
    bench = Bench(dut)
    await start(dut)
    for number in range(2 * MOST):
        bench.read(0, number, statistics=1)
    await cycles(dut, 8 * MOST)
    assert len(bench.places[0].items) == 2 * MOST


@cocotb.test()
async def every_page_may_fail(dut):
    """All that have passed are to be read again at once, while the dies take none: they are all kept."""
    bench = Bench(dut)
    for sink in bench.retries:
        sink.busy = 0
    await start(dut)
    for die in DIES:
        for number in range(2 * MOST):
            bench.read(die, number)
    await cycles(dut, 3 * MOST)
    sent: list[list[int]] = [[] for _ in DIES]
    for number in range(bench.passed()):
        die = random.choice(DIES)
        item = pack(PageRetry(CONFIG), source=pack(PageSource(CONFIG), die=die, level=1), buffer_block=number)
        sent[die].append(item)
        bench.failed.send(item)
        await cycles(dut, 1)
        assert dut.failed__ready.value == 1
    await cycles(dut, 5)
    assert dut.busy.value == 1
    for sink in bench.retries:
        sink.busy = 0.5
    await cycles(dut, 8 * MOST)
    assert [sink.items for sink in bench.retries] == sent
    assert dut.busy.value == 0


@cocotb.test()
async def random_reads_and_retries(dut):
    """Each page fails some times before it is settled. All come through, in the order of their die."""
    bench = Bench(dut, busy=0.7)
    await start(dut, within=100_000)
    count = 120
    for die in DIES:
        for number in range(count):
            bench.read(die, number, statistics=int(random.random() < 0.1))
    total = sum(len(sent) for sent in bench.sent)
    seen = [0 for _ in DIES]
    again = [0 for _ in DIES]
    waiting: deque[int] = deque()  # dies of pages that are being read
    settled = 0
    while not (sum(seen) == total and not waiting and dut.busy.value == 0):
        for die in DIES:
            for item in bench.places[die].items[seen[die] :]:
                seen[die] += 1
                if not unpack(DieRead(CONFIG), item)["statistics"]:
                    waiting.append(die)
            waiting.extend(die for _ in bench.retries[die].items[again[die] :])
            again[die] = len(bench.retries[die].items)
        if waiting and random.random() < 0.3:
            die = waiting.popleft()
            if random.random() < 0.4:
                source = pack(PageSource(CONFIG), die=die, level=random.randint(1, CONFIG.read_levels))
                bench.failed.send(pack(PageRetry(CONFIG), source=source))
                await cycles(dut, 3)
            else:
                await bench.settle()
                settled += 1
        await cycles(dut, 1)
    assert [sink.items for sink in bench.places] == bench.sent
    assert settled == bench.passed() and sum(again) > 0
