"""Devices with spare blocks: both drivers find the same marks, blocks and content on copies of one flash."""

from contextlib import suppress
from random import Random

import numpy as np
import pytest

from flashtrain.host import CommandError, Device, FunctionalLink, StreamFull
from flashtrain.sim.nand.errors import factory_marks
from flashtrain.sim.nand.errors.factory import as_spares_last
from flashtrain.spec import Port, Status, ZoneAction, ZoneState, preset
from flashtrain.spec.bad_blocks import FACTORY_SHARE
from flashtrain.spec.streams import SINGLE_NODE

from .both_drivers import BLOCK, PLACES, Model, format_twice, random_action, recover_twice
from .driver import CDriver, DriverError, Error

CONFIG = preset("tiny_ecc")
G = CONFIG.geometry
COLUMNS = [(c, d, p) for d in range(G.dies) for p in range(G.planes) for c in range(G.channels)]
"""Channel, die, plane, in the order of blocks."""


@pytest.fixture
def link():
    with FunctionalLink(CONFIG, 1 << 18) as opened:
        yield opened


def blocks(count, first=0):
    return (np.arange(count * BLOCK) // 7 + first).astype(np.uint8)


def begin(link):
    driver = CDriver(link)
    driver.do("ft_format", True)
    return driver


def break_columns(link, block, count):
    for place in COLUMNS[:count]:
        link.break_block(*place, block)


def physical_zone(link, nsid=3):
    """The number of the block with the first page of the stream."""
    (block,) = [
        block
        for block, zone in enumerate(link._flash.zones)
        if any(page and page.owner and page.owner.nsid == nsid for page in zone.pages[: G.superpage])
    ]
    return block


def python_action(random, device: Device, model: Model):
    """One operation of the Python driver, and the same in the model."""
    appends, _, nsid, name = PLACES[random.integers(len(PLACES))]
    stream, kind = device.stream(name, appends), random.choice(["append"] * 5 + ["reset", "reset zone"])
    with suppress(StreamFull, CommandError):
        if kind == "append":
            data = random.integers(0, 256, int(random.integers(1, 9)) * BLOCK, np.uint8)
            at = 0
            for extent in stream.append(data).extents:
                model.append(nsid, extent.lba, data[at : at + extent.blocks * BLOCK])
                at += extent.blocks * BLOCK
        elif kind == "reset":
            stream.reset()
            model.reset(nsid)
        else:
            zone = int(random.integers(stream.zones))
            stream.reset_zone(zone)
            model.reset(nsid, zone)


def work(random, driver: CDriver, device: Device, model: Model):
    """Operations of one of the drivers, on its own flash, which is returned."""
    actions, ours = int(random.integers(1, 20)), bool(random.integers(2))
    link = driver.link if ours else device.link
    for left in range(actions, 0, -1):
        if left == 2 and random.integers(2):
            link._executor.physical.release = lambda zone: None  # the power fails before these erases
        if ours:
            random_action(random, driver, model)
        else:
            python_action(random, device, model)
        if random.integers(20) == 0:
            link.break_block(
                *Random(int(random.integers(1000))).choice(COLUMNS), int(random.integers(G.blocks))
            )
    if random.integers(2):
        if ours:
            driver.do("ft_shutdown")
        else:
            device.shutdown()
    link.power_cycle()
    model.reset(2)
    return link


def test_lives_of_devices_with_bad_blocks(link, seed):
    """Bad blocks from the factory and later, losses of power, and formats, with both drivers by turns."""
    random, spares, bad = np.random.default_rng(seed), 0, 0
    for life in range(3):
        link = FunctionalLink(CONFIG, 1 << 18)
        for mark in as_spares_last(G, factory_marks(G, seed + life, 4 * FACTORY_SHARE), []):
            link.mark_block(*mark)
        driver, device = format_twice(link)
        model = Model()
        for turn in range(10):
            link = work(random, driver, device, model)
            if turn == 6:
                driver, device = format_twice(link)
                model = Model()
                continue
            driver, device = recover_twice(link)
            model.compare(driver, device)
            spares += device.recovered.spares
            bad += len(device.bad_blocks)
    assert spares and bad


@pytest.mark.parametrize("count", [1, 3, 4])
def test_a_zone_in_spares(link, count):
    """With all columns in spares no page shows its physical zone, and any other one serves."""
    break_columns(link, 0, count)
    driver, data = begin(link), blocks(count)
    driver.append(Port.CORE, 3, 0, data)
    for _ in range(3):
        link.power_cycle()
        driver, device = recover_twice(link)
        assert device.recovered.spares == count
        assert np.array_equal(driver.read(Port.CORE, 3, 0, count), data)
        driver.append(Port.HOST, 1, 0, blocks(5))
        driver.do("ft_stream_reset", Port.HOST, 1)
    driver.do("ft_stream_reset", Port.CORE, 3)
    link.power_cycle()
    assert recover_twice(link)[1].recovered.spares == 0


@pytest.mark.parametrize(("bad", "written"), [(0, 1), (1, 1), (1, 4), (4, 4)])
def test_an_orderly_end(link, bad, written):
    """A zone takes more if each of its blocks has a page, or if no spare is in use."""
    break_columns(link, 0, bad)
    driver = begin(link)
    driver.append(Port.CORE, 3, 0, blocks(written))
    for turn in range(3):
        driver.do("ft_shutdown")
        driver, device = recover_twice(link)
        assert device.recovered.clean
        state = ZoneState.FULL if bad and written < G.superpage else ZoneState.CLOSED
        assert driver.report(Port.CORE, 3)[0].state == state
        if turn == 0:
            driver.append(Port.HOST, 1, 0, blocks(1))  # to a zone without a bad block
        else:
            assert driver.report(Port.HOST, 1)[0].state == (ZoneState.FULL if bad else ZoneState.CLOSED)


@pytest.mark.parametrize("moved", range(G.pages + 1))
def test_a_move_that_the_power_has_cut(link, moved):
    """Several blocks have pages of one place: the one with the most counts, and the last of equal ones."""
    driver, data = begin(link), blocks(G.zone_capacity)
    for half in np.split(data, 2):
        driver.append(Port.CORE, 3, 0, half)
    zone = physical_zone(link)
    for page in range(moved):
        offset = page * G.superpage + 1
        link._flash.zones[G.zones + 1].program(offset, link._flash.zones[zone].page(offset))
    link.power_cycle()
    driver, device = recover_twice(link)
    assert device.recovered.spares == (moved == G.pages)
    halves = [driver.read(Port.CORE, 3, first, G.zone_capacity // 2) for first in (0, G.zone_capacity // 2)]
    assert np.array_equal(np.concatenate(halves), data)


def test_a_program_that_failed_hides_no_spare(link):
    break_columns(link, 0, 1)
    driver = begin(link)
    driver.append(Port.CORE, 3, 0, blocks(4))
    lba = driver.append(Port.CORE, 3, 0, blocks(4, 9))
    pages = link._flash.zones[G.zones].pages
    pages[0] = pages[0]._replace(owner=None)
    link.power_cycle()
    driver, device = recover_twice(link)
    assert device.recovered.spares == 1
    assert np.array_equal(driver.read(Port.CORE, 3, lba, 4), blocks(4, 9))


def test_old_pages_in_a_bad_block_stay_old(link):
    """The block keeps them over a format, whose allocations get higher sequence numbers."""
    driver = begin(link)
    driver.append(Port.CORE, 3, 0, blocks(7))
    zone = physical_zone(link)
    break_columns(link, zone, 2)
    link.power_cycle()
    driver, _ = format_twice(link)
    assert link._flash.zones[zone].page(0) is not None
    lba = driver.append(Port.CORE, 3, 0, blocks(7, 5))
    link.power_cycle()
    driver, _ = recover_twice(link)
    assert np.array_equal(driver.read(Port.CORE, 3, lba, 7), blocks(7, 5))


@pytest.mark.parametrize("count", [2, 4])
def test_old_pages_beside_newer_ones_in_spares(link, count):
    """A physical zone keeps old pages, and spares have newer ones of the same logical zone."""
    driver = begin(link)
    driver.append(Port.CORE, 3, 0, blocks(4))
    zone = physical_zone(link)
    break_columns(link, zone, count)
    for turn in range(1, 40):
        driver.do("ft_stream_reset", Port.CORE, 3)
        driver.append(Port.CORE, 3, 0, blocks(4, turn))
        if {page.owner.generation for page in link._flash.zones[G.zones].pages if page} == {turn}:
            break
    assert link._flash.zones[zone].page(0).owner.generation == 0
    link.power_cycle()
    driver, device = recover_twice(link)
    assert device.recovered.spares == count
    assert np.array_equal(driver.read(Port.CORE, 3, 0, 4), blocks(4, turn))


def test_a_zone_in_spares_avoids_marked_zones(link):
    link.mark_block(*COLUMNS[3], 0)
    break_columns(link, 1, 1)
    driver, _ = format_twice(link)
    driver.append(Port.CORE, 2, 0, blocks(1))  # to zone 0, until the power fails
    driver.append(Port.CORE, 3, 0, blocks(1))
    driver.do("ft_stream_reset", Port.CORE, 2)
    link.power_cycle()
    driver, device = recover_twice(link)
    assert [owner.physical for owner in device.recovered.kept if owner.nsid == 3] == [1]


def test_a_format_erases_spares(link):
    break_columns(link, 0, 3)
    driver = begin(link)
    driver.append(Port.CORE, 3, 0, blocks(4))
    assert any(link._flash.zones[G.zones].pages)
    link._flash.bad.clear()  # so that no spare is erased to replace a block
    link.power_cycle()
    format_twice(link)
    assert not any(page and page.owner.nsid == 3 for page in link._flash.zones[G.zones].pages)


def test_a_block_with_data_is_not_taken_for_a_bad_one(link):
    """Its first page has come to look like a mark."""
    driver, data = begin(link), blocks(3 * G.superpage)
    driver.append(Port.CORE, 3, 0, data)
    link.mark_block(*COLUMNS[0], physical_zone(link))
    link.power_cycle()
    driver, _ = recover_twice(link)
    assert driver.bad_blocks() == []
    assert np.array_equal(driver.read(Port.CORE, 3, G.superpage, 8), data[G.superpage * BLOCK :])


def test_spares_that_are_used_up(link):
    """Zones are left unused; the error comes when the streams, or the journal, need one of them."""
    for block in (2, 5, 7, 9):
        link.mark_block(*COLUMNS[1], block)
    driver, _ = format_twice(link, SINGLE_NODE)
    assert [one[4] for one in driver.bad_blocks()] == [G.zones, G.zones + 1, None, None]
    for stream in SINGLE_NODE.streams:
        port = Port.HOST if stream.name in ("inputs", "samples") else Port.CORE
        for zone in range(driver.get("ft_zones", stream.nsid)) if stream is not SINGLE_NODE.journal else ():
            driver.append(port, stream.nsid, zone, blocks(1))
            driver.do("ft_zone_manage", port, stream.nsid, zone, ZoneAction.FINISH)
    for name, *arguments in (("ft_annotate", 1, b"x", 1), ("ft_stream_reset", Port.HOST, 1)):
        with pytest.raises(DriverError) as raised:
            driver.do(name, *arguments)
        assert (raised.value.error, raised.value.status) == (Error.SPARES, Status.INTERNAL_ERROR)
    driver.do("ft_stream_reset", Port.CORE, 2)  # a volatile one, which gives zones back
    driver.do("ft_stream_reset", Port.HOST, 1)
    link.power_cycle()
    driver = CDriver(link, SINGLE_NODE)
    assert driver.recover().unusable == 2


def test_a_device_of_several_dies(seed):
    """Marks and content on all planes of `small_ecc`."""
    config = preset("small_ecc")
    link = FunctionalLink(config, 16 << 20)
    for mark in as_spares_last(config.geometry, factory_marks(config.geometry, seed), []):
        link.mark_block(*mark)
    driver, _ = format_twice(link)
    assert len({(channel, die, plane) for channel, die, plane, *_ in driver.bad_blocks()}) > 4
    data = np.random.default_rng(seed).integers(0, 256, 40 * driver.info.page_bytes, np.uint8)
    lba = driver.append(Port.HOST, 1, 0, data)
    link.power_cycle()
    driver, _ = recover_twice(link)
    assert np.array_equal(driver.read(Port.CORE, 1, lba, 40), data)
