"""Dropped arrays on every Link: stale handles, and resets of the zones in which all is dead, of no others."""

import numpy as np
import pytest

from flashtrain.host import AccessDenied, Device, StaleHandle, StoredArray, StreamFull, open_device
from flashtrain.spec import Opcode, Port, ZoneAction, ZoneState
from flashtrain.spec.registers import Counter
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE, Retention

FILLING = Retention.MINUTES.filling


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def noise(random, device: Device, blocks: int) -> np.ndarray:
    return random.integers(0, 256, blocks * device.config.geometry.page_bytes, np.uint8)


def states(device: Device, stream: str) -> list[ZoneState]:
    return [zone.state for zone in device.stream(stream).report()]


def assert_stale(device: Device, stream: str, stored: StoredArray) -> None:
    used = device.stream(stream)
    for use in (used.read, used.read_async, used.health, used.drop):
        with pytest.raises(StaleHandle, match=f"of stream '{stream}'.* was dropped"):
            use(stored)


def test_a_dropped_array_is_stale_and_the_others_are_not(device, random):
    stream = device.stream("activations")
    arrays = [noise(random, device, blocks) for blocks in (1, 2, 3)]
    first, second, third = (stream.append(array) for array in arrays)
    stream.drop(second)
    assert_stale(device, "activations", second)
    assert np.array_equal(stream.read(first), arrays[0])
    assert np.array_equal(stream.read(third), arrays[2])
    # Its blocks are there until their zone is reset, so another array does not take their place.
    assert stream.append(arrays[0]).lba == sum(third.extents[-1])
    stream.drop_all()
    for stored in (first, third):
        assert_stale(device, "activations", stored)
    new = stream.append(arrays[1])
    assert np.array_equal(stream.read(new), arrays[1])
    assert stream.zones_reset == 0


