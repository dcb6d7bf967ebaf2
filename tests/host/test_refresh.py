"""Refusing and refreshing old data, and their ages after a loss of power, on the functional model."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from flashtrain.host import (
    DataExpired,
    Device,
    FunctionalLink,
    Obstacle,
    OldZone,
    StoredArray,
    StreamPinned,
    open_device,
    raw_entry,
)
from flashtrain.spec import NodeTable, Opcode, Port, ZoneState, preset
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE, Expired, Retention
from tests.host.counted_link import CountedLink, PowerCut

CONFIG = preset("tiny")
G = CONFIG.geometry
WIDE = NodeTable("wide", tuple(s for s in SINGLE_NODE.streams if s.persistency))
"""With more than two zones for each stream of arrays."""
MINUTES, DAYS, YEARS = (which.limit for which in Retention)


@pytest.fixture
def link() -> Iterator[FunctionalLink]:
    with FunctionalLink(CONFIG) as opened:
        yield opened


@pytest.fixture
def device(link) -> Iterator[Device]:
    with open_device(link=link, node=SINGLE_NODE) as opened:
        yield opened


def content(blocks: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (blocks, G.page_bytes), np.uint8)


def is_there(device: Device, stored: StoredArray, data: np.ndarray, stream: str = "inputs") -> bool:
    return np.array_equal(device.stream(stream).read(stored), data)


def test_data_are_read_as_long_as_their_class_says(link, device):
    stream = device.stream("activations")
    data = content(3)
    stored = stream.append(data)
    link.pass_time(MINUTES - 0.5)
    assert np.array_equal(stream.read(stored), data)
    assert device.ages() == {"activations": MINUTES - 1}
    link.pass_time(0.5)
    with pytest.raises(DataExpired, match="DATA_EXPIRED"):
        stream.read(stored)
    stream.append(data)  # younger, but in a zone with old data
    with pytest.raises(DataExpired):
        stream.read(stored)
    stream.reset()
    assert np.array_equal(stream.read(stream.append(data)), data)


def test_a_stream_that_refuses_nothing_is_read_however_old(link):
    with open_device(link=link, node=SINGLE_NODE.refusing_nothing) as device:
        stream = device.stream("activations")
        data = content(3)
        stored = stream.append(data)
        link.pass_time(YEARS)
        assert np.array_equal(stream.read(stored), data)


def test_a_report_recommends_a_reset_when_half_the_time_is_over(link, device):
    stream = device.stream("inputs", Port.HOST)
    stream.append(content(G.zone_capacity + 2))
    stream.retire_zone(1, ZoneState.READ_ONLY)

    def told() -> list[bool]:
        return [zone.reset_recommended for zone in stream.report()]

    link.pass_time(YEARS // 2 - 1)
    assert not any(told())
    link.pass_time(1)
    assert told() == [True] + [False] * (stream.zones - 1), "nobody can reset a retired zone"


def test_refreshed_blocks_stay_where_they_are(link):
    """A full zone, one that was finished and one that takes more; a young one is left alone."""
    with open_device(link=link, node=WIDE) as device:
        stream = device.stream("trained")
        chunks = [content(blocks, blocks) for blocks in (G.zone_capacity, 5, 3, 4)]
        stored = [stream.append(chunks[0]), stream.append(chunks[1])]
        stream.finish_zone(1)
        stored.append(stream.append(chunks[2]))
        stream.close_zone(2)
        link.pass_time(YEARS // 2)
        stream.open_zone(3)
        stored.append(stream.append(chunks[3]))
        assert [one.lba // G.zone_size for one in stored] == [0, 1, 2, 3]
        stream.close_zone(3)
        before = stream.report()
        report = device.refresh()
        blocks = {0: G.zone_capacity, 1: 5, 2: 3}
        assert not report.left
        assert report.zones == tuple(OldZone("trained", *item) for item in blocks.items())
        assert device.ages()["trained"] == 0
        for number, (zone, old) in enumerate(zip(stream.report(), before, strict=True)):
            assert zone.write_pointer == old.write_pointer, number
            assert (zone.state is ZoneState.FULL) == (old.state is ZoneState.FULL)
        assert all(is_there(device, *pair, "trained") for pair in zip(stored, chunks, strict=True))
        assert device.refresh().zones == ()


def test_a_zone_that_is_not_full_takes_more_afterwards(link, device):
    stream = device.stream("inputs", Port.HOST)
    first, second = content(3), content(2, 2)
    one = stream.append(first)
    link.pass_time(YEARS)
    assert device.refresh().zones == (OldZone("inputs", 0, 3),)
    two = stream.append(second)
    assert two.lba == one.lba + 3
    assert is_there(device, one, first) and is_there(device, two, second)


def test_what_stands_against_a_refresh(link):
    """Nothing is changed then."""
    state = replace(UPDATE_NODE, streams=tuple(s for s in UPDATE_NODE.streams if s.name != "journal"))
    for node, obstacle in ((SINGLE_NODE, Obstacle.NO_ROOM), (state, Obstacle.NO_JOURNAL)):
        with open_device(link=link, node=node) as device:
            stream = device.stream("inputs", Port.HOST)
            blocks = stream.zones * G.zone_capacity if obstacle is Obstacle.NO_ROOM else 3
            data = content(blocks)
            stored = stream.append(data)
            link.pass_time(YEARS)
            report = device.refresh()
            assert report.zones == report.left
            assert {zone.obstacle for zone in report.left} == {obstacle}
            assert is_there(device, stored, data)


def test_pages_that_cannot_be_read_stay_unreadable(link, device):
    stream = device.stream("inputs", Port.HOST)
    data = content(6)
    stored = stream.append(data)
    physical = next(zone for zone in link._flash.zones if zone)
    physical[4] = None
    link.pass_time(YEARS)
    (zone,) = device.refresh().zones
    assert zone.obstacle is Obstacle.UNREADABLE
    assert np.array_equal(device.stream("inputs").read_blocks(stored.lba, 4), data[:4].ravel())
    assert [zone.state for zone in stream.report()].count(ZoneState.EMPTY) == stream.zones - 1


def test_volatile_streams_can_be_refreshed(link):
    streams = tuple(replace(stream, expired=Expired.REFRESH) for stream in SINGLE_NODE.streams)
    with open_device(link=link, node=NodeTable("lasting", streams)) as device:
        data = content(3)
        stored = device.stream("activations").append(data)
        link.pass_time(MINUTES)
        assert device.refresh().zones == (OldZone("activations", 0, 3),)
        assert is_there(device, stored, data, "activations")


@pytest.mark.parametrize("pinned", [False, True])
def test_the_power_may_fail_at_any_command_of_a_refresh(pinned):
    """What was acknowledged is there at its address, and no zone is lost; twice in a row as well."""
    for cut in count():
        with CountedLink(CONFIG) as link:
            data = {number: content(3 + number, number) for number in range(2)}
            device = open_device(link=link, node=WIDE)
            stream = device.stream("inputs", Port.HOST)
            stored = [stream.append(data[0])]
            stream.finish_zone(0)
            stored.append(stream.append(data[1]))
            empty = [zone.state for zone in stream.report()].count(ZoneState.EMPTY)
            if pinned:
                device.state_stream("inputs", Port.HOST).pin()
            link.pass_time(YEARS)
            link.left = cut
            try:
                device.refresh()
                ended = True
            except PowerCut:
                ended = False
            for again in (cut % 7, None):
                link.power_cycle()
                link.left = again
                with suppress(PowerCut):
                    device = open_device(link=link, node=WIDE, recover=True)
            stream = device.stream("inputs", Port.HOST)
            for number, one in enumerate(stored):
                assert is_there(device, one, data[number]), (cut, number)
            assert [zone.state for zone in stream.report()].count(ZoneState.EMPTY) == empty, cut
            device.refresh()
            assert device.ages()["inputs"] == 0, cut
            if pinned:
                with pytest.raises(StreamPinned):
                    stream.reset()
        if ended:
            break
    assert cut > 20


def test_ages_outlast_a_loss_of_power(link):
    """They are as the journal saw them: never younger than they are."""
    device = open_device(link=link, node=SINGLE_NODE)
    host, trained = device.stream("inputs", Port.HOST), device.stream("trained")
    host.append(content(3))
    link.pass_time(1000)
    trained.reset()  # a record
    trained.append(content(2))
    link.pass_time(500)
    link.power_cycle()
    link.pass_time(50)  # without power
    device = open_device(link=link, node=SINGLE_NODE, recover=True)
    assert device.ages() == {"inputs": 1550, "trained": 550, "journal": 550}
    link.pass_time(10)
    device.shutdown()
    device.recover()
    assert (device.ages()["inputs"], device.ages()["trained"]) == (1560, 560)
    device.close()


def test_without_a_record_data_are_as_old_as_can_be(link):
    node = replace(SINGLE_NODE, streams=tuple(s for s in SINGLE_NODE.streams if s.name != "journal"))
    link.pass_time(7000)
    with open_device(link=link, node=node) as device:
        device.stream("inputs", Port.HOST).append(content(1))
        assert device.ages() == {"inputs": 0}
    link.power_cycle()
    with open_device(link=link, node=node, recover=True) as device:
        assert device.ages() == {"inputs": 7000}


def test_the_journal_is_renewed(link, device):
    device.stream("trained").reset()
    link.pass_time(YEARS)
    assert device.refresh().journal
    assert not device.refresh().journal
    link.power_cycle()
    assert device.recover().stream("trained").generation == 1


def test_pinned_streams_are_refreshed(link):
    """And stay pinned. A pin that the driver does not know is an obstacle."""
    with open_device(link=link, node=UPDATE_NODE) as device:
        stream = device.state_stream("state_a")
        data = content(2)
        stored = stream.append(data)
        stream.pin()
        link.pass_time(DAYS)
        assert device.refresh().zones == (OldZone("state_a", 0, 2),)
        assert is_there(device, stored, data, "state_a")
        with pytest.raises(StreamPinned):
            stream.reset()
        stream.release()
        stream.reset()
        stored = stream.append(data)
        pin = raw_entry(opcode=Opcode.GENERATION, nsid=stream.nsid, action=GenerationAction.PIN)
        assert device.submit_raw(Port.CORE, pin).ok
        link.pass_time(DAYS)
        assert device.refresh().zones == (OldZone("state_a", 0, obstacle=Obstacle.PINNED),)
        assert is_there(device, stored, data, "state_a")
