"""Streams with a codec on the performance model: pages for the kernel, and sizes without data."""

import numpy as np
import pytest

from flashtrain.host import CodedPageError, Device, Extent, StoredArray, open_device
from flashtrain.host.streams.coded_stream import CodedStream
from flashtrain.model import ModelLink
from flashtrain.model.coded import BURST_BYTES, filled_pages, pages_of_headers
from flashtrain.model.command import COMMAND, Flag, Job
from flashtrain.model.kernel import Kernel
from flashtrain.model.parameters import checksum_cycles, parameters
from flashtrain.numerics.codec import encode
from flashtrain.perf.codec.contents import Contents
from flashtrain.rtl.codec.checksum import PageChecksum
from flashtrain.rtl.codec.layouts import EncoderShape
from flashtrain.rtl.datapath import slice_writer
from flashtrain.rtl.datapath.decoder_lanes import lane_count
from flashtrain.spec import ConfigError, Port, preset
from flashtrain.spec.codec import SLICE_BYTES, Choice, Header, Mode
from flashtrain.spec.streams import SINGLE_NODE, Codec

MEMORY_BYTES = 16 << 20
STREAM = "activations"
NODE = SINGLE_NODE.with_codecs(activations=Codec.WINDOW16)
NSID = next(stream.nsid for stream in NODE.streams if stream.name == STREAM)
CODED = ["tiny_codec", "small_codec", "behemoth_codec"]


@pytest.mark.parametrize("name", CODED)
def test_constants_are_those_of_the_rtl(name):
    config = preset(name)
    assert checksum_cycles(config) == PageChecksum(8 * config.data_bytes).latency
    known = parameters(config, memory_latency=60)
    assert known["decoder_lanes"] == lane_count(config)
    shape = EncoderShape(config.geometry.page_bytes, config.data_bytes)
    assert known["group_slices"] == shape.slices
    assert known["group_beats"] * config.data_bytes == shape.group_bytes
    assert known["beat_register"] == (shape.group_bytes > shape.port_bytes)
    assert known["line_beats"] * config.data_bytes == shape.page.line_bytes
    assert BURST_BYTES == slice_writer.BURST_BYTES


