"""Handles on every Link: of what was reset, formatted away or is another device's nothing is read."""

import numpy as np
import pytest

from flashtrain.host import (
    ArrayError,
    Device,
    ForeignHandle,
    ForeignPending,
    FunctionalLink,
    Link,
    OldZone,
    StaleHandle,
    StoredArray,
    StreamPinned,
    TensorGroup,
    open_device,
)
from flashtrain.spec import NodeTable, Opcode, Port, Status, ZoneAction, ZoneState, preset
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE, Retention
from flashtrain.training.optimizers import SGD

WIDE = NodeTable("wide", tuple(stream for stream in SINGLE_NODE.streams if stream.persistency))
"""With more than two zones for each stream of arrays."""
GROUP = TensorGroup(OptimizerCode.SGD, ((700,),))


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def noise(random, device: Device, blocks: int) -> np.ndarray:
    return random.integers(0, 256, blocks * device.config.geometry.page_bytes, np.uint8)


def refused(device: Device, stream: str, stored: StoredArray, port: Port = Port.CORE) -> bool:
    used = device.stream(stream, port)
    for use in (used.read, used.read_async, used.health):
        with pytest.raises(StaleHandle, match=f"of stream '{stream}'; zone .* was dropped since"):
            use(stored)
    return True


def test_after_a_reset_of_the_stream(device, random):
    stream = device.stream("activations")
    old = stream.append(noise(random, device, 2))
    stream.reset()
    new = noise(random, device, 2)
    stored = stream.append(new)
    assert stored.extents == old.extents
    assert refused(device, "activations", old)
    assert np.array_equal(stream.read(stored), new)
    # Between a reset and its completion the handle is as good as afterwards.
    reset = stream.reset_async()
    assert refused(device, "activations", stored)
    reset.result()
    stream.append(noise(random, device, 2))
    stream.manage_all(ZoneAction.RESET)
    assert refused(device, "activations", stored)


def test_an_append_before_a_reset_that_was_not_waited_for(device, random):
    stream = device.stream("activations")
    before, data = stream.append_async(noise(random, device, 1)), noise(random, device, 1)
    reset, after = stream.reset_async(), stream.append_async(data)
    reset.result()
    assert refused(device, "activations", before.result())
    assert np.array_equal(stream.read(after.result()), data)


def test_after_a_reset_of_a_zone(device, random):
    stream = device.stream("activations")
    whole = noise(random, device, stream.zone_capacity)
    in_both = stream.append(noise(random, device, stream.zone_capacity + 1))
    last = noise(random, device, 1)
    in_second = stream.append(last)
    stream.reset_zone(0)
    stored = stream.write(0, whole)
    assert refused(device, "activations", in_both)
    assert np.array_equal(stream.read(in_second), last)
    assert np.array_equal(stream.read(stored), whole)


def test_after_a_format(device, random):
    stored = {}
    for name, port in (("inputs", Port.HOST), ("activations", Port.CORE), ("trained", Port.CORE)):
        stored[name] = device.stream(name, port).append(noise(random, device, 1))
    device.format()
    for name, port in (("inputs", Port.HOST), ("activations", Port.CORE), ("trained", Port.CORE)):
        device.stream(name, port).append(noise(random, device, 1))
        assert refused(device, name, stored[name])


def test_after_a_new_start_on_the_same_link(link, random):
    with open_device(link=link, node=SINGLE_NODE) as device:
        stored = device.stream("trained").append(noise(random, device, 1))
    with open_device(link=link, node=SINGLE_NODE) as device:
        device.stream("trained").append(noise(random, device, 1))
        assert refused(device, "trained", stored)


def test_of_another_device(link, device, random):
    with open_device(link.config.name, memory_bytes=1 << 18) as other:
        data = noise(random, device, 1)
        stored = other.stream("activations").append(data)
        device.stream("activations").append(noise(random, device, 1))
        with pytest.raises(ForeignHandle, match=r"is stored on device .*; this is"):
            device.stream("activations").read(stored)
        assert np.array_equal(other.stream("activations").read(stored), data)
        with pytest.raises(ForeignPending, match="operation 1 is one of another device"):
            device.wait([device.stream("weights").flush_async(), other.stream("weights").flush_async()])


def test_of_another_stream(device, random):
    stored = device.stream("activations").append(noise(random, device, 1))
    device.stream("weights").append(noise(random, device, 1))
    with pytest.raises(ForeignHandle, match=r"in stream \d, not in 'weights' \(\d\)"):
        device.stream("weights").read(stored)
    assert issubclass(ForeignHandle, ArrayError) and issubclass(StaleHandle, ArrayError)


