"""Where logical pages lie, checked against an enumeration that counts instead of computing."""

import itertools
import random

import pytest

from flashtrain.spec import PRESETS, Geometry, Place
from flashtrain.spec.geometry import bits_for

SMALL = PRESETS["small"].geometry

GEOMETRIES = {
    **{name: config.geometry for name, config in PRESETS.items()},
    "odd": Geometry(channels=8, dies=4, planes=1, blocks=5, pages=3),
    "single": Geometry(channels=1, dies=1, planes=1, blocks=2, pages=2),
}


def counted_places(geometry: Geometry, zone: int):
    """The written LBAs of a zone in order, with their places: channels fastest, pages slowest."""
    ranges = (geometry.pages, geometry.dies, geometry.planes, geometry.channels)
    for page, die, plane, channel in itertools.product(*map(range, ranges)):
        yield Place(zone, page, die, plane, channel)


@pytest.mark.parametrize("name", ["tiny", "small", "odd", "single"])
def test_a_zone_page_by_page(name):
    geometry = GEOMETRIES[name]
    for zone in (0, geometry.zones - 1):
        start = zone * geometry.zone_size
        places = list(counted_places(geometry, zone))
        assert len(places) == geometry.zone_capacity
        assert [geometry.place(start + i) for i in range(len(places))] == places
        assert [geometry.lba(place) for place in places] == list(range(start, start + len(places)))


@pytest.mark.parametrize("name", GEOMETRIES)
def test_inverse(name, seed):
    geometry = GEOMETRIES[name]
    choose = random.Random(seed)
    for _ in range(1000):
        place = Place(
            zone=choose.randrange(geometry.zones),
            page=choose.randrange(geometry.pages),
            die=choose.randrange(geometry.dies),
            plane=choose.randrange(geometry.planes),
            channel=choose.randrange(geometry.channels),
        )
        assert geometry.place(geometry.lba(place)) == place


def test_fields_of_an_lba_are_bit_slices():
    # small: 2 bits of channel, 2 of plane, 1 of die, 6 of page, then the zone.
    assert SMALL.place(0b00011_101101_1_10_01) == Place(zone=3, page=0b101101, die=1, plane=2, channel=1)


def test_the_first_pages_fill_every_channel():
    assert [SMALL.place(lba).channel for lba in range(6)] == [0, 1, 2, 3, 0, 1]
    assert [SMALL.place(lba).plane for lba in range(0, 20, 4)] == [0, 1, 2, 3, 0]
    assert [SMALL.place(lba).die for lba in range(0, 64, 16)] == [0, 1, 0, 1]
    assert [SMALL.place(lba).page for lba in range(0, 97, 32)] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", GEOMETRIES)
def test_row_addresses_are_distinct_and_24_bits(name):
    geometry = GEOMETRIES[name]
    corners = itertools.product(
        *(
            {0, 1, count - 1} & set(range(count))
            for count in (geometry.blocks, geometry.planes, geometry.pages)
        )
    )
    addresses = [geometry.row_address(*corner) for corner in corners]
    assert len(set(addresses)) == len(addresses)
    assert max(addresses) < 1 << 24


def test_row_address_of_behemoth():
    geometry = PRESETS["behemoth"].geometry
    assert geometry.row_address(block=682, plane=5, page=767) == 682 << 13 | 5 << 10 | 767


@pytest.mark.parametrize(
    ("count", "bits"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (683, 10), (768, 10), (1024, 10), (1025, 11)]
)
def test_bits_for(count, bits):
    assert bits_for(count) == bits


def test_a_zone_is_addressed_up_to_a_power_of_two():
    geometry = PRESETS["behemoth"].geometry
    assert geometry.zone_capacity == 64 * 2 * 8 * 768
    assert geometry.zone_size == 64 * 2 * 8 * 1024
    assert geometry.place(geometry.zone_size).zone == 1
    assert geometry.place(geometry.zone_capacity - 1).page == 767
