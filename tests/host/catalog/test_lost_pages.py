"""One lost page costs the arrays that have bytes on it, and nothing else."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32

import numpy as np
import pytest

from flashtrain.host import CatalogDamaged
from flashtrain.host.catalog.parity import mended, parity_of
from flashtrain.host.functional.executor import Executor
from flashtrain.spec import Port
from flashtrain.spec.streams import CATALOG, STORE_NODE

NSID = STORE_NODE.named(CATALOG).nsid


@contextmanager
def lost(link, *blocks: int) -> Iterator[None]:
    """These blocks of the catalogue cannot be read."""
    original, capacity = Executor._fetch, link.config.geometry.zone_size

    def fetch(self, entry, content, index, offset):
        missing = original(self, entry, content, index, offset)
        if entry.nsid != NSID:
            return missing
        return missing + sum(0 <= block - index * capacity - offset < entry.blocks for block in blocks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Executor, "_fetch", fetch)
        yield


ARRAYS = {f"layer/{number}": np.arange(number * 37 + 3) * number for number in range(1, 9)}
ARRAYS |= {f"a rather long name of a small array {number}": np.full(3, number) for number in range(20)}


def filled(device) -> dict[str, set[int]]:
    """Store the arrays, in several changes; the blocks of each."""
    for number, (name, array) in enumerate(ARRAYS.items()):
        device.catalog[name] = array
        if number % 5 == 4:
            device.catalog["replaced"] = np.full(100, number)
    device.catalog.rename("replaced", "renamed")
    extents = {name: device.catalog.info(name).extents for name in ARRAYS}
    return {name: {b for e in found for b in range(e.lba, sum(e))} for name, found in extents.items()}


def test_every_page_in_turn(device, link, again):
    places = filled(device)
    used = [z.write_pointer - z.start if z.write_pointer else z.capacity
            for z in device.stream(CATALOG, Port.HOST).report()]  # fmt: skip
    link.power_cycle()
    size, index = link.config.geometry.zone_size, 0
    for block in (zone * size + n for zone, length in enumerate(used) for n in range(length)):
        with lost(link, block):
            catalog = again().catalog
            assert {*catalog} - {"more"} == {*ARRAYS, "renamed"}, block
            for name, array in ARRAYS.items():
                if block in places[name]:
                    with pytest.raises(CatalogDamaged, match=f"^array '{name}': a page of it is lost"):
                        _ = catalog[name]
                else:
                    assert np.array_equal(catalog[name], array)
            worn, index = catalog._log._worn, index + catalog._log._worn
            if worn:  # the next change has an index that is whole
                catalog["more"] = np.arange(3)
                assert not again().catalog._log._worn
                link.power_cycle()
    assert index


def test_two_pages_of_the_index(device, link, again):
    """They are more than the parity replaces: an error that says so, and no other names."""
    catalog = device.catalog
    catalog.update({f"{number:0200}": np.arange(2) for number in range(150)})
    (segment,) = catalog._log._segments
    blocks = [run.address // 512 + n for run in segment.runs(512) for n in range(-(-run.nbytes // 512))]
    assert len(blocks) > 2
    with (
        lost(link, blocks[0], blocks[2]),
        pytest.raises(CatalogDamaged, match=r"2 of the \d pages of a segment"),
    ):
        again().catalog.names()
    with lost(link, blocks[1]):
        assert len(again().catalog) == 150
    assert len(again().catalog) == 150


def test_an_index_of_version_1(device, link, again):
    """It has no parity, and can be read and changed."""
    filled(device)
    stream = device.stream(CATALOG, Port.HOST)
    following, segments = json.loads(stream.note[4:])
    stream.annotate(b"FTN1" + json.dumps([following, [fields[:4] for fields in segments]]).encode())
    catalog = again().catalog
    assert all(np.array_equal(catalog[name], array) for name, array in ARRAYS.items())
    (place, *_) = catalog._log._segments[0].runs(512)
    with (
        lost(link, place.address // 512),
        pytest.raises(CatalogDamaged, match="no parity replaces it"),
    ):
        again().catalog.names()
    catalog = again().catalog
    catalog["new"] = np.arange(7)
    catalog = again().catalog
    assert np.array_equal(catalog["new"], np.arange(7)) and len(catalog) == len(ARRAYS) + 2


def test_parity(seed):
    random = np.random.default_rng(seed)
    for _ in range(60):
        raw = random.integers(0, 256, int(random.integers(1, 300)), np.uint8)
        page = int(random.choice([8, 64, 512]))
        parity, crc = parity_of(raw, page), crc32(raw.data)
        pages = [raw[start : start + page] for start in range(0, len(raw), page)]
        number = int(random.integers(len(pages)))
        wrong = pages[number] ^ np.uint8(3)
        for damaged in (None, wrong):
            given = [*pages[:number], damaged, *pages[number + 1 :]]
            found = mended(given, len(raw), page, parity, crc)
            assert found is not None and np.array_equal(found, raw)
        if len(pages) > 1:
            assert mended([None, None, *pages[2:]], len(raw), page, parity, crc) is None


def test_a_view_names_its_array(device, link):
    device.catalog["x"] = np.arange(300)
    (extent,) = device.catalog.info("x").extents
    with lost(link, extent.lba + 1):
        view = device.catalog.view("x")
        assert view[0] == 0
        with pytest.raises(CatalogDamaged, match="array 'x': a page of it is lost"):
            view[64:70]
