"""The read buffer between a bus, a write buffer that pages are copied from, and the tensor buffer."""

import random
from collections import deque
from itertools import groupby

import cocotb
from channel_kit import CONFIGS
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.gearbox import READ_CLOCKS
from flashtrain.rtl.channel.read_buffer import HitPage
from flashtrain.rtl.layouts import BufferPage, PageTarget, ReadHead
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.sim.bench_parameters import bench_parameters
from flashtrain.spec.identity import PageIdentity

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
WORD_BITS = 8 * CONFIG.data_bytes
BEATS = CONFIG.bus_page_bytes // 2


class Bench:
    """Pages are numbered; the number is where they go (`page`), and their words are found by it."""

    def __init__(self, dut, busy: float = 1, ready: float = 1):
        self.dut, self.busy = dut, busy
        self.words: dict[int, list[int]] = {}
        self.identities: dict[int, int] = {}  # of pages that the bus brings
        self.fill = StreamSource(dut, "fill", busy)
        self.hits = StreamSource(dut, "hits", busy)
        self.copies = StreamSink(dut, "copy")
        self.heads = StreamSink(dut, "read_head", ready)
        self.data = StreamSink(dut, "read_data", ready)
        self.to_fill: list[int] = []
        self.to_copy: list[int] = []
        self.filled: list[int] = []  # clocks of the last beat of each page
        self.clock = 0
        for name in ("fill_valid", "fill_data", "copy_valid", "copy_data"):
            getattr(dut, name).value = 0
        for run in (self._count, self._bus, self._copier):
            cocotb.start_soon(run())

    async def _count(self):
        while True:
            await RisingEdge(self.dut.clk)
            self.clock += 1

    def add(self, number: int) -> int:
        self.words[number] = [random.getrandbits(WORD_BITS) for _ in range(CONFIG.page_beats)]
        return pack(
            PageTarget(CONFIG),
            tag=number % CONFIG.commands,
            page=number,
            from_array=int(number in self.identities),
        )

    def read(self, number: int) -> None:
        self.to_fill.append(number)
        self.identities[number] = random.getrandbits(8 * PageIdentity.BYTES)
        self.fill.send(self.add(number))

    def hit(self, number: int) -> None:
        self.to_copy.append(number)
        target = self.add(number)
        layout = HitPage(CONFIG)
        place = pack(BufferPage(CONFIG), slot=number % CONFIG.write_sets, plane=number % GEOMETRY.planes)
        self.hits.send(place << layout["place"].offset | target << layout["target"].offset)

    async def _bus(self):
        """Sends the beats of each page whose fill was accepted."""
        dut, accepted = self.dut, 0
        while True:
            await RisingEdge(dut.clk)
            if self.fill.sent == accepted:
                continue
            number = self.to_fill[accepted]
            accepted += 1
            data = b"".join(word.to_bytes(WORD_BITS // 8, "little") for word in self.words[number])
            data += self.identities[number].to_bytes(PageIdentity.BYTES, "little")
            for at in range(0, len(data), 2):
                while random.random() >= self.busy:
                    await RisingEdge(dut.clk)
                dut.fill_valid.value = 1
                dut.fill_data.value = int.from_bytes(data[at : at + 2], "little")
                await RisingEdge(dut.clk)
                dut.fill_valid.value = 0
            self.filled.append(self.clock)

    async def _copier(self):
        """Sends the words of each page whose copy was accepted, `READ_CLOCKS` after there was room."""
        dut, begun = self.dut, 0
        room = deque([0] * (READ_CLOCKS - 1))
        while True:
            await RisingEdge(dut.clk)
            if len(self.copies.items) == begun:
                continue
            number = self.to_copy[begun]
            place = pack(BufferPage(CONFIG), slot=number % CONFIG.write_sets, plane=number % GEOMETRY.planes)
            assert self.copies.items[begun] == place
            begun += 1
            for word in self.words[number]:
                while True:
                    await RisingEdge(dut.clk)
                    dut.copy_valid.value = 0
                    room.append(dut.copy_room.value == 1 and random.random() < self.busy)
                    if room.popleft():
                        break
                dut.copy_valid.value = 1
                dut.copy_data.value = word
            await RisingEdge(dut.clk)
            dut.copy_valid.value = 0
            room = deque([0] * (READ_CLOCKS - 1))

    async def check(self, count: int) -> list[int]:
        """Wait for `count` pages, check their contents, and return their numbers in the order of coming."""
        words = await self.data.wait_for(count * CONFIG.page_beats, 20 * count * BEATS + 1000)
        order = []
        for at, head in enumerate(self.heads.items):
            fields = unpack(ReadHead(CONFIG), head)
            number = fields["page"]
            order.append(number)
            if number in self.identities:
                assert (fields["from_array"], fields["identity"]) == (1, self.identities[number])
            assert fields["from_array"] == (number in self.identities)
            assert (fields["tag"], fields["failed"]) == (number % CONFIG.commands, 0)
            page = words[at * CONFIG.page_beats : (at + 1) * CONFIG.page_beats]
            assert page == self.words[number], f"page {number}"
        assert sorted(order) == sorted(self.words)
        return order


@cocotb.test()
async def pages_come_out_whole(dut):
    """Fills and copies at random, with back-pressure: every page once, and each kind in its order."""
    bench = Bench(dut, busy=0.8, ready=0.5)
    await start(dut)
    for number in range(24):
        random.choice((bench.read, bench.hit))(number)
    order = await bench.check(24)
    for kind in (bench.to_fill, bench.to_copy):
        assert [number for number in order if number in kind] == kind


@cocotb.test()
async def fills_and_copies_take_turns(dut):
    """With the output slow, buffers are scarce and neither kind waits for more than one page of the other."""
    bench = Bench(dut, ready=0.15)
    await start(dut)
    for number in range(6):
        bench.read(number)
        bench.hit(100 + number)
    order = await bench.check(12)
    runs = [len(list(run)) for _, run in groupby(number >= 100 for number in order)]
    assert max(runs) <= 1 + CONFIG.read_pages, order


@cocotb.test()
async def words_come_without_gaps(dut):
    """Pages that are there stream at a word per clock, also from one to the next."""
    bench = Bench(dut)
    bench.data.busy = 0
    await start(dut)
    for number in range(CONFIG.read_pages):
        bench.hit(number)
    for _ in range(4 * CONFIG.read_pages * CONFIG.page_beats):
        await RisingEdge(dut.clk)
    bench.data.busy = 1
    await bench.check(CONFIG.read_pages)
    clocks = bench.data.clocks
    span = clocks[-1] - clocks[0] + 1
    assert span == len(clocks), f"{len(clocks)} words took {span} clocks"


@cocotb.test()
async def a_page_comes_in_time(dut):
    bench = Bench(dut)
    await start(dut)
    bench.read(1)
    await bench.check(1)
    head, word = bench.heads.clocks[0], bench.data.clocks[0]
    assert head - bench.filled[0] == 6, f"the head came {head - bench.filled[0]} clocks after the last beat"
    assert word - head == 4, f"the first word came {word - head} clocks after the head"