def test_pages_of_an_append():
    data = np.concatenate([Contents.DENSE.make(2048), Contents.RANDOM.make(2048), Contents.DENSE.make(2048)])
    pages = encode(data.tobytes(), Codec.WINDOW16, 512)
    headers = []
    for page in pages:
        header = Header.unpack(page.tobytes(), Codec.WINDOW16, data.nbytes // SLICE_BYTES)
        assert isinstance(header, Header)
        headers.append(header)
    found = pages_of_headers(headers, Codec.WINDOW16, address=0)
    assert found["slices"].sum() == data.nbytes // SLICE_BYTES
    assert (found["first"] == np.cumsum(found["slices"]) - found["slices"]).all()
    modes = [header.choice.mode for header in headers]
    assert {Mode.WINDOW, Mode.RAW} <= set(modes)
    changed = [number for number in range(1, len(modes)) if modes[number] != modes[number - 1]]
    assert found["changes"][changed].all() and found["changes"].sum() < len(modes) / 2


def test_a_base_matters_to_modes_with_a_window_only():
    def header(mode: Mode, base: int) -> Header:
        return Header(Codec.WINDOW16, Choice(mode, base), slices=1, first=0)

    headers = [header(Mode.RAW, 1), header(Mode.RAW, 2), None, header(Mode.WINDOW, 2), header(Mode.WINDOW, 3)]
    pages = pages_of_headers(headers, Codec.WINDOW16, address=0)
    assert pages["changes"].tolist() == [0, 0, 0, 0, 1]
    assert pages["slices"].tolist() == [1, 1, 0, 1, 1]


@pytest.mark.parametrize(("codec", "expansion"), [(Codec.WINDOW32, 1), (Codec.ROUND16, 2)])
def test_slices_count_from_a_multiple_of_a_burst(codec, expansion):
    pages = filled_pages(100, 7, 15.5, codec, address=3 * BURST_BYTES + 512)
    assert pages["slices"].tolist() == [15, 16, 15, 16, 15, 16, 7]
    assert pages["first"][0] == 512 // SLICE_BYTES
    assert (np.diff(pages["first"]) == expansion * pages["slices"][:-1]).all()


def test_pages_are_not_fuller_than_their_number_allows():
    pages = filled_pages(100, 7, 3, Codec.WINDOW16, address=0)
    assert pages["slices"].sum() == 100 and np.ptp(pages["slices"]) <= 1


def dataless(ratios: dict[int, float], name: str = "tiny_codec") -> ModelLink:
    return ModelLink(preset(name), MEMORY_BYTES, keep_data=False, ratios=ratios)


def append(device: Device, blocks: int) -> StoredArray:
    data = device.buffer((blocks * device.config.geometry.page_bytes // 2,), np.uint16)
    return device.stream(STREAM, Port.CORE).append(data)


def test_a_ratio_gives_the_size_of_an_append():
    with dataless({NSID: 1.5}) as link, open_device(link=link, node=NODE) as device:
        assert [append(device, blocks).blocks for blocks in (1, 2, 3, 8)] == [1, 2, 2, 6]


def test_without_a_ratio_an_append_takes_its_bound():
    for ratios in ({}, {NSID: 0.01}):
        with dataless(ratios) as link, open_device(link=link, node=NODE) as device:
            assert append(device, 7).blocks == device.config.coded_bound(7, Codec.WINDOW16)


@pytest.mark.parametrize("ratio", [0, -1.5, 33])
def test_a_ratio_is_one_that_data_can_have(ratio):
    with pytest.raises(ConfigError, match=rf"ratios\[3\] is {ratio}; expected above 0, and 32 at most"):
        dataless({3: ratio})


def test_data_have_a_ratio_of_their_own():
    with pytest.raises(ConfigError, match="expected none for a model that keeps its data"):
        ModelLink(preset("tiny_codec"), MEMORY_BYTES, ratios={NSID: 2})


def test_a_read_names_one_append_also_without_data():
    with dataless({NSID: 1.5}) as link, open_device(link=link, node=NODE) as device:
        stream = device.stream(STREAM, Port.CORE)
        assert isinstance(stream, CodedStream)
        first, second = append(device, 4), append(device, 5)
        for handle in (second, first):
            stream.read(handle)
        page = device.config.geometry.page_bytes
        for blocks, data_blocks in (
            (first.blocks - 1, 4),
            (first.blocks, 5),
            (first.blocks + second.blocks, 9),
        ):
            extent = Extent(first.lba, blocks)
            length = data_blocks * page // 2
            wrong = stream.stored_at([extent], (length,), np.uint16, [data_blocks])
            with pytest.raises(CodedPageError):
                stream.read(wrong)
        stream.reset()
        again = append(device, 1)
        stream.read(again)


def cycles_of(link: ModelLink, contents: Contents) -> tuple[int, int]:
    """Cycles of appends, and of reads of them."""
    with link, open_device(link=link, node=NODE) as device:
        stream = device.stream(STREAM, Port.CORE)
        data = device.buffer((16 * device.config.geometry.page_bytes // 2,), np.uint16)
        data[:] = contents.make(len(data))
        begin = device.cycles
        handles = device.wait([stream.append_async(data) for _ in range(24)])
        stream.flush()
        middle = device.cycles
        device.wait([stream.read_async(handle, data) for handle in handles])
        return middle - begin, device.cycles - middle


@pytest.mark.parametrize("contents", [Contents.DENSE, Contents.RELU])
def test_times_without_data_are_near(contents):
    """Both have the same number of pages; the fill of each differs a little."""
    name, blocks = "small_codec", 16
    slices = blocks * 128
    pages = encode(contents.make(blocks * 2048).tobytes(), Codec.WINDOW16, 4096)
    last = Header.unpack(pages[-1].tobytes(), Codec.WINDOW16, slices)
    assert isinstance(last, Header)
    near = cycles_of(dataless({NSID: last.first / (len(pages) - 1) / 128}, name), contents)
    exact = cycles_of(ModelLink(preset(name), MEMORY_BYTES), contents)
    assert near == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("name", CODED)
def test_times_do_not_depend_on_the_steps_of_the_caller(name):
    """Coded appends of changing modes, raw ones behind them, and reads of both."""
    config, random = preset(name), np.random.default_rng(7)
    count, stored = 24, 5
    entries = np.zeros(2 * count, COMMAND)
    entries["port"], entries["last_page"], entries["id"] = (
        Port.CORE,
        config.geometry.planes - 1,
        np.arange(2 * count),
    )
    entries["job"], entries["job"][count:] = Job.APPEND, Job.READ
    entries["blocks"], entries["count"] = stored, stored
    entries["offset"] = np.tile(np.arange(count) * stored, 2)
    coded = np.tile(np.arange(count) % 3 > 0, 2)
    entries["flags"] = np.where(coded, Flag.CODED, 0)
    entries["flags"][: count // 2] += np.uint8(Flag.NON_VOLATILE)
    slices = config.geometry.page_bytes // SLICE_BYTES
    pages = np.tile(filled_pages(stored * slices, stored, 0, Codec.WINDOW16, 0), coded.sum())
    pages["changes"] = random.random(len(pages)) < 0.3
    times = []
    for lengths in ([1 << 24], random.integers(1, 5000, 6000)):
        kernel = Kernel(config)
        kernel.run(kernel.enable(erased=True, recovers=False))
        kernel.set_queue_size(Port.CORE, 2 * count + 1)
        kernel.submit(Port.CORE, entries, pages)
        for length in lengths:
            kernel.run(kernel.now + int(length))
        times.append(kernel.take_completed()["time"].tolist())
        kernel.close()
    assert len(times[0]) == 2 * count and times[0] == times[1]


def cycles_of_an_append(stored: int, changes: int) -> int:
    """Cycles of 100 blocks on the widest port, some of whose pages change mode or base."""
    config = preset("behemoth_codec")
    kernel = Kernel(config)
    kernel.run(kernel.enable(erased=True, recovers=False))
    kernel.set_queue_size(Port.CORE, 2)
    slices = 100 * config.geometry.page_bytes // SLICE_BYTES
    pages = filled_pages(slices, stored, 0, Codec.WINDOW16, 0)
    pages["changes"][1 : 1 + changes] = 1
    entry = np.zeros(1, COMMAND)
    entry["port"], entry["last_page"], entry["job"] = Port.CORE, config.geometry.planes - 1, Job.APPEND
    entry["blocks"], entry["count"], entry["flags"] = 100, len(pages), Flag.CODED
    begin = kernel.now
    kernel.submit(Port.CORE, entry, pages)
    kernel.run(begin + 1_000_000)
    time = int(kernel.take_completed()["time"][0]) - begin
    kernel.close()
    return time


def test_the_widest_port_loses_cycles_per_page_and_change():
    """As the data sheet of `Encoder` says: one a page, and some 20 per change."""
    beats = 100 * preset("behemoth_codec").page_beats
    few, many, changed = (cycles_of_an_append(*how) for how in ((40, 0), (80, 0), (80, 20)))
    assert few > beats and 30 <= many - few <= 40
    assert 15 * 20 <= changed - many <= 25 * 20
