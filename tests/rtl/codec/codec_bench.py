"""Encoder and decoder lane against the reference model, bit by bit and in cycles; pages that are none."""

import random

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.numerics.codec import decode_page
from flashtrain.rtl.codec.decoder_lane import DecodedHead, DecodedSlice, LanePage
from flashtrain.rtl.codec.encoder import EncoderJob
from flashtrain.rtl.codec.layouts import EncoderShape
from flashtrain.sim.bench.parameters import bench_parameters, is_long
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from flashtrain.spec.codec import (
    CHECK_BYTES,
    CODED,
    SLICE_BYTES,
    Mode,
    PageHeader,
    Refusal,
    page_check,
    plane_bytes,
)
from flashtrain.spec.nvme import BitField
from flashtrain.spec.streams import Codec
from tests.rtl.codec.codec_helpers import (
    CONFIGS,
    KINDS,
    Octets,
    beats_of,
    header_of,
    mixed_data,
    octets_of,
    pages_of,
    user_data,
)

CONFIG = CONFIGS[bench_parameters()["config"]]
BLOCKS = bench_parameters()["blocks"]
PAGE, PORT = CONFIG.geometry.page_bytes, CONFIG.data_bytes
BEATS = PAGE // PORT
PAGE_LATENCY, BEAT_LATENCY, HEAD_LATENCY, SLICE_LATENCY = 45, 16, 16, 42
JOB, LANE_PAGE, HEAD, SLICE = EncoderJob(CONFIG), LanePage(CONFIG), DecodedHead(CONFIG), DecodedSlice()
REFUSALS = [(1, 0.7), (0.6, 1), *([(1, 1), (0.6, 0.7)] if is_long() else [])]
"""Shares of cycles in which pages come, and in which slices are taken."""


