"""Reads of parts of a page: their bytes and no others, on the bus and in the tensor buffer."""

from collections.abc import Iterator

import numpy as np
import pytest

from flashtrain.host import ArgumentError, ArrayError, Device, FunctionalLink, Link, open_device
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import ConfigError, Opcode, Status, preset
from flashtrain.spec.identity import PageIdentity
from tests.configurations import TINY_PARTS

PAGE, PART = TINY_PARTS.geometry.page_bytes, TINY_PARTS.part_bytes
PARTS = PAGE // PART


@pytest.fixture(params=["functional", pytest.param("rtl", marks=pytest.mark.long)])
def link(request: pytest.FixtureRequest) -> Iterator[Link]:
    kind = RtlLink if request.param == "rtl" else FunctionalLink
    with kind(TINY_PARTS, 8 << 20) as opened:
        yield opened


@pytest.fixture
def device(link: Link) -> Iterator[Device]:
    with open_device(link=link) as opened:
        yield opened


def test_any_part_comes_back(device, seed):
    """Of arrays old and new, in the write buffer and in the flash, with appends and whole reads between."""
    random = np.random.default_rng(seed)
    stream = device.stream("activations")
    for _ in range(3):
        stream.reset()
        kept = []
        for _ in range(4):
            array = random.integers(0, 256, int(random.integers(1, 4 * PAGE)), np.uint8)
            stored = stream.append(array)
            kept.append((stored, array, np.pad(array, (0, stored.blocks * PAGE - array.size))))
            pending, expected = [], []
            for stored, array, padded in kept * 3:
                start = int(random.integers(padded.size // PART))
                parts = int(random.integers(1, PARTS - start % PARTS + 1))
                pending.append(stream.read_part_async(stored, start * PART, parts * PART))
                expected.append(padded[start * PART : (start + parts) * PART])
                if random.random() < 0.2:
                    pending.append(stream.read_async(stored))
                    expected.append(array)
            for answer, wanted in zip(device.wait(pending), expected, strict=True):
                assert np.array_equal(answer, wanted)
            if random.random() < 0.5:
                stream.flush()


def test_a_part_is_put_where_it_is_asked_for(device, seed):
    """At any part of a buffer, over the end of a block, too; the bytes beside it stay as they are."""
    stream = device.stream("activations")
    array = np.random.default_rng(seed).integers(0, 256, 2 * PAGE, np.uint8)
    stored = stream.append(array)
    for first in range(1, PARTS):
        buffer = device.buffer(2 * PAGE, np.uint8)
        out = buffer[first * PART : (first + PARTS - 1) * PART]
        assert stream.read_part(stored, PAGE + PART, PAGE - PART, out) is out
        expected = np.zeros_like(buffer)
        expected[first * PART : (first + PARTS - 1) * PART] = array[PAGE + PART :]
        assert np.array_equal(buffer, expected)


def test_what_is_no_part_is_refused(device):
    stream = device.stream("activations")
    stored = stream.append(np.arange(3 * PAGE // 2, dtype=np.int8))
    for start, nbytes, name in (
        (1, PART, "start"),
        (-PART, PART, "start"),
        (2 * PAGE, PART, "start"),
        (0, 0, "nbytes"),
        (0, PART - 1, "nbytes"),
        (0, PAGE + PART, "nbytes"),
        (PAGE - PART, 2 * PART, "nbytes"),
    ):
        with pytest.raises(ArgumentError, match=rf"^{name} is {start if name == 'start' else nbytes}; "):
            stream.read_part(stored, start, nbytes)
    with pytest.raises(ArrayError, match=f"expected uint8\\[{PART}\\]"):
        stream.read_part(stored, 0, PART, np.zeros(PART - 1, np.uint8))


def test_a_device_without_parts_refuses_them():
    with open_device("tiny") as device:
        stream = device.stream("activations")
        stored = stream.append(np.zeros(2048, np.uint8))
        with pytest.raises(ArgumentError, match="part_bytes is 0; expected a configuration with part_bytes"):
            stream.read_part(stored, 0, 512)


def test_statuses(raw):
    """A read of parts has the checks of its block, and those of its fields, length and address."""
    assert raw.status(Opcode.ZONE_APPEND, nlb=1, length=2 * PAGE) == Status.SUCCESS
    good = {"nlb": 0, "length": PART, "first_part": 0, "parts": 1}
    for status, change in (
        (Status.SUCCESS, {}),
        (Status.SUCCESS, {"slba": 1, "first_part": PARTS - 1, "address": raw.address + PART}),
        (Status.SUCCESS, {"parts": PARTS, "length": PAGE, "address": raw.address + PART}),
        (Status.INVALID_FIELD, {"first_part": PARTS}),
        (Status.INVALID_FIELD, {"first_part": 1, "parts": PARTS, "length": PAGE}),
        (Status.INVALID_FIELD, {"first_part": 255, "parts": 255, "length": 255 * PART}),
        (Status.INVALID_FIELD, {"first_part": 1, "parts": 0, "length": PAGE}),
        (Status.INVALID_FIELD, {"nlb": 1}),
        (Status.SGL_LENGTH_INVALID, {"length": PAGE}),
        (Status.SGL_LENGTH_INVALID, {"parts": 2}),
        (Status.SGL_GRANULARITY_INVALID, {"address": raw.address + PART // 2}),
        (Status.SGL_GRANULARITY_INVALID, {"parts": 0, "length": PAGE, "address": raw.address + PART}),
        (Status.DATA_TRANSFER_ERROR, {"address": 8 << 20}),
        (Status.UNWRITTEN_BLOCK, {"slba": 2}),
    ):
        assert raw.status(Opcode.READ, **good | change) == status, change


@pytest.mark.long
def test_a_part_alone_crosses_the_bus():
    with RtlLink(TINY_PARTS, 8 << 20) as link, open_device(link=link) as device:
        stream = device.stream("activations")
        stored = stream.append(np.arange(PAGE, dtype=np.uint8))
        stream.flush()
        for parts in (1, 2, PARTS - 1, PARTS):
            before = device.channel_counters()[0]["BUS_DATA_OUT"]
            stream.read_part(stored, 0, parts * PART)
            beats = device.channel_counters()[0]["BUS_DATA_OUT"] - before
            assert beats == (parts * PART + PageIdentity.BYTES) // 2


def test_the_performance_model_refuses_parts():
    with pytest.raises(ConfigError, match=r"config\.part_bytes is 512; expected 0 for this model"):
        ModelLink(TINY_PARTS)
    assert preset("tiny").part_bytes == 0
