"""Random pages through slice writers: every slice ends at its address, and every page is returned once."""

import random
from dataclasses import dataclass
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.codec.decoder_lane import DecodedHead, DecodedSlice
from flashtrain.rtl.datapath.slice_writer import BURSTS_OUTSTANDING, SliceTarget, slice_parts
from flashtrain.rtl.layouts import ReadEffort, ReturnedPage
from flashtrain.rtl.lib.axi import burst_layout, write_beat_layout
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.codec import SLICE_BYTES
from tests.rtl.datapath.slice_units import CONFIGS, slice_units

IDLE_INPUTS = slice_units().idle_inputs()
SLICE = DecodedSlice()
BURST_BYTES = 1024


@dataclass(frozen=True)
class Page:
    """A decoded page. `first` counts the slices that are stored; `words` are the slices of data."""

    tag: int
    buffer_block: int
    first: int
    words: list[int]
    doubles: int = 0
    failed: int = 0
    error: int = 0
    effort: int = 0

    @property
    def is_written(self) -> bool:
        return not self.failed and not self.error


class Bench:
    """A writer between a decoder lane and a tensor buffer that keeps bytes."""

    def __init__(self, dut, name: str, busy: float = 1, failing: float = 0):
        self.dut, self.config = dut, CONFIGS[name]
        self.parts = slice_parts(self.config)
        self.target_layout, self.head_layout = SliceTarget(self.config), DecodedHead(self.config)
        self.burst_layout = burst_layout(self.config.address_bits)
        self.beat_layout = write_beat_layout(8 * self.config.data_bytes, self.parts)
        self.returned_layout = ReturnedPage(self.config)
        self.failing = failing
        self.targets = StreamSource(dut, f"{name}__target", busy)
        self.heads = StreamSource(dut, f"{name}__head", busy)
        self.slices = StreamSource(dut, f"{name}__slices", busy)
        self.bursts = StreamSink(dut, f"{name}__axi__aw", busy)
        self.beats = StreamSink(dut, f"{name}__axi__w", busy)
        self.answers = StreamSource(dut, f"{name}__axi__b", busy)
        self.returned = StreamSink(dut, f"{name}__returned", busy)
        self.memory: dict[int, int] = {}  # slices, by address in slices
        self.errors: list[tuple[int, bool]] = []  # address of each burst, and whether it failed
        self.answer = True

    async def start(self) -> None:
        await start(self.dut)
        cocotb.start_soon(self._tensor_buffer())

    def send(self, *pages: Page) -> None:
        for page in pages:
            self.targets.send(pack(
                self.target_layout, tag=page.tag, buffer_block=page.buffer_block, failed=page.failed,
                doubles=page.doubles, effort=page.effort,
            ))  # fmt: skip
            slices = 0 if page.error else len(page.words) >> page.doubles
            self.heads.send(pack(self.head_layout, first=page.first, slices=slices, error=page.error))
            if not page.error:
                last = len(page.words) - 1
                self.slices.send(*(pack(SLICE, data=w, last=n == last) for n, w in enumerate(page.words)))

    def start_of(self, page: Page) -> int:
        """Address of the page's first slice of data, in slices."""
        per_block = self.config.geometry.page_bytes // SLICE_BYTES
        return page.buffer_block * per_block + (page.first << page.doubles)

    async def _tensor_buffer(self) -> None:
        served = beats = 0
        while True:
            await RisingEdge(self.dut.clk)
            while self.answer and served < len(self.bursts.items):
                burst = unpack(self.burst_layout, self.bursts.items[served])
                count = burst["length"] + 1
                if len(self.beats.items) < beats + count:
                    break
                self._check_burst(burst["address"], count)
                self._write(burst["address"], self.beats.items[beats : beats + count])
                served, beats = served + 1, beats + count
                failed = random.random() < self.failing
                self.errors.append((burst["address"], failed))
                self.answers.send(int(failed))

    def _check_burst(self, address: int, count: int) -> None:
        data_bytes = self.config.data_bytes
        assert address % data_bytes == 0 and count <= 256
        assert address // BURST_BYTES == (address + count * data_bytes - 1) // BURST_BYTES, "it crosses"

    def _write(self, address: int, beats: list[int]) -> None:
        """Where a beat is no longer than a slice, none of it may be masked."""
        config = self.config
        piece_bytes = min(SLICE_BYTES, config.data_bytes)
        for number, bits in enumerate(beats):
            beat = unpack(self.beat_layout, bits)
            assert beat["last"] == (number == len(beats) - 1)
            assert beat["masked"] != (1 << self.parts) - 1, "a beat without data"
            for part in range(self.parts):
                if not beat["masked"] >> part & 1:
                    where = address + number * config.data_bytes + part * piece_bytes
                    assert where not in self.memory, f"{where:#x} is written twice"
                    mask = (1 << 8 * piece_bytes) - 1
                    self.memory[where] = beat["data"] >> 8 * piece_bytes * part & mask

    def expected(self, pages: list[Page]) -> dict[int, int]:
        """The model of the tensor buffer."""
        memory = {}
        piece_bytes = min(SLICE_BYTES, self.config.data_bytes)
        mask = (1 << 8 * piece_bytes) - 1
        for page in pages:
            if page.is_written:
                for number, word in enumerate(page.words):
                    address = (self.start_of(page) + number) * SLICE_BYTES
                    for offset in range(0, SLICE_BYTES, piece_bytes):
                        memory[address + offset] = word >> 8 * offset & mask
        return memory

    def returned_pages(self) -> list[dict[str, int]]:
        return [unpack(self.returned_layout, bits) for bits in self.returned.items]


