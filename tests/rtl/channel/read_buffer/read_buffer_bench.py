"""The read buffer between a bus, a write buffer that pages are copied from, and the tensor buffer."""

import random
from collections import Counter, deque
from itertools import groupby

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.read_buffer.page_corrector import (
    WORDS_WAITING,
    CorrectionCounts,
    pages_corrected_at_once,
)
from flashtrain.rtl.channel.read_buffer.read_buffer import HitPage
from flashtrain.rtl.layouts import (
    BufferPage,
    FillTarget,
    PageRetry,
    PageSource,
    PageTarget,
    ReadEffort,
    ReadHead,
)
from flashtrain.rtl.lib.gearbox import READ_CYCLES
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.ecc import RAW_BIT_ERROR_RATE
from tests.rtl.channel.channel_helpers import CONFIGS, with_key, with_parity
from tests.rtl.channel.damage import ReadPage, read_page, some_errors

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
CODE = CONFIG.code
WORD_BITS = 8 * CONFIG.data_bytes
BEATS = CONFIG.bus_page_bytes // 2
BETWEEN = 6  # cycles from the last beat of a page to the first of the next, with the bus of this bench


class Bench:
    """Pages are numbered; the number is where they go (`page`), and their words are found by it."""

    def __init__(self, dut, busy: float = 1, ready: float = 1):
        self.dut, self.busy = dut, busy
        self.words: dict[int, list[int]] = {}
        self.identities: dict[int, int] = {}  # of pages from an array
        self.on_bus: dict[int, bytes] = {}  # all of them that the bus brings
        self.decoded: dict[int, ReadPage] = {}  # with a code, pages from an array
        self.levels: dict[int, int] = {}  # at which pages from an array were read
        self.again: dict[int, int] = {}  # those that are to be read again, and what is asked for
        self.retries = StreamSink(dut, "retries", ready) if CONFIG.read_levels else None
        self.settled = 0
        self.counted: Counter = Counter()
        self.fill = StreamSource(dut, "fill", busy)
        self.hits = StreamSource(dut, "hits", busy)
        self.copies = StreamSink(dut, "copy")
        self.heads = StreamSink(dut, "read_head", ready)
        self.data = StreamSink(dut, "read_data", ready)
        self.to_fill: list[int] = []
        self.to_copy: list[int] = []
        self.filled: list[int] = []  # cycles of the last beat of each page
        self.clock = 0
        for name in ("fill_valid", "fill_data", "copy_valid", "copy_data", "raw"):
            getattr(dut, name).value = 0
        self.stored: list[int] = []  # pages from an array, in their order
        for run in (self._count, self._bus, self._copier):
            cocotb.start_soon(run())

    async def _count(self):
        while True:
            await RisingEdge(self.dut.clk)
            self.clock += 1
            if CODE and self.dut.rst.value == 0:
                self.counted.update(unpack(CorrectionCounts(CONFIG), int(self.dut.counts.value)))
                self.settled += int(CONFIG.read_levels and self.dut.settled.value)

    def add(self, number: int, data: bytes) -> None:
        size = CONFIG.data_bytes
        self.words[number] = [
            int.from_bytes(data[at : at + size], "little") for at in range(0, GEOMETRY.page_bytes, size)
        ]

    def target(self, number: int) -> dict[str, int]:
        return {
            "tag": number % CONFIG.commands,
            "buffer_block": number,
            "from_array": int(number in self.identities),
        }

    def read(self, number: int, errors: list[int] | None = None) -> None:
        """A page from an array, with wrong bits in its code words; at any level."""
        data = random.randbytes(GEOMETRY.identified_page_bytes)
        page = with_parity(CONFIG, with_key(CONFIG, data, **self.place(number)))
        self.on_bus[number] = page
        if CODE:
            one = self.decoded[number] = read_page(CONFIG, page, errors or [0] * CODE.words)
            self.on_bus[number], page = one.read, one.corrected
        page = with_key(CONFIG, page, **self.place(number))
        level = self.levels[number] = random.randint(0, CONFIG.read_levels)
        identity = page[GEOMETRY.page_bytes : GEOMETRY.identified_page_bytes]
        failed = number in self.decoded and self.decoded[number].failed
        self.identities[number] = 0 if failed else int.from_bytes(identity, "little")
        if failed and level < CONFIG.read_levels:
            self._fill(number)
            retry = {name: self.target(number)[name] for name in ("tag", "buffer_block")}
            self.again[number] = pack(PageRetry(CONFIG), source=self.source(number, level + 1), **retry)
        else:
            self.stored.append(number)
            self._fill(number)
            self.add(number, page)

    def read_raw(self, number: int) -> None:
        """A page from an array that is neither corrected nor without its key, whatever is wrong in it."""
        page = self.on_bus[number] = random.randbytes(CONFIG.bus_page_bytes)
        identity = page[GEOMETRY.page_bytes : GEOMETRY.identified_page_bytes]
        self.identities[number] = int.from_bytes(identity, "little")
        self.levels[number] = random.randint(0, CONFIG.read_levels)
        self.stored.append(number)
        self._fill(number)
        self.add(number, page)

    def source(self, number: int, level: int) -> int:
        g = GEOMETRY
        fields = {"zone": number % g.zones, "die": number % g.dies, "level": level, **self.place(number)}
        return pack(PageSource(CONFIG), **{name: fields[name] for name in PageSource(CONFIG).members})

    @staticmethod
    def place(number: int) -> dict[str, int]:
        """Where a page comes from, within its die's blocks."""
        return {"page": number % GEOMETRY.pages, "plane": number % GEOMETRY.planes}

    def take(self, number: int) -> None:
        """A page that a die has made: what is behind its data has no meaning."""
        self.on_bus[number] = random.randbytes(CONFIG.bus_page_bytes)
        self._fill(number)
        self.add(number, self.on_bus[number])

    def _fill(self, number: int) -> None:
        self.to_fill.append(number)
        source = self.source(number, self.levels.get(number, 0))
        self.fill.send(pack(FillTarget(CONFIG), **self.target(number), source=source))

    def hit(self, number: int) -> None:
        self.to_copy.append(number)
        self.add(number, random.randbytes(GEOMETRY.page_bytes))
        target = pack(PageTarget(CONFIG), **self.target(number))
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
            data = self.on_bus[number]
            for at in range(0, len(data), 2):
                while random.random() >= self.busy:
                    await RisingEdge(dut.clk)
                dut.fill_valid.value = 1
                dut.fill_data.value = int.from_bytes(data[at : at + 2], "little")
                await RisingEdge(dut.clk)
                dut.fill_valid.value = 0
            self.filled.append(self.clock)

    async def _copier(self):
        """Sends the words of each page whose copy was accepted, `READ_CYCLES` after there was room."""
        dut, begun = self.dut, 0
        room = deque([0] * (READ_CYCLES - 1))
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
            room = deque([0] * (READ_CYCLES - 1))

    async def check(self, count: int) -> list[int]:
        """Wait for `count` pages, check their contents, and return their numbers in the order of coming.

        Those that are to be read again are asked for, and do not come.
        """
        if self.retries:
            again = await self.retries.wait_for(len(self.again), 20 * count * BEATS + 1000)
            assert again == list(self.again.values())
            for _ in range(4):  # it takes so long to count
                await RisingEdge(self.dut.clk)
            count -= len(again)
        words = await self.data.wait_for(count * CONFIG.page_beats, 20 * count * BEATS + 1000)
        order = []
        for at, head in enumerate(self.heads.items):
            fields = unpack(ReadHead(CONFIG), head)
            number = fields["buffer_block"]
            order.append(number)
            if number in self.identities:
                assert (fields["from_array"], fields["identity"]) == (1, self.identities[number])
            assert fields["from_array"] == (number in self.identities)
            failed = number in self.decoded and self.decoded[number].failed
            assert (fields["tag"], fields["failed"]) == (number % CONFIG.commands, int(failed))
            assert fields["effort"] == self.effort(number)
            page = words[at * CONFIG.page_beats : (at + 1) * CONFIG.page_beats]
            assert page == self.words[number], f"page {number}"
        assert sorted(order) == sorted(self.words)
        taken = [one for one in self.to_fill if one not in self.levels]
        for kind in (self.stored, taken, self.to_copy):
            assert [number for number in order if number in kind] == kind
        assert +self.counted == self._counts()
        assert self.settled == (len(self.stored) if CONFIG.read_levels else 0)
        return order

    def effort(self, number: int) -> int:
        """What must be told of a page: nothing of those that do not come from an array."""
        if number not in self.decoded:
            return 0
        told = {"corrected": self.decoded[number].bits, "retries": self.levels[number]}
        return pack(ReadEffort(CONFIG), **{name: told[name] for name in ReadEffort(CONFIG).members})

    def _counts(self) -> Counter:
        """What must have been counted."""
        counts: Counter = Counter()
        for number, page in self.decoded.items():
            counts["pages_retried"] += number in self.again
            counts["pages_rescued"] += self.levels[number] != 0 and not page.failed
            counts["bits_corrected"] += page.bits
            counts["words_uncorrectable"] += sum(verdict.corrected is None for verdict in page.verdicts)
            if page.bits and not page.failed:
                counts[f"pages_corrected_{min(1 << page.bits.bit_length() - 1, 16)}"] += 1
        return +counts


