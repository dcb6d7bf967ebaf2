"""Devices with spare blocks: both drivers find the same marks, blocks and content on copies of one flash."""

from contextlib import suppress
from random import Random

import numpy as np
import pytest

from flashtrain.host import CommandError, Device, FunctionalLink, StreamFull
from flashtrain.sim.nand.errors import factory_marks
from flashtrain.sim.nand.errors.factory import as_spares_last
from flashtrain.spec import Port, Status, ZoneAction, preset
from flashtrain.spec.bad_blocks import FACTORY_SHARE
from flashtrain.spec.streams import SINGLE_NODE

from .both_drivers import BLOCK, PLACES, Model, format_twice, random_action, recover_twice
from .driver import CDriver, DriverError, Error
from .spare_blocks import COLUMNS, CONFIG, G, blocks


@pytest.fixture
def link():
    with FunctionalLink(CONFIG, 1 << 18) as opened:
        yield opened


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


def test_lives_of_devices_with_bad_blocks(seed):
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
