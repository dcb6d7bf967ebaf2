"""Random jobs through the write pipeline: every page goes to its channel, in order, with its data."""

import random
from dataclasses import replace

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import PageEvent, PageKind, TileSource, WriteJob, WritePage, ZoneIdentity
from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import preset
from flashtrain.spec.geometry import Place
from flashtrain.spec.update import SourceIdentity

CONFIG = preset("tiny")
CONFIG = replace(CONFIG, read_queue=8, geometry=replace(CONFIG.geometry, **bench_parameters()))
GEOMETRY = CONFIG.geometry
CHANNELS = range(GEOMETRY.channels)
BEAT_BITS = 8 * CONFIG.data_bytes
BURST, BEAT = burst_layout(CONFIG.address_bits), read_beat_layout(BEAT_BITS)


def word(page: int, beat: int) -> int:
    """What lies in the tensor buffer: each beat of each page is different."""
    return (page * 0x9E3779B1 + beat * 0x85EBCA6B) % (1 << BEAT_BITS)


class Bench:
    """The pipeline between a job source, a tensor buffer and the channels."""

    def __init__(self, dut, busy: float = 1, latency: int = 0):
        self.dut = dut
        self.latency = latency
        self.jobs = StreamSource(dut, "jobs", busy)
        self.pages = [StreamSink(dut, f"pages__{c}", busy) for c in CHANNELS]
        self.flushes = [StreamSink(dut, f"flush__{c}", busy) for c in CHANNELS]
        self.bursts = StreamSink(dut, "axi__ar", busy)
        self.beats = StreamSource(dut, "axi__r", busy)
        self.arrived = StreamSink(dut, "arrived", busy)
        self.data: list[list[int]] = [[] for _ in CHANNELS]
        dut.flush_done.value = 0
        dut.data_room.value = 1
        self.busy = busy

    async def start(self) -> None:
        await start(self.dut)
        cocotb.start_soon(self._answer_bursts())
        cocotb.start_soon(self._watch_data())
        cocotb.start_soon(self._watch_pages())

    async def _answer_bursts(self) -> None:
        served = 0
        while True:
            await RisingEdge(self.dut.clk)
            while served < len(self.bursts.items):
                burst = unpack(BURST, self.bursts.items[served])
                served += 1
                for _ in range(self.latency):
                    await RisingEdge(self.dut.clk)
                page, offset = divmod(burst["address"], GEOMETRY.page_bytes)
                for beat in range(burst["length"] + 1):
                    value = word(page, offset // CONFIG.data_bytes + beat)
                    self.beats.send(pack(BEAT, last=beat == burst["length"], data=value))

    async def _watch_data(self) -> None:
        room = True  # a cycle ago
        while True:
            await RisingEdge(self.dut.clk)
            valid = int(self.dut.data_valid.value)
            assert valid & (valid - 1) == 0, "data is for one channel at a time"
            assert room or not valid, "a beat without room"
            room = self.dut.data_room.value == 1
            self.dut.data_room.value = int(random.random() < self.busy)
            if valid:
                self.data[valid.bit_length() - 1].append(int(self.dut.data.value))

    async def _watch_pages(self) -> None:
        """A channel may begin to place a page before it accepts it: the page stays offered."""
        ways = [
            (getattr(self.dut, f"pages__{c}__valid"), getattr(self.dut, f"pages__{c}__ready"))
            for c in CHANNELS
        ]
        refused = [False for _ in CHANNELS]
        while True:
            await RisingEdge(self.dut.clk)
            offered = [valid.value == 1 for valid, _ in ways]
            assert all(now or not before for now, before in zip(offered, refused, strict=True))
            refused = [now and ready.value == 0 for now, (_, ready) in zip(offered, ways, strict=True)]

    async def flush_done(self, channel: int) -> None:
        self.dut.flush_done.value = 1 << channel
        await RisingEdge(self.dut.clk)
        self.dut.flush_done.value = 0
        await RisingEdge(self.dut.clk)


def expected(jobs: list[dict]) -> tuple[list[list[dict]], list[list[int]], list[int]]:
    """Reference model: allocations and beats per channel, and the tags of reported pages."""
    pages: list[list[dict]] = [[] for _ in CHANNELS]
    beats: list[list[int]] = [[] for _ in CHANNELS]
    tags = []
    for job in jobs:
        kind = PageKind(job["kind"])
        for index in range(job["blocks"]):
            place = page_place(job, index)
            left = job["blocks"] - index
            if kind is PageKind.DATA:
                notify, close = job["non_volatile"], job["non_volatile"] and left <= GEOMETRY.channels
            else:
                notify = close = place.plane == job["last_page"]
            pages[place.channel].append({
                "zone": job["zone"], "page": place.page, "die": place.die, "plane": place.plane,
                "kind": kind.value, "tag": job["tag"], "stream": job["stream"], "notify": int(notify),
                "close": int(close), "source": job["source"], "copies": job["copies"],
                "buffer_block": job["buffer_block"] + index, "identity": job["identity"],
                "source_identity": source_of(job, place), "wear": job["wear"], "channel": place.channel,
            })  # fmt: skip
            beats[place.channel] += [
                word(job["buffer_block"] + index, beat) for beat in range(CONFIG.page_beats)
            ]
            tags.append(job["tag"])
    return pages, beats, tags


def page_place(job: dict, index: int) -> Place:
    """Where page `index` of a job goes: its `plane` is its number within the page set."""
    if job["kind"] == PageKind.DATA.value:
        return GEOMETRY.place(job["offset"] + index)
    index, channel = divmod(index, GEOMETRY.channels)
    index, page = divmod(index, job["last_page"] + 1)
    first = GEOMETRY.place(job["offset"])
    row, die = divmod(first.page * GEOMETRY.dies + first.die + index, GEOMETRY.dies)
    return Place(0, row, die, page, channel)


def source_of(job: dict, place: Place) -> int:
    """The required identity of a tile's source: its pages are as far apart as those of the new tiles."""
    fields = unpack(TileSource(), job["source_identity"])
    page = fields["page"] + place.page - GEOMETRY.place(job["offset"]).page
    return pack(TileSource(), **fields | {"page": page % (1 << SourceIdentity.page.width)})


def random_update() -> dict:
    """Tiles from the beginning of a page set on all channels on."""
    g = GEOMETRY
    pages = random.randint(1, g.planes)
    rows = random.randint(1, min(CONFIG.max_blocks // (pages * g.channels), g.dies * g.pages))
    first = random.randrange(g.dies * g.pages - rows + 1)
    return random_job() | {
        "kind": PageKind.GRADIENTS.value,
        "offset": first * g.planes * g.channels,
        "blocks": rows * pages * g.channels,
        "last_page": pages - 1,
        "source": random.randrange(g.zones),
        "copies": random.randint(0, pages),
    }


def constants() -> dict:
    return random_job() | {
        "kind": PageKind.CONSTANTS.value,
        "zone": 0,
        "offset": 0,
        "blocks": GEOMETRY.channels * GEOMETRY.dies,
        "last_page": 0,
    }


def random_job() -> dict:
    blocks = random.randint(1, CONFIG.max_blocks)
    return {
        "tag": random.randrange(CONFIG.commands),
        "stream": random.randrange(8),
        "non_volatile": random.randrange(2),
        "zone": random.randrange(GEOMETRY.zones),
        "offset": random.randrange(GEOMETRY.zone_capacity - blocks + 1),
        "blocks": blocks,
        "buffer_block": random.randrange(1 << 20),
        "kind": PageKind.DATA.value,
        "last_page": GEOMETRY.planes - 1,
        "source": 0,
        "copies": 0,
        "identity": random.getrandbits(ZoneIdentity().size),
        "source_identity": random.getrandbits(TileSource().size),
        "wear": random.getrandbits(20),
    }


async def until(dut, condition, cycles: int = 100_000) -> int:
    """The cycles that it took."""
    for clock in range(cycles):
        if condition():
            return clock
        await RisingEdge(dut.clk)
    raise AssertionError("timeout")


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.5])
async def pages_reach_their_channels(dut, busy):
    bench = Bench(dut, busy, latency=20)
    await bench.start()
    jobs = [random.choice((random_job, random_update, constants))() for _ in range(rounds(30))]
    bench.jobs.send(*(pack(WriteJob(CONFIG), **job) for job in jobs))
    pages, beats, tags = expected(jobs)
    await until(dut, lambda: [len(b) for b in bench.data] == [len(b) for b in beats])
    await bench.arrived.wait_for(len(tags))
    assert [[unpack(WritePage(CONFIG), p) for p in sink.items] for sink in bench.pages] == pages
    assert bench.data == beats
    assert [unpack(PageEvent(CONFIG), e) for e in bench.arrived.items] == [
        {"tag": t, "failed": 0} for t in tags
    ]
    assert dut.issued.value == len(jobs)


@cocotb.test()
async def moves_a_beat_per_clock(dut):
    """Behind the first page nothing but the tensor buffer limits the rate."""
    bench = Bench(dut)
    await bench.start()
    blocks = CONFIG.max_blocks
    job = {**random_job(), "offset": 0, "blocks": blocks}
    bench.jobs.send(*(pack(WriteJob(CONFIG), **job) for _ in range(3)))
    await until(dut, lambda: any(bench.data))
    cycles = await until(dut, lambda: sum(map(len, bench.data)) == 3 * blocks * CONFIG.page_beats)
    assert cycles <= 3 * blocks * CONFIG.page_beats + 2, f"{cycles} cycles for {3 * blocks} pages"


@cocotb.test()
async def a_job_starts_its_first_burst_after_three_cycles(dut):
    bench = Bench(dut)
    await bench.start()
    bench.jobs.send(pack(WriteJob(CONFIG), **random_job()))
    await RisingEdge(dut.jobs__valid)
    cycles = await until(dut, lambda: dut.axi__ar__valid.value == 1)
    assert cycles <= 4, cycles


@cocotb.test()
async def a_flush_follows_the_pages_before_it(dut):
    bench = Bench(dut, 0.7)
    await bench.start()
    first, second = {**random_job(), "tag": 1}, {**random_job(), "tag": 2}
    flush = {"flush": 1, "tag": 5, "stream": 3}

    def flushed() -> bool:
        return any(unpack(PageEvent(CONFIG), event)["tag"] == flush["tag"] for event in bench.arrived.items)

    bench.jobs.send(*(pack(WriteJob(CONFIG), **job) for job in (first, flush, second)))
    for sink in bench.flushes:
        assert await sink.wait_for(1) == [3]
    counts = [len(sink.items) for sink in bench.pages]
    before = [len(pages) for pages in expected([first])[0]]
    assert all(count >= least for count, least in zip(counts, before, strict=True))
    after = [len(pages) for pages in expected([first, second])[0]]
    await until(dut, lambda: [len(sink.items) for sink in bench.pages] == after)
    for channel in CHANNELS:
        for _ in range(40):  # more than enough for its event
            await RisingEdge(dut.clk)
        assert not flushed(), "the flush ended before the channels were done"
        await bench.flush_done(channel)
    await until(dut, flushed)


@cocotb.test()
async def an_error_of_the_tensor_buffer_fails_its_page(dut):
    bench = Bench(dut)
    await start(dut)
    job = {**random_job(), "blocks": 2, "offset": 0}
    bench.jobs.send(pack(WriteJob(CONFIG), **job))
    await bench.bursts.wait_for(2)
    wrong = random.randrange(CONFIG.page_beats)
    for page in range(2):
        for beat in range(CONFIG.page_beats):
            bench.beats.send(
                pack(BEAT, last=beat == CONFIG.page_beats - 1, error=page == 0 and beat == wrong)
            )
    events = [unpack(PageEvent(CONFIG), e) for e in await bench.arrived.wait_for(2)]
    assert [event["failed"] for event in events] == [1, 0]
