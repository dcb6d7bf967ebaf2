"""Views: what they select, the pages that they read, and when they are stale."""

from random import Random

import numpy as np
import pytest

from flashtrain.host import ArrayError, StaleHandle, StaleView, open_device
from flashtrain.host.catalog.selection import Selection

PAGE = 512


def pages_read(device, read):
    """The pages that a call reads, and its result."""
    before = device.counters()["PAGES_READ"]
    result = read()
    return device.counters()["PAGES_READ"] - before, result


@pytest.mark.parametrize(
    ("key", "pages"),
    [
        (slice(0, 1), 1),
        (slice(3, 5), 2),
        (slice(3, 3), 0),
        (5, 1),
        ((slice(None), 7), 20),
        ((slice(2, 12, 5), slice(0, 8)), 2),
        ((slice(-1, None, -10), 0), 2),
        ((..., None), 20),
        ((7, slice(100, 128)), 1),
        ((3, -1), 1),
    ],
)
def test_only_the_pages_of_a_selection_are_read(device, catalog, key, pages):
    array = np.arange(20 * 128, dtype=np.float32).reshape(20, 128)  # a row is a page
    catalog.update({"small": np.arange(5), "x": array})
    count, found = pages_read(device, lambda: catalog.view("x")[key])
    assert count == pages
    assert np.array_equal(found, array[key]) and found.dtype == array.dtype
    assert np.shape(found) == array[key].shape


def test_rows_of_an_array_over_several_zones(device, catalog, again):
    array = np.arange(40 * 128, dtype=np.float32).reshape(-1, 4)
    catalog["before"], catalog["x"] = np.arange(500), array
    assert len(catalog.info("x").extents) > 1
    device = again()
    view = device.catalog.view("x")
    assert pages_read(device, lambda: view[0])[0] == 1
    count, part = pages_read(device, lambda: view[32 * 7 + 1 : 32 * 27])
    assert count == 20 and np.array_equal(part, array[32 * 7 + 1 : 32 * 27])


@pytest.mark.parametrize("dtype", ["u1", "<f4", ">c16", [("a", "u1"), ("b", "<f8")]])
def test_random_selections(catalog, seed, dtype):
    random = Random(seed)
    kind = np.dtype(dtype)

    def part(count):
        ends = [None, *range(-count - 1, count + 2)]
        step = random.choice([None, 1, 2, 3, -1, -2, -5])
        choices = [slice(random.choice(ends), random.choice(ends), step)]
        return random.choice(choices * 3 + [random.randrange(-count, count)] * bool(count))

    for number in range(40):
        shape = tuple(random.choice([1, 2, 3, 7, 30]) for _ in range(random.randint(1, 4)))
        if (count := np.prod(shape)) * kind.itemsize > 20 * PAGE:
            continue
        array = np.frombuffer(random.randbytes(int(count) * kind.itemsize), kind).reshape(shape)
        catalog[str(number % 2)] = array
        for _ in range(3):
            key = [part(count) for count in shape][: random.randint(1, len(shape))]
            at = random.randint(0, len(key))
            key[at:at] = random.choice([[], [None]])
            key += random.choice([[], [Ellipsis]])
            found = catalog.view(str(number % 2))[tuple(key)]
            expected = array[tuple(key)]
            assert type(found) is type(expected)
            assert found.tobytes() == expected.tobytes() and found.shape == expected.shape, (shape, key)


def test_as_an_array(catalog):
    catalog["x"] = array = np.arange(10).reshape(5, 2)
    view = catalog.view("x")
    assert (view.name, view.shape, view.dtype, view.nbytes, len(view)) == ("x", (5, 2), array.dtype, 80, 5)
    assert np.array_equal(np.asarray(view, np.float32), array) and np.array_equal(list(view), array)
    assert repr(view) == "<view of 'x', int64[5, 2]>"
    catalog["no dimension"] = np.array(3)
    assert catalog.view("no dimension")[()] == 3
    with pytest.raises(TypeError, match="without dimensions"):
        len(catalog.view("no dimension"))
    with pytest.raises(ValueError, match="an array on the flash"):
        np.asarray(view, copy=False)


def test_keys_of_other_indexing(catalog):
    catalog["x"] = np.arange(10)
    view = catalog.view("x")
    for key in ([1, 2], np.array([1]), True, "field", 1.0):
        with pytest.raises(ArrayError, match=r"an index of type \w+; expected an int, a slice"):
            view[key]
    for key in (10, -11, (0, 0)):
        with pytest.raises(IndexError):
            view[key]


def test_a_selection_knows_no_more_than_it_needs():
    selection = Selection.of((1000, 1000), np.dtype("f4"), (slice(10, 20), slice(0, 4)))
    assert selection.ranges(512) == [(4000 * row, 4000 * row + 16) for row in range(10, 20)]
    assert Selection.of((1 << 40,), np.dtype("f8"), slice(5, 7)).ranges(512) == [(40, 56)]


def test_a_view_follows_its_array(catalog, seed):
    catalog["x"] = np.arange(300)
    view, place = catalog.view("x"), catalog.info("x").extents
    catalog.rename("x", "y")
    catalog["x"] = np.zeros(300)
    assert view.name == "y" and view[299] == 299
    random = Random(seed)
    for _ in range(300):
        if catalog.info("y").extents != place:
            break
        catalog[str(random.randrange(11))] = np.arange(200)
    assert catalog.info("y").extents != place and np.array_equal(view[...], np.arange(300))


def test_stale_views(device, catalog, again):
    catalog.update({"replaced": np.arange(300), "deleted": np.arange(300), "kept": np.arange(300)})
    views = {name: catalog.view(name) for name in catalog}
    catalog["replaced"] = np.zeros(300)
    del catalog["deleted"]
    for name in ("replaced", "deleted"):
        for use in (lambda: views[name][0], lambda: np.asarray(views[name]), lambda: views[name].name):  # noqa: B023
            with pytest.raises(StaleView, match=f"the array that '{name}' named was replaced or deleted"):
                use()
    assert issubclass(StaleView, StaleHandle) and views["kept"][5] == 5
    device.format()
    catalog["kept"] = np.zeros(300)  # the first array of a new catalogue
    with pytest.raises(StaleView):
        views["kept"][5]


def test_a_view_of_a_zone_that_somebody_reset(device, catalog):
    """The stream belongs to the catalogue; a reset by others is an error and no wrong data."""
    catalog["x"] = np.arange(300)
    view = catalog.view("x")
    device.stream("catalog", 0).reset_zone(0)
    for read in (lambda: view[0], lambda: catalog["x"]):
        with pytest.raises(StaleHandle):
            read()


def test_a_view_after_a_recovery_of_the_same_device(device, catalog, link):
    catalog["x"] = np.arange(300)
    view = catalog.view("x")
    link.power_cycle()
    device.recover()
    assert view[299] == 299


def test_a_device_that_is_closed():
    with open_device("tiny", node="store") as device:
        device.catalog["x"] = np.arange(3)
