"""Files that are written and read: when an object gets its name, and what is read of it."""

import fsspec
import numpy as np
import pytest

from flashtrain.objects.filesystem import FlashFileSystem
from tests.objects.helpers import url

PATH = "objects/run/w"


def test_an_object_appears_when_it_is_closed(fs):
    file = fs.open(PATH, "wb")
    file.write(b"new")
    assert not fs.exists(PATH) and fs.find("") == []
    file.close()
    assert fs.cat(PATH) == b"new" and fs.size(PATH) == 3
    with pytest.raises(ValueError, match="closed file"):
        file.write(b"more")


@pytest.mark.parametrize("path", [PATH, PATH + ".gz"])
def test_an_error_leaves_what_was_there(fs, target, path):
    """Also through `fsspec.open`, whose files do not learn of the error, and through a compression."""
    fs.pipe(path, b"old")
    for opened in (fs.open(path, "wb"), fsspec.open(url(target, path), "wb", compression="infer")):
        with pytest.raises(ZeroDivisionError), opened as file:
            file.write(bytes(10_000_000))
            raise ZeroDivisionError
        assert fs.cat(path) == b"old"
    with fs.open(path, "wb") as file:
        file.write(b"half")
        file.discard()
    assert fs.cat(path) == b"old"


def test_a_file_written_while_an_error_is_handled(fs):
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        with fs.open(PATH, "wb") as file:
            file.write(b"a report of the error")
    assert fs.cat(PATH) == b"a report of the error"


def test_a_file_that_nobody_closes(fs):
    with pytest.warns(ResourceWarning, match="never closed"):
        fs.open(PATH, "wb").write(b"x")
    assert not fs.exists(PATH)


def test_any_part_is_read(fs, seed):
    """Against the same bytes in memory: ranges, seeks, and ranges of several objects."""
    rng = np.random.default_rng(seed)
    data = rng.bytes(10_000_000)  # more than a zone
    with fs.open(PATH, "wb") as file:
        for start in range(0, len(data), 700_001):
            assert file.tell() == start
            file.write(memoryview(data)[start : start + 700_001])
    assert len({extent.lba // 2048 for extent in fs.store.names.state.entries[PATH].extents}) > 1
    assert fs.cat_file(PATH) == data
    for start, end in [(None, 3), (-5, None), (5, 5), (9, 3), (-20, -3), (4095, 4097), (9_999_999, 2**60)]:
        assert fs.cat_file(PATH, start, end) == data[start:end]
    starts = [int(start) for start in rng.integers(0, len(data), 20)]
    ends = [start + int(rng.integers(0, 100_000)) for start in starts]
    assert fs.cat_ranges([PATH] * 20, starts, ends) == [data[s:e] for s, e in zip(starts, ends, strict=True)]
    with fs.open(PATH, block_size=1 << 16) as file:
        for start, end in zip(starts, ends, strict=True):
            file.seek(start)
            assert file.read(end - start) == data[start:end]
        file.seek(-7, 2)
        assert file.read() == data[-7:]


def test_text_and_empty_objects(fs):
    fs.write_text(PATH, "zwölf\nBoxkämpfer\n")
    assert fs.read_text(PATH) == "zwölf\nBoxkämpfer\n"
    fs.touch(PATH)
    assert fs.size(PATH) == 0 and fs.cat(PATH) == b""
    modified = fs.modified(PATH)
    fs.touch(PATH, truncate=False)
    assert fs.modified(PATH) > modified and fs.created(PATH) < fs.modified(PATH)


def test_a_transaction_is_all_or_nothing(fs):
    with fs.transaction:
        for name in ("a", "b"):
            with fs.open(f"objects/{name}", "wb") as file:
                file.write(name.encode())
        with fs.open("objects/c", "wb") as file:
            file.discard()
        assert fs.find("objects") == []
    assert fs.cat(["objects/a", "objects/b"]) == {"objects/a": b"a", "objects/b": b"b"}
    assert fs.find("objects") == ["objects/a", "objects/b"]
    numbers = {fs.info(path)["modified"] for path in fs.find("objects")}
    assert len(numbers) == 1
    with pytest.raises(ZeroDivisionError), fs.transaction:
        fs.pipe("objects/a", b"other")
        fs.pipe("objects/d", b"other")
        raise ZeroDivisionError
    assert fs.find("objects") == ["objects/a", "objects/b"] and fs.cat("objects/a") == b"a"
    with pytest.raises(FileExistsError), fs.transaction:
        fs.pipe("objects/d", b"other")
        with fs.open("objects/e", "xb") as file:
            file.write(b"x")
        FlashFileSystem(*fs.address, skip_instance_cache=True).pipe("objects/e", b"mine")
    assert fs.find("objects") == ["objects/a", "objects/b", "objects/e"]
    fs.pipe("objects/d", b"after it")
    assert fs.cat("objects/d") == b"after it"


def test_names_are_moved_and_copied_without_data(fs, target):
    fs.pipe({f"objects/run/{name}": name.encode() * 5000 for name in "abc"})
    writes = target.target.subsystem.traffic.bytes_written
    fs.mv("objects/run", "objects/best", recursive=True)
    fs.cp("objects/best/a", "objects/a")
    assert target.target.subsystem.traffic.bytes_written - writes < 5 * 4096  # two records, twice each
    assert fs.find("objects") == ["objects/a", *(f"objects/best/{name}" for name in "abc")]
    fs.rm("objects/best", recursive=True)
    assert fs.cat("objects/a") == b"a" * 5000
    assert not fs.exists("objects/best")


def test_folders(fs):
    fs.mkdir("objects/made")
    assert fs.isdir("objects/made") and fs.ls("objects/made") == []
    fs.pipe("objects/implied/x", b"")
    assert [entry["type"] for entry in fs.ls("objects")] == ["directory", "directory"]
    fs.rm("objects/implied/x")
    assert fs.ls("objects", detail=False) == ["objects/made"]
    fs.rmdir("objects/made")
    assert fs.ls("objects") == []
    assert sorted(name for _, folders, _ in fs.walk("") for name in folders) == ["objects"]