@cocotb.test()
async def pages_come_out_whole(dut):
    """Fills and copies at random, with back-pressure: every page once, and each kind in its order."""
    bench = Bench(dut, busy=0.8, ready=0.5)
    await start(dut)
    count = rounds(24)
    for number in range(count):
        random.choice((bench.read, bench.take, bench.hit))(number)
    await bench.check(count)


@cocotb.test(skip=CODE is None)
@cocotb.parametrize((("busy", "ready"), [(1, 1), (0.8, 0.4)]))
async def wrong_bits_are_corrected(dut, busy, ready):
    """Among pages that are clean, copies, and pages without parity; in identities and parity, too."""
    bench = Bench(dut, busy, ready)
    await start(dut)
    bench.read(0, [CODE.strength] * CODE.words)
    bench.read(1, [CODE.strength + 3] + [0] * (CODE.words - 1))
    bench.read(2, [0] * (CODE.words - 1) + [CODE.strength + 3])
    for number in range(3, 14):
        if random.random() < 0.6:
            bench.read(number, some_errors(CONFIG))
        else:
            random.choice((bench.take, bench.hit))(number)
    await bench.check(14)


@cocotb.test()
@cocotb.parametrize(ready=[1, 0.3])
async def raw_pages_come_as_they_are(dut, ready):
    """Nothing is corrected, counted or read again, and afterwards all is as before."""
    bench = Bench(dut, ready=ready)
    await start(dut)
    count = 3 * CONFIG.read_pages
    for number in range(count):
        bench.read(number)
    await bench.check(count)
    dut.raw.value = 1
    for number in range(count, 2 * count):
        bench.read_raw(number)
    await bench.check(2 * count)
    dut.raw.value = 0
    for number in range(2 * count, 3 * count):
        bench.read(number)
    await bench.check(3 * count)


