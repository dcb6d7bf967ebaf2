"""The catalogue as a mapping: arrays of all kinds, names, and errors that change nothing."""

import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from flashtrain.host import (
    AccessDenied,
    ArrayError,
    Catalog,
    CatalogError,
    CatalogMissing,
    CatalogUnsuitable,
    Extent,
    NameExists,
    NameInvalid,
    NameMissing,
    NoteTooLong,
    open_device,
)
from flashtrain.spec import Port
from flashtrain.spec.streams import CATALOG, STORE_NODE, UPDATE_NODE, Codec

STRUCTURE = np.dtype([("step", "<u4"), ("pair", ">f8", (2,)), ("in", [("flag", "?")])], align=True)
ARRAYS = {
    "floats": np.arange(12, dtype=np.float32).reshape(3, 4),
    "half": np.array([1, np.nan, -np.inf], np.float16),
    "big-endian": np.arange(5, dtype=">i4"),
    "bool": np.array([True, False, True]),
    "complex": np.array([1 + 2j]),
    "time": np.array(["2024-01-01", "NaT"], "M8[D]"),
    "text": np.array(["ä", "longer"]),
    "bytes": np.array([b"a", b"bc"]),
    "structure": np.ones(3, STRUCTURE),
    "no dimension": np.array(2.5),
    "scalar": np.int16(-3),
    "empty": np.empty((0, 7), np.int8),
    "empty structure": np.empty((2, 0), STRUCTURE),
    "transposed": np.arange(6).reshape(2, 3).T,
    "every second": np.arange(10)[::2],
    "pages": np.arange(4 * 512, dtype=np.uint16),
    "zones": np.arange(40 * 128, dtype=np.float32),  # of 24 pages each
}


def same(found, expected):
    expected = np.asarray(expected)
    return (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.parametrize("one", [False, True], ids=["each by itself", "in one append"])
def test_arrays_of_all_kinds(catalog, again, one):
    if one:
        catalog.update(ARRAYS)
    else:
        for name, array in ARRAYS.items():
            catalog[name] = array
    for reopened in (False, True):
        found = again().catalog if reopened else catalog
        assert list(found) == sorted(ARRAYS) and len(found) == len(ARRAYS)
        for name, array in ARRAYS.items():
            assert same(found[name], array), name
            info = found.info(name)
            assert (info.name, info.shape, info.dtype) == (name, np.shape(array), np.asarray(array).dtype)
    found["floats"][0] = 9  # a copy of its own
    assert same(found["floats"], ARRAYS["floats"])


def test_a_mapping(catalog):
    catalog.update({"run1/w": np.ones(3), "run1/b": np.zeros(1)}, step=np.array(1))
    catalog.update([("run2/w", np.ones(2))])
    assert catalog.names("run1/") == ["run1/b", "run1/w"]
    assert "step" in catalog and "run1" not in catalog and 3 not in catalog
    assert catalog.get("run1") is None and catalog.setdefault("step", np.array(5)) == 1
    assert catalog.pop("step") == 1 and "step" not in catalog
    catalog.delete(catalog.names("run1/"))
    assert [(name, array.shape) for name, array in catalog.items()] == [("run2/w", (2,))]
    numbers = catalog.info("run2/w").number
    catalog["run2/w"] = np.ones(4)
    assert catalog.info("run2/w").number > numbers and catalog["run2/w"].shape == (4,)
    catalog.clear()
    assert not len(catalog) and catalog == catalog and {catalog}
    assert repr(catalog) == "<catalogue of 0 arrays in stream 'catalog'>"


def test_rename(catalog, again):
    catalog["a"], catalog["b"] = np.arange(3), np.arange(4)
    with pytest.raises(NameExists, match="array 'b' exists in the catalogue of stream 'catalog'"):
        catalog.rename("a", "b")
    with pytest.raises(NameMissing, match=r"^no array 'c' in the catalogue of stream 'catalog'$"):
        catalog.rename("c", "d")
    place = catalog.info("a").extents
    catalog.rename("a", "ü/ä")
    assert catalog.info("ü/ä").extents == place == (Extent(0, 1),)
    found = again().catalog
    assert list(found) == ["b", "ü/ä"] and same(found["ü/ä"], np.arange(3))


def test_a_rename_that_moves_its_own_array(catalog, seed):
    """Every zone has arrays that stay and others that do not, so moves make the room."""
    random, moves = Random(seed), 0
    arrays = {str(number): np.arange(number, number + 200) for number in range(12)}
    catalog.update(arrays)
    for _ in range(60):
        rewritten, name = random.choice(list(arrays)), random.choice(list(arrays))
        catalog[rewritten] = arrays[rewritten]
        for old, new in ((name, "new"), ("new", name)):
            place = catalog.info(old).extents
            catalog.rename(old, new)
            moves += catalog.info(new).extents != place
            assert same(catalog[new], arrays[name])
    assert moves


def test_add(catalog):
    catalog.add("a", np.arange(3))
    with pytest.raises(NameExists, match="array 'a' exists"):
        catalog.add("a", np.arange(4))
    assert same(catalog["a"], np.arange(3))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the name of an array is empty"),
        (b"a", "the name of an array is a bytes; expected a str"),
        (3, "is a int"),
        ("a\0b", r"name 'a\x00b' has a control character"),
        ("a\n", "control character"),
        ("\ud800", "is not text that UTF-8 can encode: surrogates not allowed"),
        ("ä" * 128, "has 256 bytes; expected at most 255"),
    ],
)
def test_names(catalog, name, reason):
    catalog["a"] = np.arange(3)
    for change in (
        lambda: catalog.__setitem__(name, np.arange(3)),
        lambda: catalog.update({"b": np.arange(3), name: np.arange(3)}),
        lambda: catalog.rename("a", name),
    ):
        with pytest.raises(NameInvalid, match=re.escape(reason)):
            change()
    assert list(catalog) == ["a"]
    catalog["ä" * 127 + "a"] = np.arange(3)


