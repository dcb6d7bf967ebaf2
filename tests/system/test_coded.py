"""Streams with a codec: every array comes back, on fewer blocks, and what is not an append is refused."""

from collections.abc import Iterator

import numpy as np
import pytest

from flashtrain.host import (
    ArrayError,
    CodedStreamError,
    Device,
    FunctionalLink,
    Link,
    Obstacle,
    StreamFull,
    open_device,
)
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import ConfigError, Opcode, Port, Status
from flashtrain.spec.nvme import Completion
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE, Codec, Retention
from tests.configurations import configuration

from .conftest import Case

MEMORY_BYTES = 16 << 20
NODE = SINGLE_NODE.with_codecs(
    inputs=Codec.WINDOW32, activations=Codec.WINDOW16, weights=Codec.ROUND16, trained=Codec.WINDOW32
)
CASES = [
    Case(FunctionalLink, "tiny_codec", "functional-tiny"),
    Case(FunctionalLink, "small_codec", "functional-small"),
    Case(ModelLink, "tiny_codec", "model-tiny"),
    Case(ModelLink, "small_codec", "model-small"),
    Case(RtlLink, "tiny_full", "rtl-tiny_full"),
]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def link(request: pytest.FixtureRequest) -> Iterator[Link]:
    case: Case = request.param
    with case.make(configuration(case.preset), MEMORY_BYTES) as opened:
        yield opened


@pytest.fixture
def device(link: Link) -> Iterator[Device]:
    with open_device(link=link, node=NODE) as opened:
        yield opened


def bfloat16(random: np.random.Generator, count: int) -> np.ndarray:
    """Numbers as activations have them: normal, some of them zero; the bits of BF16."""
    values = random.standard_normal(count).astype(np.float32)
    values[random.random(count) < 0.2] = 0
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def rounded(array: np.ndarray) -> np.ndarray:
    """Finite FP32 rounded to the nearest BF16, ties to even."""
    bits = array.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("stream", ["activations", "inputs", "weights"])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.uint8),
        np.arange(48, dtype=np.int64).reshape(2, 3, 4, 2).transpose(3, 1, 0, 2),
        np.linspace(-1, 1, 700).reshape(7, 100),
        np.arange(3000, dtype=np.float16)[::3],
        np.array([True, False, True]),
        np.array([(1, 2.5)], [("a", "<i2"), ("b", ">f8")]),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_any_array_comes_back(device, stream, array):
    writer = device.stream(stream, Port.HOST if stream == "inputs" else Port.CORE)
    back = device.stream(stream).read(writer.append(array))
    assert back.dtype == array.dtype and np.array_equal(back, array)


