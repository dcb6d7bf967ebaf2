"""Jobs with and without a codec through splitter and fetch; the encoder is a model.

Its pages are unlike its blocks: a job of some blocks becomes any number of pages.
"""

import random
from dataclasses import replace

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.codec.encoder import EncoderJob, EncoderPage
from flashtrain.rtl.layouts import PageEvent, PageKind, Settled, WriteJob, WritePage, ZoneIdentity
from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec import preset
from flashtrain.spec.streams import Codec

CONFIG = replace(preset("tiny_codec"), read_queue=8)
GEOMETRY = CONFIG.geometry
CHANNELS = range(GEOMETRY.channels)
BEAT_BITS = 8 * CONFIG.data_bytes
SLACKS = 2 * GEOMETRY.zone_size  # the slack counters come round here
BURST, BEAT = burst_layout(CONFIG.address_bits), read_beat_layout(BEAT_BITS)
JOB, PAGE, SETTLED = WriteJob(CONFIG), WritePage(CONFIG), Settled(CONFIG)
ENCODER_JOB, EVENT = EncoderJob(CONFIG), PageEvent(CONFIG)
BUFFERED_PAGES = 3  # that the encoder has completed and not sent


def word(page: int, beat: int) -> int:
    """A beat of a block in the tensor buffer."""
    return (page * 0x9E3779B1 + beat * 0x85EBCA6B) % (1 << BEAT_BITS)


def encoded_word(tag: int, page: int, beat: int) -> int:
    return hash((tag, page, beat)) % (1 << BEAT_BITS)


