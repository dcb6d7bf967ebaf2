"""Which zones of a stream a reset makes room in."""

import pytest

from flashtrain.host import Extent, StreamFull
from flashtrain.host.streams.generations import StreamGenerations
from flashtrain.host.streams.stream_ring import StreamRing
from flashtrain.host.streams.stream_space import StreamSpace

ZONES, SIZE, CAPACITY = 4, 32, 24


@pytest.fixture
def ring():
    return StreamRing(StreamSpace("s", ZONES, SIZE, CAPACITY), StreamGenerations())


def empty_spent(ring: StreamRing) -> list[int]:
    spent = ring.spent()
    for zone in spent:
        ring.empty(zone)
    return spent


def test_a_zone_is_spent_when_it_is_full_and_all_in_it_is_dead(ring):
    first, second = ring.space.reserve(20), ring.space.reserve(10)
    assert second == [(20, 4), (32, 6)]
    ring.drop(first)
    assert ring.spent() == []
    ring.drop(second)
    assert empty_spent(ring) == [0]
    assert ring.resets == 1 and ring.space.room == 4 * 24 - 6
    # Zone 1 is not full: later data go on behind the dead ones.
    assert ring.space.reserve(18) == [(38, 18)]
    assert ring.spent() == []
    ring.drop([Extent(38, 18)])
    assert empty_spent(ring) == [1]


def test_iterations_of_a_quarter_zone_empty_one_zone_in_four(ring):
    resets = []
    for _ in range(40):
        ring.space.reserve(CAPACITY // 4)
        ring.release()
        resets.append(empty_spent(ring))
    assert [len(zones) for zones in resets] == [0, 0, 0, 1] * 10


@pytest.mark.parametrize("blocks", [1, 7, 23, 24, 25, 40, 71, 72, 73, 80, 95, 96])
def test_what_fits_into_an_empty_stream_fits_again_and_again(ring, blocks):
    zones = 0
    for _ in range(60):
        for part in (blocks // 2, blocks - blocks // 2):
            if part:
                ring.space.reserve(part)
        ring.release()
        zones += len(empty_spent(ring))
    assert zones >= 60 * blocks // CAPACITY - ZONES
    if blocks <= (ZONES - 1) * CAPACITY:
        assert zones <= 60 * blocks / CAPACITY  # no zone is reset before it is full
    with pytest.raises(StreamFull):
        ring.space.reserve(ZONES * CAPACITY + 1)


def test_dead_zones_that_are_not_full_make_room_at_last(ring):
    ring.drop(ring.space.reserve(80))
    assert empty_spent(ring) == [0, 1, 2]
    assert ring.spent_for(ring.space.room) == [] and ring.spent_for(ring.space.room + 1) == [3]


def test_living_data_keep_their_zone(ring):
    kept, dead = ring.space.reserve(1), ring.space.reserve(47)
    ring.drop(dead)
    assert empty_spent(ring) == [1] and ring.spent_for(10**6) == []
    ring.drop(kept)
    assert empty_spent(ring) == [0]


def test_an_old_zone_is_left(ring):
    living = ring.space.reserve(6, now=100)
    ring.drop(ring.space.reserve(6, now=101))
    assert ring.aged(102, seconds=3) == [] and ring.aged(103, seconds=3) == [0]
    assert not ring.is_all_dead(0)
    ring.finish(0)
    assert ring.aged(200, seconds=3) == [] and ring.space.room == 3 * 24
    # The 12 blocks that were appended are all that the zone will ever have.
    ring.drop(living)
    assert ring.is_all_dead(0) and empty_spent(ring) == [0]


def test_a_zone_that_was_left_is_filled_anew(ring):
    ring.drop(ring.space.reserve(12))
    ring.finish(0)
    assert empty_spent(ring) == [0]
    first, _ = ring.space.reserve(12), ring.space.reserve(12)
    ring.drop(first)
    assert ring.space.room_in(0) == 0 and ring.spent() == []


def test_a_refused_reset_is_repeated(ring):
    ring.drop(ring.space.reserve(24))
    assert ring.spent() == [0]
    drop = ring.empty(0)
    assert ring.spent() == []
    ring.undo(0, drop)
    ring.space.forget()
    ring.space.finish(0)  # as a report says
    assert ring.spent() == [0] and ring.resets == 0


def test_what_is_dead_ends_with_the_drop_of_its_zone():
    generations = StreamGenerations()
    ring = StreamRing(StreamSpace("s", ZONES, SIZE, CAPACITY), generations)
    ring.drop(ring.space.reserve(24))
    assert generations.dead(0).count == 24
    generations.drop()
    ring.space.reset()
    assert generations.dead(0).count == 0 and ring.spent() == []
    ring.space.reserve(24)
    assert ring.spent() == []


def test_nothing_is_reset_while_the_stream_is_pinned(ring):
    ring.drop(ring.space.reserve(24))
    ring._generations.pinned = True
    assert ring.spent() == [] and ring.spent_for(10**6) == []


def test_a_retired_zone_is_not_reset(ring):
    ring.drop(ring.space.reserve(24))
    ring.space.retire(0)
    assert ring.spent() == []