class Encoder:
    """The unit's streams, and the pages that are expected of it."""

    def __init__(self, dut, busy_in: float = 1, busy_out: float = 1):
        self.jobs = StreamSource(dut, "encoder__job", busy_in)
        self.data = StreamSource(dut, "encoder__data", busy_in)
        self.pages = StreamSink(dut, "encoder__page", busy_out)
        self.output = StreamSink(dut, "encoder__output", busy_out)
        self.expected: list[Octets] = []

    def append(self, data: Octets, codec: Codec) -> None:
        self.jobs.send(pack(JOB, codec=codec, blocks=len(data) // PAGE))
        self.data.send(*beats_of(data, PORT))
        self.expected += list(pages_of(data, codec, PAGE))

    async def check(self) -> None:
        """All pages are there, as the reference model has them, each after it was taken."""
        beats = await self.output.wait_for(BEATS * len(self.expected), 500_000)
        got = octets_of(beats, PORT).reshape(-1, PAGE)
        for number, (page, expected) in enumerate(zip(got, self.expected, strict=True)):
            where = np.flatnonzero(page != expected)
            assert not len(where), (
                f"page {number} differs at {where[:8]} ({len(where)} bytes): {header_of(page)}, "
                f"expected {header_of(expected)}"
            )
        assert self.pages.items == [header_of(page)["last"] for page in self.expected]
        for number, cycle in enumerate(self.pages.cycles):
            assert cycle < self.output.cycles[BEATS * number]


class Lane:
    """The unit's streams, and the heads and slices that are expected of it."""

    def __init__(self, dut, busy_in: float = 1, busy_out: float = 1):
        self.pages = StreamSource(dut, "lane__page", busy_in)
        self.beats = StreamSource(dut, "lane__beats", busy_in)
        self.heads = StreamSink(dut, "lane__head", busy_out)
        self.slices = StreamSink(dut, "lane__slices", busy_out)
        self.expected_heads: list[dict[str, int]] = []
        self.expected: list[Octets] = []

    def send(self, page: Octets, codec: Codec, end: int, is_first: bool, is_last: bool) -> None:
        """A page of an append of `end` slices."""
        self.pages.send(pack(LANE_PAGE, codec=codec, expanded=end, is_first=is_first, is_last=is_last))
        self.beats.send(*beats_of(page, PORT))
        decoded = decode_page(page, codec, end)
        if not isinstance(decoded, Refusal) and (
            (decoded[0].first == 0) != is_first or decoded[0].last != is_last
        ):
            decoded = Refusal.SLICES
        if isinstance(decoded, Refusal):
            self.expected_heads.append({"error": 1, "refusal": decoded})
            return
        header, data = decoded
        self.expected_heads.append(
            {"error": 0, "refusal": 0, "first": header.first, "slices": header.slices,
             "last": int(header.last), "total": header.total}
        )  # fmt: skip
        self.expected.append(np.frombuffer(data, np.uint8))

    def append(self, data: Octets, codec: Codec) -> None:
        """The pages of an append, in any order."""
        end = len(data) // (2 if codec is Codec.ROUND16 else 1) // SLICE_BYTES
        pages = [*enumerate(pages_of(data, codec, PAGE))]
        random.shuffle(pages)
        for number, page in pages:
            self.send(page, codec, end, number == 0, number == len(pages) - 1)

    async def check(self) -> None:
        count = sum(len(data) for data in self.expected) // SLICE_BYTES
        heads = [unpack(HEAD, item) for item in await self.heads.wait_for(len(self.expected_heads), 500_000)]
        for head, expected in zip(heads, self.expected_heads, strict=True):
            assert {name: head[name] for name in expected} == expected
        got = [unpack(SLICE, item) for item in await self.slices.wait_for(count, 500_000)]
        place = 0
        for number, data in enumerate(self.expected):
            parts = got[place : place + len(data) // SLICE_BYTES]
            place += len(parts)
            found = octets_of([part["data"] for part in parts], SLICE_BYTES)
            where = np.flatnonzero(found != data)
            assert not len(where), f"page {number} differs at {where[:8]} ({len(where)} of {len(data)} bytes)"
            assert [part["last"] for part in parts] == [0] * (len(parts) - 1) + [1]
        assert len(self.slices.items) == count
        # The slices of a page follow its head.
        heads_of_pages = [
            cycle for head, cycle in zip(heads, self.heads.cycles, strict=True) if not head["error"]
        ]
        place = 0
        for cycle, data in zip(heads_of_pages, self.expected, strict=True):
            assert self.slices.cycles[place] > cycle
            place += len(data) // SLICE_BYTES


def random_lengths(rng: np.random.Generator) -> int:
    return PAGE * int(rng.integers(1, BLOCKS + 1))


def appends(rng: np.random.Generator) -> list[tuple[Octets, Codec]]:
    """Each codec and kind of data, in appends of random lengths. Codecs follow each other in any order."""
    plan = [
        (user_data(rng, codec, kind, random_lengths(rng)), codec) for codec in CODED for kind in KINDS
    ] + [(mixed_data(rng, codec, PAGE * BLOCKS), codec) for codec in CODED]
    return [plan[place] for place in rng.permutation(len(plan))]


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.6], busy_out=[1, 0.7])
async def encodes_every_kind_of_data(dut, busy_in, busy_out):
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    encoder = Encoder(dut, busy_in, busy_out)
    Lane(dut)
    await start(dut)
    for data, codec in appends(rng):
        encoder.append(data, codec)
    await encoder.check()


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.6], busy_out=[1, 0.7])
async def decodes_every_kind_of_data(dut, busy_in, busy_out):
    """Pages in any order."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    Encoder(dut)
    lane = Lane(dut, busy_in, busy_out)
    await start(dut)
    for data, codec in appends(rng):
        lane.append(data, codec)
    await lane.check()


@cocotb.test(skip=not bench_parameters()["patterns"])
async def every_pattern(dut):
    """All numbers of BF16, in order and mixed, there and back."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    encoder, lane = Encoder(dut), Lane(dut)
    await start(dut)
    patterns = np.arange(1 << 16, dtype="<u2")
    for words in (patterns, rng.permutation(patterns)):
        data = words.view(np.uint8)
        encoder.append(data, Codec.WINDOW16)
        lane.append(data, Codec.WINDOW16)
    await encoder.check()
    await lane.check()


def forged(page: Octets, **fields: int) -> Octets:
    """The page with other fields in its header, and a check that is right."""
    header = int.from_bytes(page[: PageHeader.BYTES].tobytes(), "little")
    for name, value in fields.items():
        field: BitField = getattr(PageHeader, name)
        header &= ~field.put((1 << field.width) - 1)
        header |= field.put(value)
    body = header.to_bytes(PageHeader.BYTES, "little") + page[PageHeader.BYTES : -CHECK_BYTES].tobytes()
    return np.frombuffer(body + page_check(body).to_bytes(CHECK_BYTES, "little"), np.uint8)


