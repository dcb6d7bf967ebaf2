"""The pages that changes and openings cost, packing, and what happens when the zones are full."""

import numpy as np
import pytest

from flashtrain.host import CatalogFull, open_device
from flashtrain.host.catalog.catalog_log import CatalogLog
from flashtrain.host.catalog.live_blocks import LiveBlocks
from flashtrain.host.catalog.page_layout import PageLayout, offsets
from flashtrain.host.catalog.run import Run
from flashtrain.spec import Port
from flashtrain.spec.streams import CATALOG

PAGE = 512


def cost(device, change, counter="PAGES_APPENDED"):
    before = device.counters()[counter]
    change()
    return device.counters()[counter] - before


@pytest.fixture(scope="module")
def small():
    with open_device("small", node="store") as opened:
        yield opened


def test_a_change_costs_an_append_and_a_record(small):
    """A page of `small` has 4096 bytes, and a record of the journal is one page."""
    catalog, name = small.catalog, iter(range(1000))
    record = 1

    def put(*sizes):
        arrays = {f"{next(name)}": np.ones(size, np.uint8) for size in sizes}
        return lambda: catalog.update(arrays)

    for change, pages in (
        (put(100), 2),  # one of the array and the index, one of the parity of the index
        (put(*[100] * 20), 2),
        (put(), 0 - record),
        (put(0), 2),
        (put(4096), 3),
        (put(4097), 3),
        (put(3 * 4096 + 1, 1000, 2000), 5),  # the last page of the longest has room for the others
        (put(3000, 3000), 2),  # index and parity have room on a page each
        (lambda: catalog.rename("0", "zero"), 2),
        (lambda: catalog.delete(["1", "2"]), 2),
    ):
        assert cost(small, change) == pages + record
        assert cost(small, lambda: None, "APPENDS") == 0
    assert cost(small, put(5, 6, 7), "APPENDS") == 2
    assert cost(small, lambda: catalog.view("3"), "PAGES_READ") == 0
    assert cost(small, lambda: catalog.names("1"), "PAGES_READ") == 0
    assert cost(small, lambda: catalog["3"], "PAGES_READ") == 1


def test_an_opening_reads_the_index(small):
    catalog = small.catalog
    for number in range(40):
        catalog.update({f"many/{number}/{part}": np.ones(20) for part in range(25)})
    log = CatalogLog(small.stream(CATALOG, Port.HOST))
    pages = cost(small, log.names, "PAGES_READ")
    assert sorted(log.names()) == list(catalog) and len(log.names()) >= 1000
    print(pages, "pages of index")
    assert pages <= 8
    assert cost(small, log.names, "PAGES_READ") == 0
    catalog.clear()
    assert cost(small, lambda: CatalogLog(small.stream(CATALOG, Port.HOST)).names(), "PAGES_READ") == 0


def test_layout(seed):
    random = np.random.default_rng(seed)
    for _ in range(50):
        sizes = [int(size) for size in random.integers(1, random.choice([50, 600, 3000]), 30)]
        layout = PageLayout(PAGE)
        places = offsets(sizes, layout)
        used = np.zeros(layout.blocks * PAGE, bool)
        for place, size in zip(places, sizes, strict=True):
            assert place % 8 == 0 and not used[place : place + size].any()
            used[place : place + size] = True
            assert place % PAGE == 0 or place % PAGE + size <= PAGE
        assert layout.blocks <= 1.7 * sum(sizes) / PAGE + 1


def test_live_blocks(seed):
    """Against a count of every byte."""
    random = np.random.default_rng(seed)
    live, runs, users = LiveBlocks(16, 4), [], np.zeros(3 * 4 * 16, int)
    for _ in range(300):
        if runs and random.random() < 0.45:
            run = runs.pop(int(random.integers(len(runs))))
            live.remove([run])
            users[run.address : run.end] -= 1
        else:
            start, end = sorted(random.integers(0, 64, 2))
            run = Run(64 * int(random.integers(3)) + int(start), int(end - start))
            if run.nbytes == 0 or users[run.address : run.end].any():
                continue
            runs.append(run)
            live.add([run])
            users[run.address : run.end] += 1
        for zone in range(3):
            blocks = users[64 * zone : 64 * zone + 64].reshape(4, 16)
            assert (live.blocks(zone), live.nbytes(zone)) == (blocks.any(axis=1).sum(), blocks.sum())


def test_full(catalog, again):
    """Nothing is lost, and deletions make room."""
    count = 0
    with pytest.raises(CatalogFull, match=r"of stream 'catalog' has room for \d+ blocks; \d+ are needed"):
        for count in range(100):
            catalog[str(count)] = np.full(900, count, np.uint32)  # 8 pages
    for found in (catalog, again().catalog):
        assert len(found) == count >= 7
        if found is not catalog:
            catalog = found
            assert all((found[str(number)] == number).all() for number in range(count))
    with pytest.raises(CatalogFull):
        catalog.update({"a": np.ones(10), "b": np.ones(1000)})
    with pytest.raises(CatalogFull):
        catalog["x"] = np.zeros(1 << 20, np.uint8)
    assert len(catalog) == count
    catalog.rename("0", "zero")
    for number in range(1, count):
        del catalog[str(number)]
    assert list(catalog) == ["zero"] and (catalog["zero"] == 0).all()
    for number in range(1, count):
        catalog[str(number)] = np.full(900, number, np.uint32)


def test_space_of_replaced_arrays_comes_free(catalog, again):
    for count in range(120):
        catalog["large"] = np.full(1500, count)  # of 24 pages, a zone
        catalog[f"small {count % 5}"] = np.full(3, count)
    for found in (catalog, again().catalog):
        assert len(found) == 6
    assert (found["large"] == 119).all() and (found["small 3"] == 118).all()


def test_space_within_pages_comes_free(catalog):
    """Of the arrays that share a page one stays: they come together on fewer pages."""
    stay = {}
    for number in range(70):
        arrays = {f"{number}/{part}": np.full(50, number, np.uint8) for part in range(8)}
        catalog.update(arrays)
        catalog.delete(sorted(arrays)[1:])
        stay[f"{number}/0"] = arrays[f"{number}/0"]
    assert list(catalog) == sorted(stay)
    assert all(np.array_equal(catalog[name], array) for name, array in stay.items())
