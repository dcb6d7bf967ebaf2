"""What is appended is read back, in every shape, in order, and from wherever it lies."""

import numpy as np
import pytest

from flashtrain.host import StreamFull
from flashtrain.host.queues.command_errors import AccessDenied, InvalidWrite, UnwrittenBlock
from flashtrain.spec import Port


@pytest.mark.parametrize(
    "array",
    [
        np.float32(3.5),
        np.arange(7, dtype=np.uint8),
        np.linspace(-1, 1, 1000, dtype=np.float32).reshape(10, 100),
        np.arange(48, dtype=np.int64).reshape(2, 3, 4, 2).transpose(3, 1, 0, 2),
        np.arange(100, dtype=np.float16)[::3],
        np.array([True, False, True]),
        np.array([1 + 2j], np.complex128),
        np.array([(1, 2.5)], [("a", "<i2"), ("b", ">f8")]),
        np.array(["ab", "c"]),
        np.array(["2001-02-03"], "datetime64[D]"),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_any_array_comes_back(device, array):
    stream = device.stream("activations")
    stored = stream.append(array)
    back = stream.read(stored)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert np.array_equal(back, array)


def test_padding_is_zeros(device, config):
    stream = device.stream("activations")
    stream.append(
        np.full(2 * config.geometry.page_bytes, 0xFF, np.uint8)
    )  # leaves its mark in the tensor buffer
    stored = stream.append(np.full(config.geometry.page_bytes + 1, 0xFF, np.uint8))
    assert stored.blocks == 2
    block = stream.read_blocks(stored.lba + 1, 1)
    assert block[0] == 0xFF and not block[1:].any()


def test_appends_get_addresses_in_their_order(device, seed):
    random = np.random.default_rng(seed)
    stream = device.stream("activations")
    page = device.config.geometry.page_bytes
    arrays = [random.integers(0, 256, int(random.integers(1, 3 * page)), np.uint8) for _ in range(8)]
    pendings = [stream.append_async(array) for array in arrays]
    stored = device.wait(pendings)
    assert [one.lba for one in stored] == [sum(s.blocks for s in stored[:i]) for i in range(len(stored))]
    for one, array in zip(stored, arrays, strict=True):
        assert np.array_equal(stream.read(one), array)


def test_two_ports_and_streams_at_once(device, seed):
    random = np.random.default_rng(seed)
    inputs, activations = device.stream("inputs", Port.HOST), device.stream("activations")
    pairs = []
    for _ in range(6):
        for stream in (inputs, activations):
            array = random.standard_normal(random.integers(1, 300), np.float32)
            pairs.append((stream, array, stream.append_async(array)))
    reader = {"inputs": device.stream("inputs", Port.CORE), "activations": activations}
    for stream, array, pending in pairs:
        assert np.array_equal(reader[stream.name].read(pending.result()), array)


def test_an_array_over_several_zones(device, config, seed):
    if config.geometry.zone_capacity * config.geometry.page_bytes > 1 << 24:
        pytest.skip("a zone is large")
    random = np.random.default_rng(seed)
    zone_bytes = config.geometry.zone_capacity * config.geometry.page_bytes
    stream = device.stream("activations")
    first = random.integers(0, 256, zone_bytes // 2, np.uint8)
    large = random.integers(0, 256, 2 * zone_bytes, np.uint8)
    a, b = stream.append(first), stream.append(large)
    assert len(a.extents) == 1 and len(b.extents) == 3
    assert np.array_equal(stream.read(b), large)
    assert np.array_equal(stream.read(a), first)


def test_a_full_stream_says_so_and_takes_nothing(device, config):
    stream = device.stream("activations")
    room = stream.zones * config.geometry.zone_capacity
    with pytest.raises(StreamFull, match=f"'activations' has room for {room} blocks; {room + 1} are needed"):
        stream.append(np.broadcast_to(np.uint8(0), (room + 1) * config.geometry.page_bytes))
    assert all(zone.room == config.geometry.zone_capacity for zone in stream.report())


def test_zero_copy_through_the_tensor_buffer(device, seed):
    random = np.random.default_rng(seed)
    stream = device.stream("activations")
    source = device.buffer((30, 41), np.float32)
    source[:] = random.standard_normal(source.shape, np.float32)
    free = device.buffer_free_bytes
    pending = stream.append_async(source)
    assert device.buffer_free_bytes == free
    stored = pending.result()
    target = device.buffer((30, 41), np.float32)
    assert stream.read(stored, out=target) is target
    assert np.array_equal(source, target)
    out = np.empty((30, 41), np.float32)
    assert stream.read(stored, out=out) is out and np.array_equal(out, source)


def test_parts_of_a_buffer_are_padded_with_zeros_too(device, config):
    stream = device.stream("activations")
    page = config.geometry.page_bytes
    whole = device.buffer(2 * page, np.uint8)
    whole[:] = 9
    stored = stream.append(whole[: page - 1])
    assert stream.read_blocks(stored.lba, 1)[-1] == 0
    assert np.array_equal(stream.read(stream.append(whole[page:])), whole[page:])


def test_write_at_the_write_pointer(device, config):
    stream = device.stream("activations")
    page = config.geometry.page_bytes
    a = stream.write(0, np.full(page, 1, np.uint8))
    b = stream.append(np.full(page, 2, np.uint8))
    c = stream.write(b.lba + 1, np.full(2 * page, 3, np.uint8))
    assert (a.lba, b.lba, c.lba, c.blocks) == (0, 1, 2, 2)
    assert [stream.read_blocks(lba, 1)[0] for lba in range(4)] == [1, 2, 3, 3]
    with pytest.raises(InvalidWrite):
        stream.write(3, np.zeros(1))


def test_flush_then_read(device, seed):
    random = np.random.default_rng(seed)
    stream = device.stream("activations")
    arrays = [random.standard_normal(200) for _ in range(4)]
    stored = [stream.append(array) for array in arrays]
    stream.flush()
    for one, array in zip(stored, arrays, strict=True):
        assert np.array_equal(stream.read(one), array)


def test_the_host_appends_inputs_that_only_the_core_reads(device):
    stored = device.stream("inputs", Port.HOST).append(np.arange(10))
    assert np.array_equal(device.port(Port.CORE).stream("inputs").read(stored), np.arange(10))
    with pytest.raises(AccessDenied) as caught:
        device.stream("inputs", Port.HOST).read(stored)
    assert caught.value.port is Port.HOST and caught.value.stream == "inputs"


def test_errors_leave_the_device_usable(device):
    stream = device.stream("activations")
    for _ in range(3):
        with pytest.raises(UnwrittenBlock) as caught:
            stream.read_blocks(5, 1)
        assert caught.value.lba == 5
    assert np.array_equal(stream.read(stream.append(np.ones(3))), np.ones(3))