def random_pages(config, count: int, faults: float = 0.3) -> list[Page]:
    """Each in room of its own, so that nothing is written twice."""
    pages = []
    per_block = config.geometry.page_bytes // SLICE_BYTES
    room = 8  # blocks, for the data of a page and what is before it
    blocks = random.sample(range((1 << config.buffer_block_bits) // room), count)
    for number, block in enumerate(blocks):
        doubles = random.getrandbits(1)
        most = min(48, 3 * per_block)
        slices = random.choice((1, 2, random.randint(1, most)))
        pages.append(Page(
            tag=number % config.commands,
            buffer_block=block * room,
            first=random.choice((0, 1, random.randrange(2 * per_block))),
            words=[random.getrandbits(8 * SLICE_BYTES) for _ in range(slices << doubles)],
            doubles=doubles,
            failed=int(random.random() < faults / 2),
            error=int(random.random() < faults / 2),
            effort=random.getrandbits(ReadEffort(config).size),
        ))  # fmt: skip
    return pages


@cocotb.test()
@cocotb.parametrize(name=list(CONFIGS), busy=[1, 0.6])
async def slices_reach_their_addresses(dut, name, busy):
    """Pages of one and of two slices a stored one, failed, refused and good ones, in any succession."""
    drive(dut)
    bench = Bench(dut, name, busy, failing=0.2)
    await bench.start()
    pages = random_pages(bench.config, 24)
    bench.send(*pages)
    await bench.returned.wait_for(len(pages))
    assert bench.memory == bench.expected(pages)
    # The answers of good pages come in order, those of dropped ones overtake them.
    for is_written in (True, False):
        expected = [
            {
                "tag": page.tag,
                "failed": int(page.failed or (is_written and bench_failed(bench, page))),
                "refused": page.error,
                "effort": page.effort,
            }
            for page in pages
            if page.is_written is is_written
        ]
        fields = [
            {key: event[key] for key in ("tag", "failed", "refused", "effort")}
            for event in bench.returned_pages()
        ]
        rest = iter(fields)
        assert all(event in rest for event in expected), "not in this order"
    assert len(bench.returned.items) == len(pages)
    assert any(failed for _, failed in bench.errors)


def bench_failed(bench: Bench, page: Page) -> bool:
    """Whether the tensor buffer refused a burst of the page."""
    first = bench.start_of(page) * SLICE_BYTES
    end = first + len(page.words) * SLICE_BYTES
    first -= first % bench.config.data_bytes
    return any(failed and first <= address < end for address, failed in bench.errors)


def drive(dut) -> None:
    """The other units are idle."""
    for name, value in IDLE_INPUTS.items():
        getattr(dut, name).value = value


@cocotb.test()
@cocotb.parametrize(name=list(CONFIGS))
async def moves_a_slice_or_a_beat_per_cycle(dut, name):
    """Within a page, and with two idle cycles between pages."""
    drive(dut)
    bench = Bench(dut, name)
    await bench.start()
    slices = 24
    pages = [
        Page(tag=0, buffer_block=16 * n, first=0, words=[random.getrandbits(256) for _ in range(slices)])
        for n in range(4)
    ]
    bench.send(*pages)
    taken, heads = [], []
    valid, ready = getattr(dut, f"{name}__slices__valid"), getattr(dut, f"{name}__slices__ready")
    head_valid, head_ready = getattr(dut, f"{name}__head__valid"), getattr(dut, f"{name}__head__ready")
    for clock in range(4000):
        await RisingEdge(dut.clk)
        if head_valid.value == 1 and head_ready.value == 1:
            heads.append(clock)
        if valid.value == 1 and ready.value == 1:
            taken.append(clock)
        if len(taken) == len(pages) * slices:
            break
    of_slice = max(1, SLICE_BYTES // bench.config.data_bytes)
    for number in range(len(pages)):
        of_page = taken[number * slices : (number + 1) * slices]
        assert of_page[-1] - of_page[0] == (slices - 1) * of_slice, of_page
    starts = taken[::slices]
    # A slice is taken with its last beat.
    assert [start - head for head, start in zip(heads, starts, strict=True)] == [1 + of_slice] * len(pages)
    await bench.returned.wait_for(len(pages))
    assert bench.memory == bench.expected(pages)
    assert [b - a for a, b in pairwise(starts)] == [slices * of_slice + 2] * 3


@cocotb.test()
@cocotb.parametrize(name=list(CONFIGS))
async def a_burst_is_offered_when_its_beats_are_here(dut, name):
    """Two cycles after its last slice; so a slow lane does not hold the port."""
    drive(dut)
    bench = Bench(dut, name)
    await bench.start()
    words = [random.getrandbits(256) for _ in range(5)]
    page = Page(tag=1, buffer_block=8, first=0, words=words)
    bench.targets.send(pack(bench.target_layout, tag=1, buffer_block=8))
    bench.heads.send(pack(bench.head_layout, first=0, slices=5))
    bench.slices.send(*(pack(SLICE, data=word) for word in words[:4]))
    for _ in range(120):
        await RisingEdge(dut.clk)
        assert getattr(dut, f"{name}__axi__aw__valid").value == 0
    bench.slices.send(pack(SLICE, data=words[4], last=1))
    valid, ready = getattr(dut, f"{name}__slices__valid"), getattr(dut, f"{name}__slices__ready")
    while not (valid.value == 1 and ready.value == 1):
        await RisingEdge(dut.clk)
    latency = 0
    while getattr(dut, f"{name}__axi__aw__valid").value != 1:
        await RisingEdge(dut.clk)
        latency += 1
    assert latency == 2
    await bench.returned.wait_for(1)
    assert bench.memory == bench.expected([page])


@cocotb.test()
@cocotb.parametrize(name=list(CONFIGS))
async def it_waits_for_answers_at_its_limit(dut, name):
    """Bursts and pages that are not answered have room; the rest comes when answers do."""
    drive(dut)
    bench = Bench(dut, name)
    await bench.start()
    bench.answer = False
    pages = [Page(tag=n % 4, buffer_block=16 * n, first=0, words=[n]) for n in range(24)]
    bench.send(*pages)
    for _ in range(600):
        await RisingEdge(dut.clk)
    waiting = len(bench.bursts.items)
    assert 4 <= waiting <= BURSTS_OUTSTANDING and not bench.returned.items
    bench.answer = True
    await bench.returned.wait_for(len(pages))
    assert [event["tag"] for event in bench.returned_pages()] == [page.tag for page in pages]
    assert bench.memory == bench.expected(pages)
