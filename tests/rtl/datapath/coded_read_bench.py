"""Pages with and without a codec through the read return; the decoder lanes are models."""

import random
from collections import Counter
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.datapath.page_check import CheckedPage
from flashtrain.rtl.layouts import ReadHead, ReadJob, ReturnedPage, ZoneIdentity
from flashtrain.rtl.lib.axi import burst_layout, write_beat_layout
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.identity import identity_record
from flashtrain.spec.streams import Codec
from tests.rtl.datapath.path_configs import TWO_LANES as CONFIG

GEOMETRY = CONFIG.geometry
CHANNELS = range(GEOMETRY.channels)
BEAT_BITS = 8 * CONFIG.data_bytes
LANES = 2
BURST, BEAT = burst_layout(CONFIG.address_bits), write_beat_layout(BEAT_BITS)
JOB, HEAD, CHECKED, RETURNED = ReadJob(CONFIG), ReadHead(CONFIG), CheckedPage(CONFIG), ReturnedPage(CONFIG)


@dataclass
class Page:
    """A page of a job, as its channel brings it."""

    job: dict
    index: int
    failed: int
    from_array: int
    wrong: int  # its identity
    is_copy: bool = False  # of an update, which has no read job
    words: list[int] = field(default_factory=lambda: [random.getrandbits(BEAT_BITS) for _ in range(BEATS)])

    @property
    def channel(self) -> int:
        return GEOMETRY.place(self.job["offset"] + self.index).channel

    @property
    def is_lost(self) -> bool:
        return bool(self.failed or (self.from_array and self.wrong))

    def head(self) -> int:
        place = GEOMETRY.place(self.job["offset"] + self.index)
        common = unpack(ZoneIdentity(), self.job["identity"])
        record = identity_record(
            **common, page=place.page, die=place.die, plane=place.plane, channel=place.channel,
            wear=random.getrandbits(20), updated=0,
        )  # fmt: skip
        identity = int.from_bytes(record, "little") ^ self.wrong << random.randrange(8)
        return pack(
            HEAD, tag=self.job["tag"], buffer_block=self.job["buffer_block"] + self.index, failed=self.failed,
            from_array=self.from_array, identity=identity,
        )  # fmt: skip

    def checked(self) -> dict[str, int]:
        """The part of a `CheckedPage` that a lane needs."""
        return {
            "tag": self.job["tag"], "buffer_block": self.job["buffer_block"], "channel": self.channel,
            "failed": int(self.is_lost), "codec": self.job["codec"], "expanded": self.job["expanded"],
            "is_first": int(self.index == 0), "is_last": int(self.index == self.job["blocks"] - 1),
        }  # fmt: skip


BEATS = CONFIG.page_beats


class Bench:
    """The read return between channels, decoder lanes and a tensor buffer."""

    def __init__(self, dut, busy: float = 1):
        self.dut, self.busy = dut, busy
        self.heads = [StreamSource(dut, f"heads__{c}", busy) for c in CHANNELS]
        self.beats = [StreamSource(dut, f"data__{c}", 1 if busy == 1 else 0.8) for c in CHANNELS]
        self.bursts = StreamSink(dut, "axi__aw", busy)
        self.written = StreamSink(dut, "axi__w", busy)
        self.answers = StreamSource(dut, "axi__b", busy)
        self.returned = StreamSink(dut, "returned", busy)
        self.memory: dict[int, int] = {}
        self.pages: list[list[dict[str, int]]] = [[] for _ in range(LANES)]
        self.decoded: list[list[int]] = [[] for _ in range(LANES)]
        self.moves: list[int] = []  # cycles in which a beat moves
        self.clock = 0

    async def start(self) -> None:
        dut = self.dut
        await start(
            dut, job=0, job_begins=0, opened=0, opened_tag=0, lane=0, lane_ready=0, lane_pages__ready=0
        )
        cocotb.start_soon(self._lanes())
        cocotb.start_soon(self._tensor_buffer())

    async def send(self, pages: list[Page]) -> None:
        dut = self.dut
        for page in {page.job["tag"]: page for page in pages}.values():
            dut.opened.value, dut.opened_tag.value, dut.job_begins.value = 1, page.job["tag"], 0
            await RisingEdge(dut.clk)
            dut.opened.value, dut.job_begins.value = 0, int(not page.is_copy)
            dut.job.value = pack(JOB, **page.job)
            await RisingEdge(dut.clk)
        dut.job_begins.value = 0
        for page in pages:
            self.heads[page.channel].send(page.head())
            self.beats[page.channel].send(*page.words)

    async def _lanes(self) -> None:
        """A page goes to the lane that is named when it is taken."""
        dut, offered = self.dut, None
        while True:
            lane, ready = random.randrange(LANES), random.random() < self.busy
            lane_ready = sum((random.random() < self.busy) << n for n in range(LANES))
            dut.lane.value = lane
            dut.lane_pages__ready.value = int(ready)
            dut.lane_ready.value = lane_ready
            await RisingEdge(dut.clk)
            self.clock += 1
            valid = dut.lane_pages__valid.value == 1
            page = int(dut.lane_pages__payload.value) if valid else None
            if page is not None and ready:
                self.pages[lane].append(unpack(CHECKED, page))
            lane_valid = int(dut.lane_valid.value)
            assert lane_valid & (lane_valid - 1) == 0, "a beat is for one lane"
            if moving := lane_valid & lane_ready:
                self.decoded[moving.bit_length() - 1].append(int(dut.beat.value))
            if moving or (dut.axi__w__valid.value == 1 and dut.axi__w__ready.value == 1):
                self.moves.append(self.clock)
            assert not (moving and dut.axi__w__valid.value == 1), "a beat goes two ways"
            assert offered in (None, page), "a page for a lane was withdrawn or changed"
            offered = None if ready else page

    async def _tensor_buffer(self) -> None:
        beats = served = 0
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