def test_activations_take_fewer_blocks(device, config, seed):
    random = np.random.default_rng(seed)
    blocks = 8
    data = bfloat16(random, blocks * config.geometry.page_bytes // 2)
    stream = device.stream("activations")
    stored = stream.append(data)
    assert stored.data_blocks == (blocks,)
    assert stored.blocks <= 0.8 * blocks
    assert np.array_equal(stream.read(stored), data)


def test_random_bits_take_their_bound_at_most(device, config, seed):
    data = np.random.default_rng(seed).integers(0, 256, 9 * config.geometry.page_bytes, np.uint8)
    stream = device.stream("activations")
    stored = stream.append(data)
    assert 9 < stored.blocks <= config.coded_bound(9, Codec.WINDOW16)
    assert np.array_equal(stream.read(stored), data)


def test_rounding_is_declared(device, seed):
    random = np.random.default_rng(seed)
    data = random.standard_normal(2000).astype(np.float32)
    stream = device.stream("weights")
    stored = stream.append(data)
    back = stream.read(stored)
    assert np.array_equal(back, rounded(data)) and not np.array_equal(back, data)
    integers = data.view(np.uint32)
    assert np.array_equal(stream.read(stream.append(integers)), integers)


def test_appends_follow_each_other_without_a_gap(device, config, seed):
    random = np.random.default_rng(seed)
    page = config.geometry.page_bytes
    coded = device.stream("activations")
    arrays = [bfloat16(random, int(random.integers(1, page))) for _ in range(6)]
    stored = device.wait([coded.append_async(array) for array in arrays])
    assert [one.lba for one in stored] == [sum(s.blocks for s in stored[:i]) for i in range(len(stored))]
    for one, array in zip(stored, arrays, strict=True):
        assert np.array_equal(coded.read(one), array)
    assert coded.report()[0].write_pointer == sum(one.blocks for one in stored)


def test_zones_are_filled_one_after_the_other(device, config, seed):
    """Until none has room; a reset brings it back."""
    random = np.random.default_rng(seed)
    stream, page = device.stream("activations"), config.geometry.page_bytes
    blocks = min(config.max_blocks - 2, config.geometry.zone_capacity // 5)
    stored = []
    with pytest.raises(StreamFull, match=r"has room for \d+ encoded blocks"):
        for _ in range(100):
            data = bfloat16(random, blocks * page // 2)
            stored.append((stream.append(data), data))
    assert len({one.lba // stream.zone_size for one, _ in stored}) > 1
    for one, data in stored[:: max(1, len(stored) // 4)]:
        assert np.array_equal(stream.read(one), data)
    taken = sum(one.blocks for one, _ in stored)
    assert taken > stream.zones * config.geometry.zone_capacity // 2
    stream.reset()
    assert stream.append(data).lba == 0


def test_a_read_in_place(device, seed):
    data = bfloat16(np.random.default_rng(seed), 1000)
    source, target = device.buffer(1000, np.uint16), device.buffer(1000, np.uint16)
    source[:] = data
    stream = device.stream("activations")
    stream.read(stream.append(source), out=target)
    assert np.array_equal(target, data)


def test_a_handle_of_appends_that_are_known(device, seed):
    stream = device.stream("activations")
    data = bfloat16(np.random.default_rng(seed), 1000)
    stored = stream.append(data)
    again = stream.stored_at(stored.extents, data.shape, data.dtype, stored.data_blocks)
    assert again == stored and np.array_equal(stream.read(again), data)
    with pytest.raises(ArrayError, match=r"1 extents of stream 'activations', .* the blocks of 0"):
        stream.stored_at(stored.extents, data.shape, data.dtype)


def test_commands_that_need_raw_blocks_are_refused(device, raw_of):
    stream = device.stream("activations")
    with pytest.raises(CodedStreamError, match="STREAM_IS_CODED"):
        stream.write(0, np.zeros(10, np.uint8))
    with pytest.raises(ArrayError, match="'activations', which has a codec"):
        stream.read_blocks(0, 1)
    with pytest.raises(ArrayError, match="health of an array of stream 'activations', which has a codec"):
        stream.health(stream.append(np.zeros(10, np.uint8)))
    raw = raw_of(device)
    geometry = device.config.geometry
    blocks = geometry.channels
    fields = {"nlb": blocks - 1, "pages": 1, "rows": 1, "source": device.node.named("trained").nsid}
    assert raw.status(Opcode.UPDATE, "weights", **fields) == Status.STREAM_IS_CODED


def test_only_the_blocks_of_one_append_are_read(device, config, raw_of, seed):
    random, page = np.random.default_rng(seed), config.geometry.page_bytes
    stream, raw = device.stream("activations"), raw_of(device)
    first, second = (stream.append(random.integers(0, 256, 3 * page, np.uint8)) for _ in range(2))
    assert second.lba == first.blocks

    def status(lba: int, blocks: int, expanded: int, **fields: int) -> int:
        lengths = {"nlb": blocks - 1, "expanded": expanded - 1, "length": expanded * page}
        return raw.status(Opcode.READ, slba=lba, **(lengths | fields))

    assert status(0, first.blocks, 3) == Status.SUCCESS
    assert status(0, first.blocks, 3, exact=1) == Status.SUCCESS  # it is WINDOW16 anyway
    assert status(0, first.blocks, 2) == Status.CODED_PAGE_ERROR
    assert status(0, first.blocks, 4) == Status.CODED_PAGE_ERROR
    assert status(0, first.blocks - 1, 3) == Status.CODED_PAGE_ERROR
    assert status(1, first.blocks - 1, 3) == Status.CODED_PAGE_ERROR
    assert status(1, first.blocks, 3) == Status.CODED_PAGE_ERROR
    assert status(0, first.blocks + second.blocks, 6) == Status.CODED_PAGE_ERROR
    assert status(0, first.blocks + second.blocks, 3) == Status.CODED_PAGE_ERROR
    assert status(0, first.blocks, 3, length=first.blocks * page) == Status.SGL_LENGTH_INVALID
    assert status(0, first.blocks, config.max_blocks + 1) == Status.INVALID_FIELD
    assert status(0, first.blocks + second.blocks + 1, 3) == Status.UNWRITTEN_BLOCK


def test_nothing_is_written_outside_the_buffer_of_a_read(device, config, raw_of, seed):
    """A read with too short a buffer leaves what is behind it as it is."""
    random, page = np.random.default_rng(seed), config.geometry.page_bytes
    stream, raw = device.stream("activations"), raw_of(device)
    stored = stream.append(random.integers(0, 256, 4 * page, np.uint8))
    raw.data[:] = 0x5A
    fields = {"nlb": stored.blocks - 1, "expanded": 1, "length": 2 * page}
    assert raw.status(Opcode.READ, slba=0, **fields) == Status.CODED_PAGE_ERROR
    assert (raw.data[2 * page :] == 0x5A).all()


def test_another_codec_is_refused(device, raw_of, seed):
    """`exact` of a READ is that of the append."""
    data = np.random.default_rng(seed).standard_normal(500).astype(np.float32)
    stream, raw = device.stream("weights"), raw_of(device)
    stored = stream.append(data)
    blocks = stored.data_blocks[0]
    fields = {
        "nlb": stored.blocks - 1, "expanded": blocks - 1, "length": blocks * device.config.geometry.page_bytes
    }  # fmt: skip
    assert raw.status(Opcode.READ, "weights", **fields) == Status.SUCCESS
    assert raw.status(Opcode.READ, "weights", exact=1, **fields) == Status.CODED_PAGE_ERROR


def test_results_of_appends(device, config, raw_of):
    raw = raw_of(device)
    raw.data[:] = 0
    answer = raw.answer(Opcode.ZONE_APPEND, nlb=4)
    c = Completion
    assert answer.ok and c.stored.get(c.result.put(answer.result)) == 1
    most = max(
        n for n in range(1, config.max_blocks) if config.coded_bound(n, Codec.WINDOW16) <= config.max_blocks
    )
    assert raw.status(Opcode.ZONE_APPEND, nlb=most - 1) in (Status.SUCCESS, Status.ZONE_BOUNDARY_ERROR)
    assert raw.status(Opcode.ZONE_APPEND, nlb=most) == Status.INVALID_FIELD


def test_a_stored_array_survives_a_loss_of_power(link, seed):
    data = np.random.default_rng(seed).standard_normal(600).astype(np.float32)
    with open_device(link=link, node=NODE) as device:
        stored = device.stream("trained").append(data)
        link.power_cycle()
        device.recover()
        stream = device.stream("trained")
        assert np.array_equal(stream.read(stored), data)
        more = stream.append(data)
        assert more.lba != stored.lba and np.array_equal(stream.read(more), data)


def test_old_data_with_a_codec_stay_where_they_are(link, seed):
    data = np.random.default_rng(seed).standard_normal(600).astype(np.float32)
    with open_device(link=link, node=NODE) as device:
        stream = device.stream("trained")
        stored = stream.append(data)
        link.pass_time(Retention.YEARS.due + 1)
        (left,) = device.refresh().left
        assert left.obstacle is Obstacle.CODED
        assert np.array_equal(stream.read(stored), data)


def test_a_configuration_without_a_codec_says_so():
    node = UPDATE_NODE.with_codecs(activations=Codec.WINDOW16)
    with pytest.raises(ConfigError, match=r"\['activations'\].codec is .*WINDOW16.*'tiny' has no"):
        open_device("tiny", node=node)
    with pytest.raises(ConfigError, match="has no stream 'activation'"):
        SINGLE_NODE.with_codecs(activation=Codec.WINDOW16)