@cocotb.test(skip=CONFIG.read_levels == 0)
@cocotb.parametrize(ready=[1, 0.3])
async def buffers_of_pages_that_are_read_again_are_free(dut, ready):
    """Many more of them than there are buffers, in any order with others."""
    bench = Bench(dut, ready=ready)
    await start(dut)
    count = 6 * CONFIG.read_pages
    for number in range(count):
        if random.random() < 0.7:
            bench.read(number, [CODE.strength + 3] + [0] * (CODE.words - 1))
        else:
            random.choice((bench.read, bench.take, bench.hit))(number)
    await bench.check(count)
    assert len(bench.again) > CONFIG.read_pages


@cocotb.test(skip=CODE is None)
async def the_bus_waits_for_room(dut):
    """Pages full of errors take longer to correct than to come: no more are begun than there is room for."""
    bench = Bench(dut)
    await start(dut)
    count = pages_corrected_at_once(CONFIG, CODE) + 6
    for number in range(count):
        bench.read(number, [CODE.strength] * CODE.words)
    await bench.check(count)
    assert bench.filled[-1] - bench.filled[0] > (count - 1) * (BEATS + BETWEEN)


@cocotb.test(skip=CODE is None)
async def corrections_do_not_wait_for_words_to_be_taken(dut):
    """The tensor buffer has accepted a page and takes none of its words: another page is corrected."""
    bench = Bench(dut)
    bench.data.busy = 0
    await start(dut)
    bench.read(0)
    await bench.heads.wait_for(1)
    for _ in range(10):
        await RisingEdge(dut.clk)
    assert dut.read_data__valid.value == 1
    bench.read(1, [CODE.strength] * CODE.words)
    longest = CODE.word_bits(CODE.words - 1) // 8 + 30 * CODE.strength
    await bench.heads.wait_for(2, BEATS + CODE.words * longest)
    bench.data.busy = 1
    await bench.check(2)


