"""Appends that were on their way to a zone when a program of it failed for good: they go to another zone."""

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.functional.zones import StreamZones
from flashtrain.host.queues.command_errors import MediaError, ZoneOffline, ZoneReadOnly
from flashtrain.spec import Status, ZoneState
from flashtrain.spec.presets import TINY

BLOCK, CAPACITY = TINY.geometry.page_bytes, TINY.geometry.zone_capacity


@pytest.fixture
def device():
    with open_device("tiny", memory_bytes=1 << 18) as opened:
        yield opened


@pytest.fixture
def fail(monkeypatch):
    """Called with a stream and a zone: the next append to it fails, and retires it."""
    original, bad = StreamZones.append, {}

    def append(self, index, offset, blocks):
        status, state = original(self, index, offset, blocks), bad.pop((self._settings.first, index), None)
        if status or state is None:
            return status
        self.zones[index].state = state
        return Status.WRITE_FAULT

    def set_bad(device, stream, zone, state=ZoneState.READ_ONLY):
        bad[device._zones[stream.nsid].start, zone] = state

    monkeypatch.setattr(StreamZones, "append", append)
    return set_bad


def content(blocks, first=0):
    return np.arange(first, first + blocks * BLOCK // 4, dtype=np.uint32)


def test_they_are_stored_as_they_were(device, fail):
    stream = device.stream("trained")
    before, free = stream.append(content(1)), device.buffer_free_bytes
    fail(device, stream, 0)
    lost = stream.append_async(content(1))
    array, mapped = content(2, first=7), device.buffer((BLOCK // 2,), np.uint32)
    mapped[:] = content(2, first=9)
    later = [
        stream.append_async(array),
        stream.append_async(mapped),
        stream.append_async(content(1, first=11)),
    ]
    array[:] = 0
    with pytest.raises(MediaError, match="WRITE_FAULT"):
        lost.result()
    stored = [pending.result() for pending in later]
    assert [one.extents for one in stored] == [((32, 2),), ((34, 2),), ((36, 1),)]
    for one, expected in zip(stored, (content(2, 7), content(2, 9), content(1, 11)), strict=True):
        assert np.array_equal(stream.read(one), expected)
    assert np.array_equal(stream.read(before), content(1))
    assert stream.append(content(1)).lba == 37
    del mapped, later
    assert device.buffer_free_bytes == free


def test_from_zone_to_zone(device, fail):
    stream = device.stream("weights")
    for zone in range(stream.zones):
        fail(device, stream, zone)
    pendings = [stream.append_async(content(1, first=n)) for n in range(stream.zones + 2)]
    for pending in pendings[: stream.zones]:
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            pending.result()
    for pending in pendings[stream.zones :]:
        with pytest.raises(ZoneReadOnly):
            pending.result()


def test_what_has_no_room_elsewhere(device, fail):
    stream = device.stream("trained")
    stream.write(stream.zone_size, content(CAPACITY - 2))
    stream.close_zone(1)
    stream.open_zone(0)  # so it is the first to be filled
    fail(device, stream, 0)
    pendings = [stream.append_async(content(blocks)) for blocks in (1, 3, 2, 1)]
    for pending, error in zip(pendings, (MediaError, ZoneReadOnly, None, ZoneReadOnly), strict=True):
        if error is None:
            assert np.array_equal(stream.read(pending.result()), content(2))
        else:
            with pytest.raises(error):
                pending.result()


def test_the_rest_of_an_array_that_is_lost_is_not_stored(device, fail):
    stream = device.stream("trained")
    fail(device, stream, 0)
    assert CAPACITY > TINY.max_blocks, "it takes several commands"
    with pytest.raises(MediaError, match="WRITE_FAULT"):
        stream.append(content(CAPACITY))
    assert stream.report()[1].state is ZoneState.EMPTY


@pytest.mark.parametrize("after", ["reset_async", "flush_async"])
def test_nothing_is_put_behind_what_must_come_later(device, fail, after):
    stream = device.stream("trained")
    fail(device, stream, 0)
    lost, pending = stream.append_async(content(1)), stream.append_async(content(1))
    end = getattr(stream, after)()
    for one, error in ((lost, MediaError), (pending, ZoneReadOnly)):
        with pytest.raises(error):
            one.result()
    end.result()
    assert stream.report()[1].state is ZoneState.EMPTY


def test_a_zone_that_is_offline(device, fail):
    """That was somebody's decision."""
    stream = device.stream("trained")
    fail(device, stream, 0, ZoneState.OFFLINE)
    lost, pending = stream.append_async(content(1)), stream.append_async(content(1))
    for one, error in ((lost, MediaError), (pending, ZoneOffline)):
        with pytest.raises(error):
            one.result()


def test_writes_stay_where_they_are_meant(device, fail):
    stream = device.stream("trained")
    stream.retire_zone(0, ZoneState.READ_ONLY)
    with pytest.raises(ZoneReadOnly):
        stream.write(0, content(1))
    assert stream.report()[1].state is ZoneState.EMPTY