def random_pages(faults: float, share_of_arrays: float, share_of_copies: float = 0) -> list[Page]:
    """Of a command of each tag, mixed; each channel brings those of a command in their order."""
    queues = []
    for tag in range(CONFIG.commands):
        blocks = random.choice((1, 2, random.randint(1, 12)))
        job = {
            "tag": tag, "blocks": blocks, "offset": random.randrange(GEOMETRY.zone_capacity - blocks + 1),
            "buffer_block": 100 * tag, "codec": random.choice((Codec.RAW, *Codec)).value,
            "expanded": random.randint(1, CONFIG.max_blocks),
            "identity": pack(ZoneIdentity(), **{
                name: random.getrandbits(one.width) for name, one in ZoneIdentity()
            }),
        }  # fmt: skip
        if random.random() < share_of_copies:
            job["codec"] = Codec.RAW.value
            queues.append([Page(job, index, 0, 0, 0, True) for index in range(blocks)])
            continue
        queues.append([
            Page(
                job, index, int(random.random() < faults), int(random.random() < share_of_arrays),
                int(random.random() < faults),
            )
            for index in range(blocks)
        ])  # fmt: skip
    pages = []
    while queues := [queue for queue in queues if queue]:
        pages.append(random.choice(queues).pop(0))
    return pages


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.6])
async def pages_go_to_lanes_or_to_the_tensor_buffer(dut, busy):
    """A lane has what it needs to decode a page, and then all of its beats, of a lost page, too.

    The copies of an update go to the tensor buffer, whatever command had their tag before.
    """
    bench = Bench(dut, busy)
    await bench.start()
    done = 0
    for _ in range(3):
        pages = random_pages(0.2, 0.7, 0.3)
        await bench.send(pages)
        coded = [page for page in pages if page.job["codec"] != Codec.RAW]
        raw = [page for page in pages if page.job["codec"] == Codec.RAW]
        events = (await bench.returned.wait_for(done + len(raw)))[done:]
        done += len(raw)
        while sum(map(len, bench.decoded)) < len(coded) * BEATS:
            await RisingEdge(dut.clk)
        wanted = {tuple(page.checked().items()): page for page in coded}
        for lane in range(LANES):
            words = []
            for got in bench.pages[lane]:
                names = coded[0].checked()
                words += wanted.pop(tuple((name, got[name]) for name in names)).words
            assert bench.decoded[lane] == words
            bench.pages[lane].clear()
            bench.decoded[lane].clear()
        assert not wanted, "pages that no lane has"
        assert Counter(
            (e["tag"], e["failed"]) for e in (unpack(RETURNED, bits) for bits in events)
        ) == Counter((page.job["tag"], int(page.is_lost)) for page in raw)
        assert not any(unpack(RETURNED, bits)["refused"] for bits in events)
        assert bench.memory == {
            (page.job["buffer_block"] + page.index) * GEOMETRY.page_bytes + beat * CONFIG.data_bytes: word
            for page in raw
            if not page.is_lost
            for beat, word in enumerate(page.words)
        }
        bench.memory.clear()


@cocotb.test()
async def a_beat_moves_in_every_cycle(dut):
    """From one kind of page to the other, too."""
    bench = Bench(dut)
    await bench.start()
    pages = random_pages(0, 1)
    await bench.send(pages)
    while len(bench.moves) < len(pages) * BEATS:
        await RisingEdge(dut.clk)
    assert {page.job["codec"] == Codec.RAW for page in pages} == {True, False}
    assert bench.moves[-1] - bench.moves[0] == len(pages) * BEATS - 1
