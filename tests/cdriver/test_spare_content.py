"""Content in spare blocks, and old content in bad ones: both drivers find the same on copies of one flash."""

import numpy as np
import pytest

from flashtrain.host import FunctionalLink
from flashtrain.spec import Port, ZoneState

from .both_drivers import BLOCK, format_twice, recover_twice
from .spare_blocks import COLUMNS, CONFIG, G, begin, blocks, break_columns, physical_zone


@pytest.fixture
def link():
    with FunctionalLink(CONFIG, 1 << 18) as opened:
        yield opened


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
        link._flash.zones[G.zones + 1][offset] = link._flash.zones[zone][offset]
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
    pages = link._flash.zones[G.zones]
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
    assert link._flash.zones[zone][0] is not None
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
        if {page.owner.generation for page in link._flash.zones[G.zones] if page} == {turn}:
            break
    assert link._flash.zones[zone][0].owner.generation == 0
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
    assert any(link._flash.zones[G.zones])
    link._flash.bad.clear()  # so that no spare is erased to replace a block
    link.power_cycle()
    format_twice(link)
    assert not any(page and page.owner.nsid == 3 for page in link._flash.zones[G.zones])


def test_a_block_with_data_is_not_taken_for_a_bad_one(link):
    """Its first page has come to look like a mark."""
    driver, data = begin(link), blocks(3 * G.superpage)
    driver.append(Port.CORE, 3, 0, data)
    link.mark_block(*COLUMNS[0], physical_zone(link))
    link.power_cycle()
    driver, _ = recover_twice(link)
    assert driver.bad_blocks() == []
    assert np.array_equal(driver.read(Port.CORE, 3, G.superpage, 8), data[G.superpage * BLOCK :])
