"""Random jobs through the read pipeline: every page is asked of its channel and ends where it belongs."""

import random
from collections import Counter

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import (
    PagePart,
    ReadEffort,
    ReadHead,
    ReadJob,
    ReadPage,
    ReturnedPage,
    ZoneIdentity,
)
from flashtrain.rtl.lib.axi import burst_layout, write_beat_layout
from flashtrain.sim.bench.parameters import bench_parameters, is_long
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.identity import PageIdentity, identity_record
from tests.rtl.channel.channel_helpers import some_part
from tests.rtl.datapath.path_configs import read_config

CONFIG = read_config(bench_parameters()["shape"])
# The other shapes read whole pages in every run.
OF_WHOLE_PAGES = cocotb.test(skip=bool(CONFIG.part_bytes) and not is_long())
GEOMETRY = CONFIG.geometry
CHANNELS = range(GEOMETRY.channels)
BEAT_BITS = 8 * CONFIG.data_bytes
BURST, BEAT = burst_layout(CONFIG.address_bits), write_beat_layout(BEAT_BITS)


def word(zone: int, row: int, die: int, plane: int, channel: int, beat: int) -> int:
    """What the flash holds: each beat of each page is different."""
    return hash((zone, row, die, plane, channel, beat)) % (1 << BEAT_BITS)


class Bench:
    """The pipeline between a job source, channels that answer in order, and a tensor buffer."""

    def __init__(self, dut, busy: float = 1, failing: float = 0):
        self.dut = dut
        self.failing = failing
        self.jobs_sent: dict[int, dict] = {}  # by tag
        self.identity_of = identity  # what the flash holds behind the data of a page
        self.brought = lambda page: page  # what a channel brings when it is asked for this one
        self.jobs = StreamSource(dut, "jobs", busy)
        self.pages = [StreamSink(dut, f"pages__{c}", busy) for c in CHANNELS]
        self.heads = [StreamSource(dut, f"heads__{c}", busy) for c in CHANNELS]
        self.beats = [StreamSource(dut, f"data__{c}", 1 if busy == 1 else 0.8) for c in CHANNELS]
        self.bursts = StreamSink(dut, "axi__aw", busy)
        self.written = StreamSink(dut, "axi__w", busy)
        self.answers = StreamSource(dut, "axi__b", busy)
        self.returned = StreamSink(dut, "returned", busy)
        self.memory: dict[int, int] = {}
        self.from_sram: set[int] = set()
        self.failed_pages: set[int] = set()
        self.efforts: Counter = Counter()  # with the tag
        self.asked: list[tuple[int, dict]] = []  # channel and page
        dut.issued.value = 0

    async def start(self) -> None:
        await start(self.dut)
        for channel in CHANNELS:
            cocotb.start_soon(self._channel(channel))
        cocotb.start_soon(self._tensor_buffer())

    def send(self, *jobs: dict) -> None:
        self.jobs_sent |= {job["tag"]: job for job in jobs}
        names = ReadJob(CONFIG).members
        self.jobs.send(*(
            pack(ReadJob(CONFIG), **{name: job[name] for name in names if name in job}) for job in jobs
        ))  # fmt: skip

    async def _channel(self, channel: int) -> None:
        served = 0
        while True:
            await RisingEdge(self.dut.clk)
            while served < len(self.pages[channel].items):
                page = unpack(ReadPage(CONFIG), self.pages[channel].items[served])
                served += 1
                self.asked.append((channel, page))
                failed = int(random.random() < self.failing)
                if failed:
                    self.failed_pages.add(page["buffer_block"])
                job = self.jobs_sent[page["tag"]]
                from_array = not page["statistics"] and page["buffer_block"] not in self.from_sram
                known = from_array and not failed
                record = self.identity_of(job, page, channel) if known else bytes(16)
                effort = random.getrandbits(ReadEffort(CONFIG).size)
                self.efforts[page["tag"], effort] += 1
                self.heads[channel].send(
                    pack(
                        ReadHead(CONFIG),
                        tag=page["tag"],
                        buffer_block=self.brought(page["buffer_block"]),
                        failed=failed,
                        from_array=int(from_array),
                        identity=int.from_bytes(record, "little"),
                        effort=effort,
                        **({"part": page["part"]} if CONFIG.part_bytes else {}),
                    )
                )
                self.beats[channel].send(*(
                    word(page["zone"], page["page"], page["die"], page["plane"], channel, beat)
                    for beat in range(CONFIG.page_beats)[job.get("words", slice(None))]
                ))  # fmt: skip

    async def _tensor_buffer(self) -> None:
        beats = 0
        served = 0
        while True:
            await RisingEdge(self.dut.clk)
            while served < len(self.bursts.items):
                burst = unpack(BURST, self.bursts.items[served])
                end = beats + burst["length"] + 1
                if len(self.written.items) < end:
                    break
                served += 1
                for index in range(beats, end):
                    beat = unpack(BEAT, self.written.items[index])
                    assert beat["last"] == (index == end - 1)
                    if not beat["masked"]:
                        self.memory[burst["address"] + (index - beats) * CONFIG.data_bytes] = beat["data"]
                beats = end
                self.answers.send(0)


