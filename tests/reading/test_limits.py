"""Each limit of the readers, in time and memory; and that what lies within it is read."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import tarfile
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from flashtrain.reading import (
    InputError,
    arrays,
    begins_with,
    json_value,
    read_json,
    read_lines,
    read_text,
    read_toml,
    repeated,
    toml_value,
    unpacked,
)
from flashtrain.reading.arrays import read_arrays
from flashtrain.reading.errors import ContentError
from flashtrain.reading.limits import (
    MOST_ARRAYS,
    MOST_JSON_BYTES,
    MOST_JSON_DEPTH,
    MOST_LINE_BYTES,
    MOST_TOML_BYTES,
    MOST_TOML_DEPTH,
)

DEEP_KEYS = {
    "bare": "a." * 50_000 + "a = 1",
    "quoted": '"a".' * 20_000 + "b = 1",
    "literal": "'a' . " * 20_000 + "b = 1",
    "empty": '"".' * 20_000 + "b = 1",
    "behind a long string": f'x = {{a = """{"y" * 1000}"""", {"b." * 20_000}c = 1}}',
    "behind a comment": f'# """\n{"a." * 20_000}a = 1',
    "header": f"[{'a.' * 50_000}a]",
    "lists": "x = " + "[" * 50_000,
    "tables": "x = " + "{a=" * 20_000,
}


@pytest.mark.parametrize("key", DEEP_KEYS)
def test_deep_toml_is_refused_soon(key):
    began = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(ContentError, match="nested too deep; expected at most 16 tables and lists"):
            toml_value(DEEP_KEYS[key])
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 2


def test_toml_within_its_limits():
    keys = ".".join("a" for _ in range(MOST_TOML_DEPTH + 1))
    assert toml_value(f"{keys} = 1") and toml_value(f"x = {'[' * 16}{']' * 16}")
    text = 'x = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s" # ......................\n'
    text += 'y = [1.5, 2.5]\nz = """\n"[[["""'
    assert toml_value(text)["y"] == [1.5, 2.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "1" * 5000, "integer"),
        ("x = 0x" + "f" * 5000, "x: an integer of 20000 bits; expected one of 64 bits"),
        ("[a]\nb = [{c = 9223372036854775808}]", "a.b.c: an integer of 64 bits"),
        ("x = nan", "nan; expected a finite number"),
        ("x = 1e999", "1e999; expected a finite number"),
    ],
)
def test_numbers_of_toml(text, message):
    with pytest.raises(ContentError, match=message):
        toml_value(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 1_000_000, "nested too deep; expected at most 64"),
        ("[" * 65 + "]" * 65, "nested too deep"),
        ('{"a":' * 65 + "1" + "}" * 65, "nested too deep"),
        ("1" * 5000, "an integer of 5000 digits; expected one of 64 bits"),
        ("-9223372036854775809", "an integer of 19 digits"),
        ("1e999", "1e999; expected a finite number"),
        ("[NaN]", "NaN; expected a finite number"),
        ("-Infinity", "-Infinity; expected"),
        (r'{"\ud800": 1}', "half of a pair of surrogates"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' comes twice"),
        ("\ufeff{}", "Expecting value"),
        ("{", "Expecting property name"),
    ],
)
def test_json_that_is_refused(text, message):
    with pytest.raises(ContentError, match=message):
        json_value(text)


def test_json_within_its_limits():
    assert json_value("[" * MOST_JSON_DEPTH + "]" * MOST_JSON_DEPTH)
    texts = ["[{" * 100, '"\\' * 100, "\U0001f4a5"]
    assert json_value(json.dumps(texts)) == texts
    assert json_value("[-9223372036854775808, 9223372036854775807, 1.5]") == [-(1 << 63), (1 << 63) - 1, 1.5]


def test_names_that_come_twice_take_linear_time():
    names = [str(number) for number in range(200_000)]
    assert repeated(names) is None and repeated([*names, "7", "7"]) == "7"