class Encoder:
    """Takes the blocks of its jobs, and offers a page when some share of them has come."""

    def __init__(self, dut, busy: float):
        self.dut = dut
        self.jobs = StreamSink(dut, "encode", busy)
        self.data = StreamSink(dut, "to_encoder", busy)
        self.pages = StreamSource(dut, "encoded", busy)
        self.beats = StreamSource(dut, "encoded_beats", busy)
        self.lengths: list[tuple[int, int]] = []  # of each job: its tag, and the pages that it becomes

    async def run(self) -> None:
        taken = 0
        for number in range(10_000):
            while len(self.jobs.items) <= number:
                await RisingEdge(self.dut.clk)
            job = unpack(ENCODER_JOB, self.jobs.items[number])
            tag, pages = self.lengths[number]
            beats = job["blocks"] * CONFIG.page_beats
            for page in range(pages):
                # The last page follows the last block; the others come at any time between.
                share = beats if page == pages - 1 else beats * (page + 1) // pages
                while len(self.data.items) < taken + share or self._buffered() >= BUFFERED_PAGES:
                    await RisingEdge(self.dut.clk)
                sent = self.pages.sent
                self.pages.send(pack(EncoderPage(), last=page == pages - 1))
                while self.pages.sent == sent:
                    await RisingEdge(self.dut.clk)
                self.beats.send(*(encoded_word(tag, page, beat) for beat in range(CONFIG.page_beats)))
            taken += beats

    def _buffered(self) -> int:
        return -(-len(self.beats.items) // CONFIG.page_beats) + len(self.pages.items)


class Bench:
    """The path between jobs, a tensor buffer, an encoder and the channels."""

    def __init__(self, dut, busy: float = 1, failing: float = 0):
        self.dut, self.failing = dut, failing
        self.jobs = StreamSource(dut, "jobs", busy)
        self.pages = [StreamSink(dut, f"pages__{c}", busy) for c in CHANNELS]
        self.flushes = [StreamSink(dut, f"flush__{c}", busy) for c in CHANNELS]
        self.bursts = StreamSink(dut, "axi__ar", busy)
        self.beats = StreamSource(dut, "axi__r", busy)
        self.arrived = StreamSink(dut, "arrived", busy)
        self.flushed = StreamSink(dut, "flushed", busy)
        self.settled = StreamSink(dut, "settled", busy)
        self.encoder = Encoder(dut, busy)
        self.failed_blocks: set[int] = set()
        self.data: list[list[int]] = [[] for _ in CHANNELS]
        self.issued_after: dict[int, list[int]] = {}  # flushes sent by then, by number of issued jobs
        dut.flush_done.value = 0
        dut.data_room.value = 1
        self.busy = busy

    async def start(self) -> None:
        await start(self.dut)
        for watch in (self._tensor_buffer(), self._watch(), self._answer_flushes(), self.encoder.run()):
            cocotb.start_soon(watch)

    async def _tensor_buffer(self) -> None:
        served = 0
        while True:
            await RisingEdge(self.dut.clk)
            while served < len(self.bursts.items):
                burst = unpack(BURST, self.bursts.items[served])
                served += 1
                page, offset = divmod(burst["address"], GEOMETRY.page_bytes)
                failed = random.randrange(CONFIG.page_beats) if random.random() < self.failing else None
                if failed is not None:
                    self.failed_blocks.add(page)
                for beat in range(burst["length"] + 1):
                    number = offset // CONFIG.data_bytes + beat
                    self.beats.send(
                        pack(
                            BEAT,
                            last=beat == burst["length"],
                            data=word(page, number),
                            error=number == failed,
                        )
                    )

    async def _watch(self) -> None:
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
            issued = int(self.dut.issued.value)
            self.issued_after.setdefault(issued, [len(sink.items) for sink in self.flushes])

    async def _answer_flushes(self) -> None:
        """Each channel in its own time."""
        answered = [0] * GEOMETRY.channels
        while True:
            done = 0
            for channel, sink in enumerate(self.flushes):
                if answered[channel] < len(sink.items) and random.random() < 0.1:
                    answered[channel] += 1
                    done |= 1 << channel
            self.dut.flush_done.value = done
            await RisingEdge(self.dut.clk)


class ManagerModel:
    """Makes jobs as the zone manager does: their offsets know of the slack of some of the jobs before."""

    def __init__(self) -> None:
        self.slack = [0] * 8
        self.pointers: dict[int, int] = {}
        self.next_block = 0

    def job(self, codec: Codec, blocks: int, pages: int, late: bool, **fields: int) -> tuple[dict, dict]:
        """A job, and what is expected of it: the offset of its first page, and its pages."""
        stream = fields["stream"]
        bound = pages + random.randint(0, 6) if codec is not Codec.RAW else 0
        offset = self.pointers.get(stream, 0)
        if offset + max(pages, bound) + 12 > GEOMETRY.zone_capacity:
            offset = 0
        # The slack of late jobs is not known, so their offset is too far by as much.
        unknown = random.randint(0, 12) if late else 0
        known = (self.slack[stream] - unknown) % SLACKS
        job = {
            "zone": random.randrange(GEOMETRY.zones), "kind": PageKind.DATA.value,
            "last_page": GEOMETRY.planes - 1, "buffer_block": self.next_block, "blocks": blocks,
            "codec": codec.value, "bound": bound, "slack": known if codec is not Codec.RAW else 0,
            "offset": (offset + unknown) % GEOMETRY.zone_size,
            "identity": pack(ZoneIdentity(), stream=stream, zone=random.randrange(GEOMETRY.zones)),
            "wear": random.getrandbits(20), **fields,
        }  # fmt: skip
        self.next_block += blocks
        self.pointers[stream] = offset + pages
        if codec is not Codec.RAW:
            self.slack[stream] = (self.slack[stream] + bound - pages) % SLACKS
        return job, {"offset": offset, "pages": pages, "first_block": job["buffer_block"]}


def random_jobs(bench: Bench, count: int) -> list[tuple[dict, dict]]:
    """Streams 0 to 3 have a codec; the odd ones are non-volatile."""
    manager, jobs = ManagerModel(), []
    for number in range(count):
        stream = random.randrange(6)
        fields = {"tag": number % CONFIG.commands, "stream": stream, "non_volatile": stream % 2}
        if number % 7 == 3:
            jobs.append(({"flush": 1, **fields}, {"pages": 0}))
        elif stream < 4:
            blocks, pages = random.randint(1, 5), random.randint(1, 6)
            bench.encoder.lengths.append((number, pages))
            codec = random.choice((Codec.WINDOW16, Codec.WINDOW32, Codec.ROUND16))
            jobs.append(manager.job(codec, blocks, pages, random.random() < 0.5, **fields))
        else:
            blocks = random.randint(1, 5)
            jobs.append(manager.job(Codec.RAW, blocks, blocks, False, **fields))
    return jobs


def expected_pages(jobs: list[tuple[dict, dict]]) -> tuple[list[list[dict]], list[list[int]]]:
    """Allocations and beats, per channel."""
    pages: list[list[dict]] = [[] for _ in CHANNELS]
    beats: list[list[int]] = [[] for _ in CHANNELS]
    for number, (job, wanted) in enumerate(jobs):
        for index in range(wanted["pages"]):
            place = GEOMETRY.place(wanted["offset"] + index)
            is_raw = job["codec"] == Codec.RAW
            left = wanted["pages"] - index
            pages[place.channel].append({
                "zone": job["zone"], "page": place.page, "die": place.die, "plane": place.plane,
                "tag": job["tag"], "stream": job["stream"], "notify": job["non_volatile"],
                "close": int(is_raw and job["non_volatile"] and left <= GEOMETRY.channels),
                "identity": job["identity"], "wear": job["wear"], "channel": place.channel,
                "kind": PageKind.DATA.value,
            })  # fmt: skip
            beats[place.channel] += [
                word(wanted["first_block"] + index, beat) if is_raw else encoded_word(number, index, beat)
                for beat in range(CONFIG.page_beats)
            ]
    return pages, beats


def expected_settled(jobs: list[tuple[dict, dict]], failed: set[int]) -> list[dict]:
    return [
        {
            "tag": job["tag"], "stream": job["stream"], "non_volatile": job["non_volatile"],
            "failed": int(any(job["buffer_block"] + n in failed for n in range(job["blocks"]))),
            "zone": unpack(ZoneIdentity(), job["identity"])["zone"],
            "offset": wanted["offset"], "stored": wanted["pages"], "slack": job["bound"] - wanted["pages"],
        }
        for job, wanted in jobs
        if "codec" in job and job["codec"] != Codec.RAW
    ]  # fmt: skip


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.6])
async def pages_are_placed_behind_each_other(dut, busy):
    """Raw and encoded pages reach each channel in the order in which it accepted them."""
    bench = Bench(dut, busy, failing=0.2)
    await bench.start()
    jobs = random_jobs(bench, 20)
    bench.jobs.send(*(pack(JOB, **job) for job, _ in jobs))
    pages, beats = expected_pages(jobs)
    while int(dut.issued.value) < len(jobs) or [len(b) for b in bench.data] != [len(b) for b in beats]:
        await RisingEdge(dut.clk)
    for channel in CHANNELS:
        got = [unpack(PAGE, bits) for bits in bench.pages[channel].items]
        assert len(got) == len(pages[channel])
        assert [{name: page[name] for name in pages[channel][0]} for page in got] == pages[channel]
    assert bench.data == beats
    settled = [unpack(SETTLED, bits) for bits in bench.settled.items]
    assert settled == expected_settled(jobs, bench.failed_blocks)
    assert {one["failed"] for one in settled} == {0, 1}
    raw = [(job, wanted) for job, wanted in jobs if job.get("codec") == Codec.RAW]
    arrived = [unpack(EVENT, bits) for bits in await bench.arrived.wait_for(sum(w["pages"] for _, w in raw))]
    assert arrived == [
        {"tag": job["tag"], "failed": int(job["buffer_block"] + index in bench.failed_blocks)}
        for job, wanted in raw
        for index in range(wanted["pages"])
    ]