def random_identity() -> dict[str, int]:
    return {name: random.getrandbits(field.width) for name, field in ZoneIdentity()}


def identity(job: dict, page: dict, channel: int, **other: int) -> bytes:
    """The record of a page of the job, with `other` fields."""
    common = unpack(ZoneIdentity(), job["identity"])
    place = {"page": page["page"], "die": page["die"], "plane": page["plane"], "channel": channel}
    return identity_record(
        **{**common, **place, "wear": random.getrandbits(20), "updated": random.getrandbits(1), **other}
    )


def random_job(page: int) -> dict:
    """Jobs in flight have tags of their own: a page number below 800 gives the tag."""
    blocks = random.randint(1, CONFIG.max_blocks)
    return {
        "tag": page // 100 % CONFIG.commands,
        "zone": random.randrange(GEOMETRY.zones),
        "offset": random.randrange(GEOMETRY.zone_capacity - blocks + 1),
        "blocks": blocks,
        "buffer_block": page,
        "after": 0,
        "statistics": 0,
        "inspect": 0,
        "identity": pack(ZoneIdentity(), **random_identity()),
    }


def expected(jobs: list[dict]) -> tuple[dict[int, int], Counter]:
    """Twin: what the tensor buffer holds in the end, and how many pages each tag had."""
    memory, tags = {}, Counter()
    for job in jobs:
        for index in range(job["blocks"]):
            place = GEOMETRY.place(job["offset"] + index)
            start = (job["buffer_block"] + index) * GEOMETRY.page_bytes + job.get("start", 0)
            beats = range(CONFIG.page_beats)[job.get("words", slice(None))]
            for beat in beats:
                address = start + (beat - beats.start) * CONFIG.data_bytes
                memory[address] = word(job["zone"], place.page, place.die, place.plane, place.channel, beat)
        tags[job["tag"]] += job["blocks"]
    return memory, tags


@OF_WHOLE_PAGES
@cocotb.parametrize(busy=[1, 0.5])
async def pages_reach_the_tensor_buffer(dut, busy):
    bench = Bench(dut, busy)
    await bench.start()
    jobs = [random_job(100 * number) for number in range(8)]
    bench.from_sram = {page for page in range(800) if random.random() < 0.3}
    bench.send(*jobs)
    memory, tags = expected(jobs)
    events = [unpack(ReturnedPage(CONFIG), e) for e in await bench.returned.wait_for(tags.total())]
    assert bench.memory == memory
    assert Counter(event["tag"] for event in events) == tags
    assert Counter((event["tag"], event["effort"]) for event in events) == bench.efforts
    assert not any(event["failed"] for event in events)


def job_of_part(page: int) -> dict:
    """A job for a part of a block. It goes somewhere in the buffer, maybe over the end of a block."""
    fields, words = some_part(CONFIG)
    target = unpack(PagePart(CONFIG), fields["part"])["target"]
    job = {**random_job(page), "offset": random.randrange(GEOMETRY.zone_capacity), "blocks": 1}
    return {**job, **fields, "words": words, "start": target * CONFIG.part_bytes}