def test_iterations_share_a_zone(link, random):
    """An erase for each zone of data, and none for each iteration."""
    with open_device(link=link, node=SINGLE_NODE, factory=True) as device:
        stream, zones = device.stream("activations"), device.config.geometry.zones
        part = max(1, stream.zone_capacity // 4)
        iterations = 4 * (2 * zones if zones < 16 else 3)
        for _ in range(iterations):
            data = noise(random, device, part)
            stored = stream.append(data)
            assert np.array_equal(stream.read(stored), data)
            stream.drop_all()
        device.wait()
        assert stream.zones_reset == iterations * part // stream.zone_capacity
        assert device.counters()[Counter.ERASES.name] <= stream.zones_reset
        assert sum(state is not ZoneState.EMPTY for state in states(device, "activations")) <= 1


def test_random_arrays_live_and_die(device, random):
    """Many times the room of a stream: what lives is read back, so its zone is not reset."""
    stream = device.stream("activations")
    alive: list[tuple[StoredArray, np.ndarray]] = []
    dead: list[StoredArray] = []
    most, written = stream.zone_capacity, 0
    while written < 3 * stream.zones * stream.zone_capacity and written < 4000:
        blocks = int(random.integers(1, 1 + stream.zone_capacity // 3))
        while alive and sum(stored.blocks for stored, _ in alive) + blocks > most:
            stored, _ = alive.pop(0)  # the oldest: a ring that is not dropped in turn keeps its zones
            stream.drop(stored)
            dead.append(stored)
        data = noise(random, device, blocks)
        alive.append((stream.append(data), data))
        written += blocks
        stored, data = alive[int(random.integers(len(alive)))]
        assert np.array_equal(stream.read(stored), data)
    for stored, data in alive:
        assert np.array_equal(stream.read(stored), data)
    for stored in dead[-3:]:
        assert_stale(device, "activations", stored)
    least = (written - 2 * most) // stream.zone_capacity - 1
    assert least <= stream.zones_reset <= written // stream.zone_capacity


def test_a_drop_of_all_with_commands_in_flight(device, random):
    stream = device.stream("activations")
    old = noise(random, device, stream.zone_capacity)
    before = stream.append(old)
    read, append = stream.read_async(before), stream.append_async(old[: device.config.geometry.page_bytes])
    stream.drop_all()
    data = noise(random, device, 2)
    after = stream.append_async(data)
    assert np.array_equal(read.result(), old), "it was begun before"
    assert_stale(device, "activations", append.result())
    assert np.array_equal(stream.read(after.result()), data)
    assert stream.zones_reset == 1


def test_a_stream_of_living_arrays_is_full(device, random):
    stream = device.stream("trained")
    kept = [stream.append(noise(random, device, stream.zone_capacity)) for _ in range(stream.zones)]
    with pytest.raises(StreamFull, match="room for 0 blocks"):
        stream.append(noise(random, device, 1))
    stream.drop(kept[1])
    data = noise(random, device, stream.zone_capacity)
    stored = stream.append(data)
    assert stored.lba == stream.zone_size
    assert np.array_equal(stream.read(stored), data)
    with pytest.raises(StreamFull):
        stream.append(noise(random, device, 1))


def test_more_than_all_zones_but_one_fits_again(device, random):
    stream = device.stream("activations")
    blocks = stream.zones * stream.zone_capacity - 1
    for _ in range(2):
        data = noise(random, device, blocks)
        stored = stream.append(data)
        assert np.array_equal(stream.read(stored), data)
        stream.drop_all()


def test_a_port_that_may_not_append_may_not_drop(device, random):
    stored = device.stream("inputs", Port.HOST).append(noise(random, device, 1))
    reader = device.stream("inputs")
    for drop in (lambda: reader.drop(stored), reader.drop_all):
        with pytest.raises(AccessDenied, match=r"ZONE_MANAGEMENT_SEND .*'inputs' by port CORE"):
            drop()
    reader.read(stored)


def test_a_zone_out_of_service_stays(device, raw, random):
    """A retired zone is not reset; the others are."""
    stream = device.stream("activations")
    first = stream.append(noise(random, device, stream.zone_capacity))
    second = stream.append(noise(random, device, stream.zone_capacity))
    raw.status(Opcode.ZONE_RETIRE, slba=0, action=ZoneState.READ_ONLY)
    stream.drop(first)
    stream.drop(second)
    assert stream.zones_reset == 1
    assert states(device, "activations")[:2] == [ZoneState.READ_ONLY, ZoneState.EMPTY]
    assert_stale(device, "activations", first)


def test_a_reset_ends_what_is_dead(device, random):
    """Data that come to a place where dead data were are alive, whatever emptied it."""
    stream = device.stream("activations")
    resets = (stream.reset, lambda: stream.reset_zone(0), lambda: stream.manage_all(ZoneAction.RESET))
    for empty in (*resets, device.format):
        stream.drop(stream.append(noise(random, device, stream.zone_capacity - 1)))
        empty()
        resets, data = stream.zones_reset, noise(random, device, stream.zone_capacity - 1)
        stored = stream.append(data)
        stream.drop(stream.append(noise(random, device, 1)))
        assert stored.lba == 0 and stream.zones_reset == resets
        assert np.array_equal(stream.read(stored), data)
        stream.reset()


def test_data_in_a_zone_that_fills_slowly_are_not_refused(link, device, random):
    """Each lives for 95 % of the class, whenever it was appended: an old zone is left with room in it."""
    stream = device.stream("activations")
    data = noise(random, device, 1)
    stream.drop(stream.append(data))
    zones, stored = set(), []
    for number in range(8):
        stored.append(stream.append(data))
        zones.add(stored[-1].lba // stream.zone_size)
        assert stream.append(data).lba == stored[-1].lba + 1, "as long as the zone is young"
        link.pass_time(Retention.MINUTES.limit - FILLING)
        assert np.array_equal(stream.read(stored[-1]), data), number
        stream.drop_all()
    assert stream.zones_reset + len(zones) >= 8
    for old in stored:
        assert_stale(device, "activations", old)


def test_a_zone_with_living_data_is_finished_when_it_is_old(link, device, random):
    stream, data = device.stream("activations"), noise(random, device, 1)
    stream.drop(stream.append(data))
    early = stream.append(data)
    link.pass_time(FILLING)
    late = stream.append(data)
    assert states(device, "activations")[0] is ZoneState.FULL and late.lba == stream.zone_size
    assert np.array_equal(stream.read(early), data)
    stream.drop(early)
    assert stream.zones_reset == 1 and states(device, "activations")[0] is ZoneState.EMPTY
    assert np.array_equal(stream.read(late), data)


def test_after_a_loss_of_power(link, random):
    """A volatile stream is empty. In a non-volatile one a reset zone stays empty, and what lives is there."""
    with open_device(link=link, node=UPDATE_NODE) as device:
        inputs, activations = device.stream("inputs", Port.HOST), device.stream("activations")
        data = noise(random, device, 1)
        dead = inputs.append(noise(random, device, inputs.zone_capacity))
        kept, dropped = inputs.append(data), inputs.append(data)
        lost, gone = activations.append(data), activations.append(data)
        inputs.drop(dead)
        inputs.drop(dropped)
        activations.drop(gone)
        assert inputs.zones_reset == 1
        device.wait()
        link.power_cycle()
        device.recover()
        assert np.array_equal(device.stream("inputs").read(kept), data)
        assert states(device, "inputs")[0] is ZoneState.EMPTY
        assert {*states(device, "activations")} == {ZoneState.EMPTY}
        for stream, stored in (("activations", lost), ("activations", gone)):
            assert_stale(device, stream, stored)
        reader = device.stream("inputs")
        for stored in (dead, dropped):
            with pytest.raises(StaleHandle):
                reader.read(stored)
        stored = activations.append(data)
        activations.drop(activations.append(data))
        assert np.array_equal(activations.read(stored), data)


def test_both_ports_drop_of_a_stream_for_both(link, random):
    with open_device(link=link, node=SINGLE_NODE) as device:
        host, core = device.stream("trained", Port.HOST), device.stream("trained")
        data = noise(random, device, 1)
        kept, dropped = core.append(data), core.append(data)
        core.drop(dropped)
        with pytest.raises(StaleHandle):
            host.read(dropped)
        assert np.array_equal(host.read(kept), data)