@cocotb.test()
async def a_non_volatile_job_closes_its_sets(dut):
    """By a flush of its stream to every channel, which has no tag; it is issued with that."""
    bench = Bench(dut, 0.8)
    await bench.start()
    jobs = random_jobs(bench, 13)
    bench.jobs.send(*(pack(JOB, **job) for job, _ in jobs))
    while int(dut.issued.value) < len(jobs):
        await RisingEdge(dut.clk)
    flushes, flushed, after = [], [], {0: 0}
    for number, (job, _) in enumerate(jobs, 1):
        encodes = job.get("codec", Codec.RAW) != Codec.RAW
        if "flush" in job or (encodes and job["non_volatile"]):
            flushes.append(job["stream"])
        if "flush" in job:
            flushed.append(job["tag"])
        after[number] = len(flushes)
    assert any("flush" not in job and job["non_volatile"] and job["codec"] for job, _ in jobs)
    for sink in bench.flushes:
        assert sink.items == flushes
    for _ in range(200):  # more than enough for the channels' answers
        await RisingEdge(dut.clk)
    assert flushed and bench.flushed.items == flushed
    for number, counts in bench.issued_after.items():
        assert counts == [after[number]] * len(counts), f"{number} jobs were issued before their flush"


@cocotb.test()
async def a_job_fetches_its_first_block_after_two_cycles(dut):
    """To the encoder, and the burst follows; in the steady state a beat moves in every cycle."""
    bench = Bench(dut)
    await bench.start()
    manager = ManagerModel()
    bench.encoder.lengths.append((0, 1))
    job, _ = manager.job(Codec.WINDOW16, 6, 1, False, stream=0, tag=1, non_volatile=0)
    bench.jobs.send(pack(JOB, **job))
    while dut.jobs__valid.value != 1:
        await RisingEdge(dut.clk)
    latency = 0
    while dut.encode__valid.value != 1:
        await RisingEdge(dut.clk)
        latency += 1
    assert latency == 2
    await bench.encoder.data.wait_for(6 * CONFIG.page_beats)
    cycles = bench.encoder.data.cycles
    assert cycles[-1] - cycles[0] == 6 * CONFIG.page_beats - 1
    assert [job["blocks"] for job in (unpack(ENCODER_JOB, bits) for bits in bench.encoder.jobs.items)] == [6]
    await bench.settled.wait_for(1)


@cocotb.test()
async def a_channel_without_room_stalls_the_encoder(dut):
    """`stalled` says so; what was accepted goes out meanwhile."""
    bench = Bench(dut)
    for sink in bench.pages:
        sink.busy = 0
    await bench.start()
    bench.encoder.lengths.append((0, 3))
    job, _ = ManagerModel().job(Codec.WINDOW32, 3, 3, False, stream=1, tag=2, non_volatile=1)
    bench.jobs.send(pack(JOB, **job))
    await bench.encoder.data.wait_for(CONFIG.page_beats)
    for _ in range(40):
        await RisingEdge(dut.clk)
    assert dut.stalled.value == 1 and not any(bench.data) and not bench.settled.items
    assert dut.issued.value == 0
    for sink in bench.pages:
        sink.busy = 1
    await bench.settled.wait_for(1)
    while sum(map(len, bench.data)) < 3 * CONFIG.page_beats:
        await RisingEdge(dut.clk)