@cocotb.test(skip=CODE is None)
async def clean_pages_follow_each_other(dut):
    """Without errors a page from an array costs nothing: the bus never waits, and words have no gaps."""
    bench = Bench(dut)
    await start(dut)
    count = 2 * pages_corrected_at_once(CONFIG, CODE)
    for number in range(count):
        bench.read(number)
    await bench.check(count)
    periods = {late - early for early, late in zip(bench.filled, bench.filled[1:], strict=False)}
    assert periods == {BEATS + BETWEEN}
    for page in range(count):
        cycles = bench.data.cycles[page * CONFIG.page_beats : (page + 1) * CONFIG.page_beats]
        assert cycles[-1] - cycles[0] == CONFIG.page_beats - 1


@cocotb.test(skip=CODE is None or pages_corrected_at_once(CONFIG, CODE) * CODE.words < WORDS_WAITING)
async def keeps_up_with_the_errors_it_is_made_for(dut):
    """At the raw bit error rate that the strength follows from, the bus goes on as if there were none.

    Not with few small page buffers: a word with errors takes longer than it comes, and no other may wait.
    """
    bench = Bench(dut)
    await start(dut)
    random_bits = np.random.default_rng(cocotb.RANDOM_SEED)
    lengths = [CODE.word_bits(word) for word in range(CODE.words)]
    count = 24
    for number in range(count):
        bench.read(number, random_bits.binomial(lengths, RAW_BIT_ERROR_RATE).tolist())
    await bench.check(count)
    dirty = sum(verdict.corrected > 0 for page in bench.decoded.values() for verdict in page.verdicts)
    spent, least = bench.filled[-1] - bench.filled[0], (count - 1) * (BEATS + BETWEEN)
    dut._log.info(f"{dirty} words with errors: {spent} cycles for {count - 1} pages, {least} without")
    assert spent <= 1.01 * least


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
    cycles = bench.data.cycles
    span = cycles[-1] - cycles[0] + 1
    assert span == len(cycles), f"{len(cycles)} words took {span} cycles"


@cocotb.test()
async def a_page_comes_in_time(dut):
    bench = Bench(dut)
    await start(dut)
    bench.read(1)
    await bench.check(1)
    head, word = bench.heads.cycles[0], bench.data.cycles[0]
    late = head - bench.filled[0]
    assert late == (9 if CODE else 6), f"the head came {late} cycles after the last beat"
    assert word - head == 4, f"the first word came {word - head} cycles after the head"