@cocotb.test()
@cocotb.parametrize((("busy_in", "busy_out"), REFUSALS))
async def refuses_what_is_no_page(dut, busy_in, busy_out):
    """Random bytes, damage anywhere, headers that lie, and pages in the wrong place."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    Encoder(dut)
    lane = Lane(dut, busy_in, busy_out)
    await start(dut)
    codec = Codec.WINDOW16
    data = user_data(rng, codec, "normal", PAGE * 8)
    pages, end = pages_of(data, codec, PAGE), len(data) // SLICE_BYTES
    final = len(pages) - 1
    page = pages[1]
    slices = header_of(page)["slices"]

    def send(content: Octets, number: int = 1, codec: Codec = codec, end: int = end) -> None:
        lane.send(content, codec, end, number == 0, number == final)

    send(pages[0], 0)
    for _ in range(2):
        send(rng.integers(0, 256, PAGE, np.uint8))
    for place in (0, PageHeader.BYTES, PAGE // 2, PAGE - 1, *rng.integers(0, PAGE, 2)):
        damaged = page.copy()
        damaged[place] ^= 1 << int(rng.integers(0, 8))
        send(damaged)
    for fields in (
        {"magic": 0}, {"version": 2}, {"reserved": 1}, {"reserved_high": 4}, {"codec": 0}, {"codec": 9},
        {"slices": 0}, {"slices": 0xFFFF}, {"first": end - slices + 1}, {"first": 0}, {"first": 1 << 31},
        {"first": end - slices}, {"last": 1}, {"last": 1, "total": end}, {"total": end},
        {"slices": PAGE // 6, "mode": Mode.WINDOW}, {"slices": PAGE // SLICE_BYTES, "mode": Mode.RAW},
    ):  # fmt: skip
        send(forged(page, **fields))
    send(page)
    send(page, codec=Codec.WINDOW32)
    send(page, codec=Codec.ROUND16)
    send(page, number=0)
    send(page, number=final)
    send(pages[0])
    send(pages[final])
    send(pages[final], final, end=end + 1)
    send(pages[final], final, end=end - 1)
    send(pages[final], final)
    await lane.check()
    assert {head["refusal"] for head in lane.expected_heads} == {0, *Refusal}


@cocotb.test()
async def survives_a_lie_about_payload(dut):
    """Planes that ask for more payload than there is give as many slices as the head says."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    Encoder(dut)
    lane = Lane(dut)
    await start(dut)
    codec = Codec.WINDOW16
    data = user_data(rng, codec, "normal", PAGE * 8)
    pages, end = pages_of(data, codec, PAGE), len(data) // SLICE_BYTES
    escapes = pages[0].copy()
    escapes[PageHeader.BYTES : PAGE // 2] = 0xFF
    lie = forged(escapes)
    lane.pages.send(pack(LANE_PAGE, codec=codec, expanded=end, is_first=1, is_last=0))
    lane.beats.send(*beats_of(lie, PORT))
    (head,) = await lane.heads.wait_for(1)
    slices = header_of(pages[0])["slices"]
    assert unpack(HEAD, head)["slices"] == slices
    items = await lane.slices.wait_for(slices)
    assert [unpack(SLICE, item)["last"] for item in items] == [0] * (slices - 1) + [1]
    for sink in (lane.heads, lane.slices):
        sink.items.clear()
        sink.cycles.clear()
    lane.append(data, codec)
    await lane.check()


@cocotb.test()
@cocotb.parametrize(busy_out=[1, 0.7])
async def keeps_up_with_the_longest_slices(dut, busy_out):
    """A page of whole elements in WINDOW takes most bytes per slice: payload and planes come in time."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    Encoder(dut)
    lane = Lane(dut, 1, busy_out)
    await start(dut)
    codec, count = Codec.WINDOW16, 4
    stride = plane_bytes(codec, Mode.WINDOW)
    slices = (PAGE - PageHeader.BYTES - CHECK_BYTES) // (SLICE_BYTES + stride)
    (header, *_) = pages_of(user_data(rng, codec, "normal", PAGE * 2), codec, PAGE)
    for number in range(count):
        is_last = number == count - 1
        page = rng.integers(0, 256, PAGE, np.uint8)
        page[: PageHeader.BYTES] = header[: PageHeader.BYTES]
        page[PageHeader.BYTES :][: slices * stride] = 0xFF
        fields = {"first": number * slices, "slices": slices, "last": int(is_last), "mode": Mode.WINDOW}
        page = forged(page, **fields, total=count * slices if is_last else 0)
        lane.send(page, codec, count * slices, number == 0, is_last)
    await lane.check()
    if busy_out == 1:
        # Within a page no cycle is lost.
        for number in range(count):
            cycles = lane.slices.cycles[number * slices :][:slices]
            assert cycles[-1] - cycles[0] == slices - 1, f"page {number}"


@cocotb.test(skip=not bench_parameters()["rates"])
@cocotb.parametrize(kind=["normal", "bits"], codec=[codec.name for codec in CODED])
async def keeps_the_rate_of_the_port(dut, kind, codec):
    """A beat of user data per cycle, but for a cycle per page; the lane a slice per cycle."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    encoder, lane = Encoder(dut), Lane(dut)
    await start(dut)
    codec = Codec[codec]
    blocks = bench_parameters()["rate_blocks"]
    data = user_data(rng, codec, kind, blocks * PAGE)
    encoder.append(data, codec)
    lane.append(data, codec)
    await encoder.check()
    await lane.check()

    headers = [header_of(page) for page in encoder.expected]
    choices = [(head["mode"], head["mode"] >= Mode.WINDOW and head["base"]) for head in headers]
    # Pages in the middle, where the choice does not change and the next page has been begun.
    steady = [
        number
        for number in range(2, len(headers) - 1)
        if choices[number - 1] == choices[number] == choices[number + 1]
    ]
    assert steady
    user_beats = (2 if codec is Codec.ROUND16 else 1) * SLICE_BYTES / PORT  # of a slice
    # A page leaves in as many beats as a block has, however few slices it holds.
    beats = sum(max(BEATS, headers[number]["slices"] * user_beats) for number in steady)
    cycles = sum(encoder.pages.cycles[number] - encoder.pages.cycles[number - 1] for number in steady)
    dut._log.info(f"{len(steady)} pages: {cycles} cycles, {beats:.0f} beats")
    # A page closes with the group that it has no room for, so pages are whole groups apart.
    assert cycles <= beats + len(steady) + user_beats * EncoderShape(PAGE, PORT).slices

    first, *others = lane.slices.cycles
    expected = sum(len(page) // SLICE_BYTES for page in lane.expected)
    lost = others[-1] - first + 1 - expected
    pause = max(0, BEATS - min(len(page) for page in lane.expected) // SLICE_BYTES)
    dut._log.info(f"lane: {expected} slices, {lost} cycles lost between {len(headers)} pages")
    if not pause:
        assert lost <= 8 * len(headers)


@cocotb.test()
async def takes_as_long_as_it_says(dut):
    """From the last beat of a page to what comes out."""
    rng = np.random.default_rng(cocotb.RANDOM_SEED)
    encoder, lane = Encoder(dut), Lane(dut)
    await start(dut)
    data = user_data(rng, Codec.WINDOW16, "nothing", PAGE)
    encoder.append(data, Codec.WINDOW16)
    lane.append(data, Codec.WINDOW16)
    assert len(encoder.expected) == 1
    sent, cycles = {}, {}
    sinks = {"page": encoder.pages, "output": encoder.output, "head": lane.heads, "slices": lane.slices}
    for cycle in range(PAGE):
        await RisingEdge(dut.clk)
        for name, source in (("encoder", encoder.data), ("lane", lane.beats)):
            if source.empty:
                sent.setdefault(name, cycle)
        for name, sink in sinks.items():
            if sink.items:
                cycles.setdefault(name, cycle)
    dut._log.info(f"latency: {sent}, {cycles}")
    assert cycles["page"] - sent["encoder"] <= PAGE_LATENCY
    assert cycles["output"] - cycles["page"] <= BEAT_LATENCY
    assert cycles["head"] - sent["lane"] <= HEAD_LATENCY
    assert cycles["slices"] - cycles["head"] <= SLICE_LATENCY
    await encoder.check()
    await lane.check()