def test_a_reset_that_is_refused_changes_nothing(update_device, random):
    stream = update_device.state_stream("state_a")
    data = noise(random, update_device, 1)
    stored = stream.append(data)
    stream.flush()
    stream.pin()
    for reset in (stream.reset, lambda: stream.reset_zone(0), lambda: stream.manage_all(ZoneAction.RESET)):
        with pytest.raises(StreamPinned):
            reset()
        assert np.array_equal(stream.read(stored), data)
    stream.release()
    stream.reset()
    assert refused(update_device, "state_a", stored)


def test_retired_zones_keep_their_handles(device, random):
    """A reset of the stream leaves zones out of service as they are."""
    stream = device.stream("activations")
    data = noise(random, device, 1)
    stored = stream.append(data)
    stream.retire_zone(0, ZoneState.READ_ONLY)
    later = stream.append(noise(random, device, 1))
    stream.reset()
    assert np.array_equal(stream.read(stored), data)
    assert refused(device, "activations", later)
    device.format()
    assert refused(device, "activations", stored)


def test_raw_resets_count(device, raw, random):
    stream = device.stream("activations")
    data = noise(random, device, 1)
    for entry, fields in (
        (Opcode.STREAM_RESET, {}),
        (Opcode.ZONE_MANAGEMENT_SEND, {"action": ZoneAction.RESET}),
        (Opcode.ZONE_MANAGEMENT_SEND, {"action": ZoneAction.RESET, "select_all": 1}),
    ):
        stored = stream.append(data)
        assert raw.status(entry, nsid=99, **fields) != Status.SUCCESS
        assert np.array_equal(stream.read(stored), data)
        assert raw.status(entry, **fields) == Status.SUCCESS
        assert refused(device, "activations", stored)


def test_after_a_recovery(link, random):
    with open_device(link=link, node=UPDATE_NODE) as device:
        inputs, weights = device.stream("inputs", Port.HOST), device.stream("weights")
        gone = inputs.append(noise(random, device, 2))
        inputs.reset_zone(0)
        data = noise(random, device, inputs.zone_capacity + 2)
        kept, lost = inputs.append(data), weights.append(noise(random, device, 1))
        link.power_cycle()
        device.recover()
        assert np.array_equal(device.stream("inputs").read(kept), data)
        device.stream("weights").append(noise(random, device, 1))
        assert refused(device, "weights", lost)
        assert refused(device, "inputs", gone)
        link.power_cycle()
    with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
        assert np.array_equal(device.stream("inputs").read(kept), data)
        assert refused(device, "inputs", gone)


def test_after_a_refresh(link, random):
    with open_device(link=link, node=WIDE) as device:
        stream = device.stream("inputs", Port.HOST)
        data = noise(random, device, stream.zone_capacity)
        stored = stream.append(data)
        link.pass_time(Retention.YEARS.due)
        assert device.refresh().zones == (OldZone("inputs", 0, stream.zone_capacity),)
        assert stream.report()[0].state is ZoneState.FULL
        assert np.array_equal(device.stream("inputs").read(stored), data)
        stream.reset_zone(0)
        assert refused(device, "inputs", stored)


def test_of_optimizer_state(update_device, random):
    state = update_device.optimizer_state([GROUP])
    w = random.standard_normal(700, np.float32)
    state.initialise([[w]])
    reader = update_device.stream(state.current.stream)
    tensor = state.locate(Input.W, 0, 0)
    assert np.array_equal(tensor.array(reader.read(tensor.pages)), w)
    pinned = state.pin()
    state.update([[w]], [SGD(0.5).constants(1)])
    state.commit()
    assert np.array_equal(tensor.array(reader.read(tensor.pages)), w), "it is pinned"
    state.release(pinned)
    assert refused(update_device, pinned.stream, tensor.pages)
    unpinned = state.locate(Input.W, 0, 0)
    state.update([[w]], [SGD(0.5).constants(2)])
    state.commit()
    assert refused(update_device, unpinned.stream, unpinned.pages)


def test_handles_outlive_the_device_object_but_not_the_link():
    config = preset("tiny")
    data, handles = np.arange(100), []
    for _ in range(2):
        with FunctionalLink(config) as link, open_device(link=link) as device:
            handles.append(device.stream("trained").append(data))
            assert isinstance(link, Link)
    assert handles[0] != handles[1] and handles[0].extents == handles[1].extents