def test_arrays_that_cannot_be_stored(catalog):
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 2]})
    for array, reason in (
        ([1, 2], "array 'x' is a list; expected a NumPy array"),
        (np.array([None]), "dtype object has no fixed size"),
        (np.empty(2, np.dtype([])), "has no fixed size"),
        (np.empty(2, overlapping), "no description of NumPy's own; store a view of the array as unsigned"),
    ):
        with pytest.raises(ArrayError, match=reason):
            catalog.update({"good": np.arange(3), "x": array})
    assert not len(catalog)


def test_missing(catalog):
    for look in (
        lambda: catalog["a"],
        lambda: catalog.view("a"),
        lambda: catalog.info("a"),
        lambda: catalog.__delitem__("a"),
        lambda: catalog.delete(["b", "a"]),
    ):
        catalog["b"] = np.arange(3)
        with pytest.raises(KeyError, match=r"^no array 'a' in the catalogue of stream 'catalog'$") as raised:
            look()
        assert isinstance(raised.value, CatalogError) and "b" in catalog


def test_a_node_without_a_catalogue():
    with (
        open_device("tiny") as device,
        pytest.raises(CatalogMissing, match="open the device with node='store'"),
    ):
        _ = device.catalog


def test_in_another_stream(again):
    with open_device("tiny", node=UPDATE_NODE) as device:
        catalog = Catalog(device.stream("trained"))
        catalog["a"] = np.arange(3)
        assert same(Catalog(device.stream("trained"))["a"], np.arange(3))
        reader = Catalog(device.stream("trained", Port.HOST))
        assert same(reader["a"], np.arange(3))
        with pytest.raises(AccessDenied):
            reader["b"] = np.arange(3)
        with pytest.raises(AccessDenied):
            del reader["a"]
        assert list(reader) == list(catalog) == ["a"]


def test_streams_that_do_not_suit():
    coded = STORE_NODE.with_codecs(catalog=Codec.WINDOW32)
    bare = replace(STORE_NODE, streams=tuple(s for s in STORE_NODE.streams if s is not STORE_NODE.journal))
    for preset, node, name, port, reason in (
        ("tiny", STORE_NODE, "activations", Port.CORE, "it is volatile"),
        ("tiny", STORE_NODE, "inputs", Port.HOST, "port HOST may not read it"),
        ("tiny", bare, CATALOG, Port.HOST, "its node records no notes of it in a journal"),
        ("tiny_codec", coded, CATALOG, Port.HOST, "it has a codec"),
    ):
        with open_device(preset, node=node) as device, pytest.raises(CatalogUnsuitable, match=reason):
            Catalog(device.stream(name, port))


def test_a_stream_with_another_user(device):
    stream = device.stream(CATALOG, Port.HOST)
    stream.annotate(b"FTC1[]")
    with pytest.raises(
        CatalogUnsuitable, match=r"begins with b'FTC1'; expected b'FTN2': it has another user"
    ):
        len(device.catalog)


def test_notes_of_others_leave_no_room(device, catalog):
    catalog["a"] = np.arange(3)
    trained = device.stream("trained")
    trained.annotate(bytes(device._journal.note_bytes - len(catalog._stream.note)))
    with pytest.raises(NoteTooLong):
        catalog.update({f"{'b' * 200}{n}": np.arange(1500) for n in range(2)})  # extents in other zones, too
    assert same(catalog["a"], np.arange(3))
    trained.annotate(b"")
    catalog["b"] = np.arange(3)
