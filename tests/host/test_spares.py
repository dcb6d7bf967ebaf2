"""Spare blocks on the functional Link: what lies in them is found again after a loss of power."""

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.spec import Port, ZoneState, preset
from flashtrain.spec.streams import UPDATE_NODE

CONFIG = preset("tiny_ecc")
G = CONFIG.geometry
BLOCK = G.page_bytes
PLACES = [(c, d, p) for d in range(G.dies) for p in range(G.planes) for c in range(G.channels)]
"""Channel, die, plane, in the order of blocks."""


@pytest.fixture
def link():
    with FunctionalLink(CONFIG, 1 << 18) as opened:
        yield opened


def begin(link):
    return open_device(link=link, node=UPDATE_NODE)


def blocks(count, first=0):
    return (np.arange(count * BLOCK // 4, dtype=np.uint32) + first).astype(np.uint32)


def cycle(device):
    device.link.power_cycle()
    return device.recover()


def replaced(device):
    return sum(channel["BLOCKS_REPLACED"] for channel in device.channel_counters())


def physical(link, lba=0):
    """Where the block of the stream is, by its content's owner: number of block and column."""
    (place,) = [
        (block, offset % G.superpage)
        for block, zone in enumerate(link._flash.zones)
        for offset, page in enumerate(zone)
        if page and page.owner and page.owner.nsid == UPDATE_NODE.named("trained").nsid and offset == lba
    ]
    return place


def written(link, zones):
    """Pages there, spares included."""
    return [page for zone in zones for page in link._flash.zones[zone] if page]


def test_all_zones_can_be_used(link):
    for zone, place in enumerate(PLACES):
        link.break_block(*place, zone)
        link.break_block(*place, zone + 4)
    with begin(link) as device:
        assert replaced(device) == 8
        kept = []
        for name, port in (("inputs", Port.HOST), ("trained", Port.CORE)):
            array = blocks(device.stream(name).zones * G.zone_capacity, len(name))
            kept.append((device.stream(name), device.stream(name, port).append(array), array))
        for _ in range(3):
            report = cycle(device)
            assert report.spares > 0
            for stream, stored, array in kept:
                assert np.array_equal(stream.read(stored), array)


def test_a_zone_is_lost_when_no_spare_is_left(link):
    for zone in range(3):
        link.break_block(0, 0, 0, zone)
    with begin(link) as device:
        assert replaced(device) == 2
        device.stream("trained").append(blocks(1))
        assert physical(link)[0] >= G.zones  # zone 0, which has the first spare
        assert link._executor.physical._free == set(range(1, 16)) - {2}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_zone_that_lies_in_spares_only(link, count):
    """Its physical zone is not known to anybody; any other one will do."""
    for place in PLACES[:count]:
        link.break_block(*place, 0)
    with begin(link) as device:
        trained, inputs = device.stream("trained"), device.stream("inputs", Port.HOST)
        stored = trained.append(blocks(count))
        assert physical(link)[0] in G.spares
        other = inputs.append(blocks(9, 3))
        for _ in range(4):
            report = cycle(device)
            assert (report.stream("trained").blocks, report.spares) == (count, min(count, 4))
            assert np.array_equal(trained.read(stored), blocks(count))
            assert np.array_equal(device.stream("inputs").read(other), blocks(9, 3))
            # What is written from now on does not get in its way.
            device.stream("weights").append(blocks(30))
            device.stream("weights").reset()
        assert trained.append(blocks(1)).lba == trained.zone_size
        trained.reset()
        assert cycle(device).stream("trained").zones == 0


def test_an_old_page_in_a_bad_block_is_no_claim(link):
    """The block fails when the zone is erased, and keeps what it holds, also the first of all."""
    with begin(link) as device:
        trained = device.stream("trained")
        trained.append(blocks(5))
        link.break_block(0, 0, 0, physical(link)[0])
        zone = physical(link)[0]
        trained.reset()
        assert replaced(device) == 1
        turn, stored = 1, trained.append(blocks(5, 1))
        while physical(link, 1)[0] != zone:
            trained.reset()
            turn += 1
            stored = trained.append(blocks(5, turn))
        assert link._flash.zones[zone][0].owner.generation == 0
        for _ in range(3):
            report = cycle(device)
            assert report.spares == 1 and report.stream("trained").generation == turn
            assert np.array_equal(trained.read(stored), blocks(5, turn))
        trained.reset()
        report = cycle(device)
        assert (report.spares, report.stream("trained").blocks) == (0, 0)
        assert np.array_equal(trained.read(trained.append(blocks(5))), blocks(5))


def test_what_is_stale_in_spares_is_erased(link):
    for place in PLACES:
        link.break_block(*place, 0)
    with begin(link) as device:
        trained = device.stream("trained")
        trained.append(blocks(4))
        link._executor.physical.release = lambda zone: None  # the power fails before the erase
        trained.reset()
        assert physical(link)[0] == G.zones
        report = cycle(device)
        assert (report.spares, report.stream("trained").blocks) == (0, 0)
        with pytest.raises(ValueError, match="not enough values"):
            physical(link)


def test_a_program_that_failed_hides_no_spare(link):
    """The first page of the spare is torn, those after it are not."""
    link.break_block(0, 0, 0, 0)
    with begin(link) as device:
        trained = device.stream("trained")
        trained.append(blocks(4))
        stored = trained.append(blocks(4, 3))
        block, column = physical(link)
        page = link._flash.zones[block][column]
        link._flash.zones[block][column] = page._replace(owner=None)
        report = cycle(device)
        assert report.spares == 1
        assert np.array_equal(trained.read(stored), blocks(4, 3))
        with pytest.raises(MediaError):
            trained.read_blocks(0, 1)


@pytest.mark.parametrize(
    ("bad", "written", "more"), [(0, 1, True), (1, 1, False), (1, 4, True), (4, 4, True)]
)
def test_an_orderly_end(link, bad, written, more):
    """A zone takes more if it is known where all of its blocks are."""
    for place in PLACES[:bad]:
        link.break_block(*place, 0)
    with begin(link) as device:
        trained = device.stream("trained")
        stored = trained.append(blocks(written))
        for _ in range(12):  # more than a zone of the journal holds
            device.shutdown()
            report = device.recover()
            assert report.clean and report.spares >= (bad > 0)
            state = ZoneState.CLOSED if more else ZoneState.FULL
            assert trained.report()[0].state is state
            assert np.array_equal(trained.read(stored), blocks(written))
        if more:
            assert trained.append(blocks(5, 1)).lba == written
            cycle(device)
            assert np.array_equal(trained.read_blocks(written, 5).view(np.uint32).reshape(-1), blocks(5, 1))


def test_what_a_bad_block_keeps_is_old_also_after_a_format(link):
    """The numbers of allocations go on: else it would look as if it came after what is written there."""
    with begin(link) as device:
        trained = device.stream("trained")
        for _ in range(40):
            trained.append(blocks(7))
            trained.reset()
        trained.append(blocks(7, 1))
        zone = physical(link)[0]
        for place in PLACES[:2]:
            link.break_block(*place, zone)
        wear = device.zone_wear()
        device.format()
        assert max(device.zone_wear()) >= max(wear)
        assert link._flash.zones[zone][1] is not None
        stored = trained.append(blocks(7, 2))
        while physical(link, 3)[0] != zone:
            trained.reset()
            stored = trained.append(blocks(7, 2))
        for _ in range(3):
            cycle(device)
            assert np.array_equal(trained.read(stored), blocks(7, 2))


def test_a_zone_that_lies_in_spares_only_takes_no_other_ones_place(link):
    """Every physical zone holds something; what its own one still does is of an earlier life."""
    with begin(link) as device:
        inputs, trained = device.stream("inputs", Port.HOST), device.stream("trained")
        first = inputs.append(blocks(1))  # to the first of all
        trained.append(blocks(1))
        zone = physical(link)[0]
        link.break_block(0, 0, 0, zone)
        turn, stored = 0, trained.append(blocks(1))
        # Until it lies in the spare, and both zones of the journal have been written.
        while turn <= G.zone_capacity or turn not in {p.owner.generation for p in written(link, G.spares)}:
            turn += 1
            trained.reset()
            stored = trained.append(blocks(1, turn))
        trained.finish_zone(0)
        kept = [(trained, stored, blocks(1, turn)), (device.stream("inputs"), first, blocks(1))]
        for stream in UPDATE_NODE.streams:
            if stream is not UPDATE_NODE.journal:
                opened = device.stream(stream.name, Port.HOST if stream.name == "inputs" else Port.CORE)
                room = sum(one.room for one in opened.report())
                array = blocks(room, stream.nsid)
                kept.append((device.stream(stream.name), opened.append(array), array))
        assert all(any(written(link, [one])) for one in range(G.zones)), "a zone has nothing"
        cycle(device)
        for stream, one, array in kept:
            if UPDATE_NODE.named(stream.name).persistency:
                assert np.array_equal(stream.read(one), array), stream