@pytest.mark.parametrize(
    ("read", "most"), [(read_toml, MOST_TOML_BYTES), (read_json, MOST_JSON_BYTES), (read_arrays, 4 << 30)]
)
def test_a_large_file_is_not_read(read, most, tmp_path):
    """A sparse file of 1 TiB takes no time."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=rf"large: has 1,099,511,627,776 bytes; expected at most {most:,}"):
        read(path)


def test_lines(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"a\r\n\xc2\xb5\n" + b"x" * MOST_LINE_BYTES + b"x\n")
    lines = read_lines(path)
    assert [next(lines), next(lines)] == [(1, "a\r\n"), (2, "µ\n")]
    with pytest.raises(InputError, match="lines:3: a line of more than 65,536 bytes"):
        next(lines)
    path.write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="lines:2: not UTF-8 at byte 1 of the line"):
        list(read_lines(path))
    with pytest.raises(InputError, match="lines:2: not UTF-8 at byte 3; expected text"):
        read_text(path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "loop/x"])
def test_names_that_are_none(name, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="cannot be read: "):
        read_text(tmp_path / name)


def test_what_a_file_begins_with(tmp_path):
    (tmp_path / "a").write_text("flashtrain", encoding="utf-8")
    os.mkfifo(tmp_path / "fifo")
    assert begins_with(tmp_path / "a", b"train") and not begins_with(tmp_path / "a", b"x")
    assert not any(begins_with(path, b"") for path in (tmp_path / "fifo", tmp_path, Path("/dev/zero")))


def test_an_error_crosses_processes():
    error = pickle.loads(pickle.dumps(InputError("a.json", "is none", 3)))
    assert str(error) == "a.json:3: is none" and error.line == 3


def test_packed_lines(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    text = b"a line\n" * 100_000
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        path.write_bytes(pack(text))
        assert sum(1 for _ in read_lines(path)) == 100_000
        path.write_bytes(pack(text)[:-20])
        with pytest.raises(InputError, match="lines: is damaged: "):
            list(read_lines(path))
    path.write_bytes(lzma.compress(text) * 2)
    with pytest.raises(InputError, match="bytes behind its stream; expected one stream"):
        list(read_lines(path))
    path.write_bytes(lzma.compress(text, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]))
    with pytest.raises(InputError, match="Memory usage limit exceeded"):
        list(read_lines(path))
    monkeypatch.setattr(unpacked, "MOST_LINES_BYTES", 1 << 16)
    path.write_bytes(gzip.compress(text))
    with pytest.raises(InputError, match="lines: unpacks to more than 65,536 bytes"):
        list(read_lines(path))


def test_archives(tmp_path):
    path, content = tmp_path / "a.tar", tmp_path / "content"
    content.write_text("a line\n" * 3, encoding="utf-8")
    member = tarfile.TarInfo("x")
    member.pax_headers = {"GNU.sparse.size": "1" * 5000, "GNU.sparse.map": "x,1"}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    with pytest.raises(InputError, match="is a damaged archive"):
        list(read_lines(path))
    with tarfile.open(path, "w") as archive:
        archive.add(content, "x")
    path.write_bytes(path.read_bytes()[:520])
    with pytest.raises(InputError, match="is a damaged archive: "):
        list(read_lines(path))
    with tarfile.open(path, "w") as archive:
        archive.add(content, "x")
        archive.add(content, "y")
    with pytest.raises(InputError, match="holds 'x', 'y'; expected one file"):
        list(read_lines(path))


@pytest.mark.parametrize("place", ["first", "behind a folder"])
def test_a_long_header_of_an_archive(tmp_path, place):
    """Some KiB of a compressed archive would be 24 MiB in memory."""
    path, member, folder = tmp_path / "a.tar.gz", tarfile.TarInfo("x"), tarfile.TarInfo("folder")
    member.pax_headers, folder.type = {"comment": "x" * (24 << 20)}, tarfile.DIRTYPE
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, compresslevel=1) as archive:
        for one in (member,) if place == "first" else (folder, member):
            archive.addfile(one)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="a damaged archive: a header of more than 1,048,576 bytes"):
            list(read_lines(path))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def _npy(descr: str, shape: str, data: bytes = b"") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_npy("'<f4'", "(4611686018427387904, 4)"), "has a shape of 2 lengths; expected 32 at most"),
        (
            _npy("'<f4'", "(1000000000,)", bytes(16)),
            "has 16 bytes of data; expected 4,000,000,000",
        ),
        (_npy("'<f4'", "(-1,)"), "has a shape of 1 lengths"),
        (_npy("'<f4'", "(True,)", bytes(4)), "has a shape of 1 lengths"),
        (_npy("'<f4'", f"({'1,' * 70})", bytes(4)), "has a shape of 70 lengths"),
        (_npy("'<f4'", "(" + "9" * 5000 + ",)"), "has no header of a .npy file"),
        (_npy("'|O'", "(1,)", pickle.dumps([1])), "has Python objects, which would be unpickled"),
        (_npy("[('a', '<f4'), ('b', '<i4')]", "(1,)", bytes(8)), "expected numbers"),
        (_npy("'<f4'", "(" * 300 + ")" * 300), "has no header of a .npy file"),
        (_npy("'<f4'", "(4,)", bytes(17)), "has 17 bytes of data; expected 16, by the shape"),
    ],
)
@pytest.mark.parametrize("archived", [False, True], ids=["npy", "npz"])
def test_headers_of_arrays(content, message, archived, tmp_path):
    path = tmp_path / "a.npz"
    if archived:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", content)
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.npz: {'array x: ' if archived else ''}.*{message}"):
        read_arrays(path)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "MOST_UNPACKED_BYTES", 4 << 20)
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.npy", bytes(1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="would have 5,242,880 bytes unpacked; expected at most 4,1"):
            read_arrays(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_an_archive_of_too_many_arrays(tmp_path):
    path = tmp_path / "many.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(MOST_ARRAYS + 1):
            archive.writestr(str(number), b"")
    with pytest.raises(InputError, match="has 4,097 arrays, or long names; expected at most 4,096 arrays"):
        read_arrays(path)


def test_an_array_that_comes_twice(tmp_path):
    path = tmp_path / "twice.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("x.npy", "x"):
            archive.writestr(name, _npy("'<f4'", "(4,)", bytes(16)))
    with pytest.raises(InputError, match=r"twice\.npz: array x: is in the file twice"):
        read_arrays(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_methods_of_compression(method, tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("x.npy", _npy("'<f4'", "(4,)", bytes(16)))
    with pytest.raises(InputError, match="array x: is encrypted, or compressed by another method"):
        read_arrays(path)


def test_arrays_come_back(tmp_path):
    made = {
        "c": np.arange(24, dtype="<i4").reshape(2, 3, 4), "fortran": np.asfortranarray(np.eye(3, 4, 1)),
        "empty": np.zeros((0, 3), np.float32), "scalar": np.array(2.5), "text": np.array(["ab", "c"]),
        "big": np.arange(5, dtype=">f8"),
    }  # fmt: skip
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **made)
        found = read_arrays(tmp_path / "a.npz")
        assert found.keys() == made.keys()
        for name, array in made.items():
            assert found[name].dtype == array.dtype and np.array_equal(found[name], array)
    out = io.BytesIO()
    np.save(out, made["fortran"])
    (tmp_path / "one.npy").write_bytes(out.getvalue())
    assert np.array_equal(read_arrays(tmp_path / "one.npy")["one"], made["fortran"])