@cocotb.test(skip=not CONFIG.part_bytes)
@cocotb.parametrize(busy=[1, 0.5])
async def parts_go_where_they_are_sent(dut, busy):
    """Between whole blocks; nothing beside them is written, nor are those that fail."""
    bench = Bench(dut, busy, failing=0.1)
    await bench.start()
    for _ in range(rounds(4, usual=2)):
        jobs = [random.choice((job_of_part, job_of_part, random_job))(100 * n) for n in range(8)]
        bench.send(*jobs)
        _, tags = expected(jobs)
        done = len(bench.returned.items)
        answers = (await bench.returned.wait_for(done + tags.total()))[done:]
        events = [unpack(ReturnedPage(CONFIG), answer) for answer in answers]
        assert Counter(event["tag"] for event in events) == tags
        failed = Counter(event["tag"] for event in events if event["failed"])
        assert failed == Counter(page // 100 for page in bench.failed_pages)
        blocks = (
            {**job, "offset": job["offset"] + n, "buffer_block": job["buffer_block"] + n, "blocks": 1}
            for job in jobs
            for n in range(job["blocks"])
        )
        memory, _ = expected([one for one in blocks if one["buffer_block"] not in bench.failed_pages])
        assert bench.memory == memory
        bench.memory.clear()
        bench.failed_pages.clear()


@OF_WHOLE_PAGES
@cocotb.parametrize(busy=[1, 0.5])
async def statistics_are_asked_of_each_die(dut, busy):
    """One page of each die, channels side by side; reads before and after them are as ever."""
    bench = Bench(dut, busy)
    await bench.start()
    dies = GEOMETRY.channels * GEOMETRY.dies
    statistics = {**random_job(1000), "zone": 0, "offset": 0, "blocks": dies, "statistics": 1, "tag": 5}
    reads = [random_job(page) for page in (0, 200)]
    bench.send(reads[0], statistics, reads[1])
    await bench.returned.wait_for(dies + sum(job["blocks"] for job in reads))
    asked = sorted(
        (page["buffer_block"], page["die"], channel, page["plane"], page["page"], page["tag"])
        for channel, page in bench.asked
        if page["statistics"]
    )
    assert asked == [(1000 + n, n // GEOMETRY.channels, n % GEOMETRY.channels, 0, 0, 5) for n in range(dies)]
    memory, _ = expected(reads)
    assert memory.items() <= bench.memory.items()


@OF_WHOLE_PAGES
async def moves_a_beat_per_clock(dut):
    """The beats of a page follow those of the page before, from another channel, without an idle clock."""
    bench = Bench(dut)
    await bench.start()
    blocks = CONFIG.max_blocks
    bench.send(*({**random_job(100 * n), "offset": 0, "blocks": blocks} for n in range(3)))
    beats = 3 * blocks * CONFIG.page_beats
    await bench.written.wait_for(beats)
    cycles = bench.written.cycles[beats - 1] - bench.written.cycles[0] + 1
    assert cycles <= beats + 2, f"{cycles} cycles for {beats} beats"


@cocotb.test()
async def a_job_waits_for_the_writes_before_it(dut):
    bench = Bench(dut)
    await bench.start()
    dut.issued.value = 0xFFFFFFFF
    bench.send({**random_job(0), "after": 1})
    for _ in range(50):
        await RisingEdge(dut.clk)
    assert not any(sink.items for sink in bench.pages)
    dut.issued.value = 1
    for _ in range(200):
        await RisingEdge(dut.clk)
    assert any(sink.items for sink in bench.pages)


@cocotb.test()
async def failed_pages_are_reported(dut):
    bench = Bench(dut, failing=0.3)
    await bench.start()
    jobs = [random_job(100 * number) for number in range(6)]
    bench.send(*jobs)
    total = sum(job["blocks"] for job in jobs)
    events = [unpack(ReturnedPage(CONFIG), e) for e in await bench.returned.wait_for(total)]
    failed = Counter(event["tag"] for event in events if event["failed"])
    assert bench.failed_pages and failed == Counter(page // 100 for page in bench.failed_pages)
    memory, _ = expected(jobs)
    whole = {a: value for a, value in memory.items() if a // GEOMETRY.page_bytes not in bench.failed_pages}
    assert bench.memory == whole


@cocotb.test()
async def an_error_of_the_tensor_buffer_fails_its_page(dut):
    bench = Bench(dut)
    await start(dut)
    for channel in CHANNELS:
        cocotb.start_soon(bench._channel(channel))
    bench.send({**random_job(0), "blocks": 2})
    await bench.written.wait_for(2 * CONFIG.page_beats)
    of_page = CONFIG.page_parts  # as many bursts
    bench.answers.send(1, *[0] * (2 * of_page - 1))
    events = [unpack(ReturnedPage(CONFIG), e) for e in await bench.returned.wait_for(2)]
    assert [event["failed"] for event in events] == [1, 0]


COMPARED = ("stream", "zone", "page", "channel", "die", "plane", "generation", "sequence")
FIELDS = (*COMPARED, "wear", "updated")


def damaged(record: bytes) -> bytes:
    """With another value in a field; the checksum may fit that."""
    name = random.choice((*FIELDS, "version", "crc"))
    field = getattr(PageIdentity, name)
    value = int.from_bytes(record, "little") ^ field.put(random.randrange(1, 1 << field.width))
    if name in COMPARED and random.random() < 0.7:
        return identity_record(**{name: getattr(PageIdentity, name).get(value) for name in FIELDS})
    return value.to_bytes(PageIdentity.BYTES, "little")


@OF_WHOLE_PAGES
@cocotb.parametrize(busy=[1, 0.5])
async def a_page_of_another_identity_is_not_returned(dut, busy):
    """It fails, and its place in the tensor buffer stays as it was."""
    bench = Bench(dut, busy)
    wrong = set()

    def sometimes_damaged(job: dict, page: dict, channel: int) -> bytes:
        record = identity(job, page, channel)
        if random.random() < 0.6:
            return record
        wrong.add(page["buffer_block"])
        return random.choice((damaged(record), bytes(16), b"\xff" * 16))

    bench.identity_of = sometimes_damaged
    await bench.start()
    jobs = [random_job(100 * number) for number in range(8)]
    bench.send(*jobs)
    memory, tags = expected(jobs)
    events = [unpack(ReturnedPage(CONFIG), e) for e in await bench.returned.wait_for(tags.total())]
    failed = Counter(event["tag"] for event in events if event["failed"])
    assert wrong and failed == Counter(page // 100 for page in wrong)
    whole = {a: value for a, value in memory.items() if a // GEOMETRY.page_bytes not in wrong}
    assert bench.memory == whole


@cocotb.test()
async def a_page_of_another_channel_is_not_returned(dut):
    """Whatever its identity says: two channels bring each other's page."""
    bench = Bench(dut)
    bench.brought = lambda page: page ^ 1
    await bench.start()
    bench.send({**random_job(100), "offset": 4, "blocks": 2})
    events = [unpack(ReturnedPage(CONFIG), e) for e in await bench.returned.wait_for(2)]
    assert [event["failed"] for event in events] == [1, 1]
    assert not bench.memory


@OF_WHOLE_PAGES
async def an_inspection_returns_what_is_there(dut):
    """The identity takes the place of the last bytes of each page, whatever it is; zeros if it is lost."""
    bench = Bench(dut, failing=0.2)
    found = {}

    def anything(job: dict, page: dict, channel: int) -> bytes:
        record = random.choice((identity(job, page, channel), random.randbytes(16), b"\xff" * 16))
        found[page["buffer_block"]] = record
        return record

    bench.identity_of = anything
    await bench.start()
    jobs = [{**random_job(100 * number), "inspect": number % 2} for number in range(1, 8, 2)]
    bench.send(*jobs)
    memory, tags = expected(jobs)
    events = [unpack(ReturnedPage(CONFIG), e) for e in await bench.returned.wait_for(tags.total())]
    assert not any(event["failed"] for event in events)
    assert bench.failed_pages
    found |= dict.fromkeys(bench.failed_pages, bytes(PageIdentity.BYTES))
    for number, record in found.items():
        for offset in range(0, PageIdentity.BYTES, CONFIG.data_bytes):
            piece = record[offset : offset + CONFIG.data_bytes]
            address = (number + 1) * GEOMETRY.page_bytes - PageIdentity.BYTES + offset
            memory[address] = int.from_bytes(piece, "little")
    assert bench.memory == memory
