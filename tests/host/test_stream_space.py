"""Which zones the next append goes to."""

import pytest

from flashtrain.host import StreamFull, ZoneInfo
from flashtrain.host.streams.stream_space import StreamSpace
from flashtrain.spec import ZoneState


@pytest.fixture
def space():
    return StreamSpace("s", zones=4, zone_size=32, zone_capacity=24)


def zone(index: int, state: ZoneState, written: int | None = 0) -> ZoneInfo:
    return ZoneInfo(32 * index, state, 24, None if written is None else 32 * index + written)


def test_zone_after_zone(space):
    assert space.reserve(20) == [(0, 20)]
    assert space.reserve(30) == [(20, 4), (32, 24), (64, 2)]
    assert space.room == 46
    with pytest.raises(StreamFull, match="'s' has room for 46 blocks; 47 are needed"):
        space.reserve(47)
    assert space.reserve(46) == [(66, 22), (96, 24)]
    with pytest.raises(StreamFull):
        space.reserve(1)


def test_open_zones_first(space):
    space.forget()
    assert not space.known
    space.learn([
        zone(0, ZoneState.EMPTY), zone(1, ZoneState.CLOSED, 20),
        zone(2, ZoneState.OFFLINE, None), zone(3, ZoneState.EXPLICITLY_OPEN, 23),
    ])  # fmt: skip
    assert space.known
    assert space.reserve(6) == [(119, 1), (52, 4), (0, 1)]


def test_resets(space):
    space.learn([
        zone(0, ZoneState.READ_ONLY, None), zone(1, ZoneState.FULL, None),
        zone(2, ZoneState.OFFLINE, None), zone(3, ZoneState.IMPLICITLY_OPEN, 5),
    ])  # fmt: skip
    assert space.room == 19
    space.reset()
    assert space.room == 48 and space.reserve(25) == [(32, 24), (96, 1)]
    space.forget()
    space.reset()
    assert not space.known  # which zones are retired is not known
    space.clear()
    assert space.known and space.room == 96


def test_a_zone_that_was_retired(space):
    space.reserve(20)
    space.retire(0)
    assert space.room == 72 and space.reserve_in_one(25) is None
    assert space.reserve_in_one(20) == (32, 20)
    assert space.reserve_in_one(6) == (64, 6), "the open one has not so much"
    assert space.reserve_in_one(4) == (52, 4)
    space.reset()
    assert space.room == 72
