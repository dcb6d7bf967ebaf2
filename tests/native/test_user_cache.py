"""The user's cache: keeping, damage, limit, full disks, folders that cannot be used."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from flashtrain.native.library import native_library
from flashtrain.native.user_cache import (
    DEFAULT_LIMIT,
    CacheError,
    UserCache,
    about,
    default_folder,
    select_cache,
    user_cache,
    using_cache,
)
from flashtrain.spec.errors import ToolError

NOBODY = 65_534

SOURCE = 'extern "C" int answer() { return 42; }\n'


class Builds:
    """Makes entries of one file, and counts them."""

    def __init__(self, content: str = "content") -> None:
        self.content = content
        self.count = 0

    def __call__(self, folder: Path) -> None:
        self.count += 1
        (folder / "file.so").write_text(self.content, encoding="utf-8")


def make(cache: UserCache, name: str, build: Builds, work: int = 0) -> Path:
    return cache.build("kind", name, "key", f"entry {name}", build, work)


def test_an_entry_is_built_once(tmp_path):
    build = Builds()
    folders = {make(UserCache(tmp_path), "a", build) for _ in range(3)}
    assert build.count == 1
    assert [(folder / "file.so").read_text(encoding="utf-8") for folder in folders] == ["content"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "file.so").unlink(), "file.so is missing"),
        (
            lambda folder: (folder / "file.so").write_text("cont", encoding="utf-8"),
            "file.so has 4 bytes instead of 7",
        ),
        (
            lambda folder: (folder / "file.so").write_text("Content", encoding="utf-8"),
            "file.so has another checksum",
        ),
        (
            lambda folder: (folder / "entry.json").write_text("{", encoding="utf-8"),
            "entry.json cannot be read",
        ),
        (
            lambda folder: (folder / "entry.json").write_text("[]", encoding="utf-8"),
            "entry.json cannot be read",
        ),
    ],
)
def test_a_damaged_entry_is_built_again(tmp_path, capfd, damage, message):
    build = Builds()
    folder = make(UserCache(tmp_path), "a", build)
    damage(folder)
    assert make(UserCache(tmp_path), "a", build) == folder
    assert build.count == 2 and (folder / "file.so").read_text(encoding="utf-8") == "content"
    assert capfd.readouterr().err == (
        f"flashtrain: kind/a-key in the cache is damaged: {message}; it is built again\n"
    )
    make(UserCache(tmp_path), "a", build)
    assert build.count == 2


def test_a_folder_that_somebody_deletes(tmp_path):
    cache, build = UserCache(tmp_path / "cache"), Builds()
    folder = make(cache, "a", build)
    cache.folder.rename(tmp_path / "elsewhere")
    assert make(cache, "a", build) == folder and build.count == 2
    assert make(cache, "a", build) == folder and build.count == 2


def test_a_failed_build_leaves_no_entry(tmp_path):
    def fail(folder: Path) -> None:
        (folder / "build.log").write_text("a log", encoding="utf-8")
        raise ToolError("does not compile")

    cache, build = UserCache(tmp_path), Builds()
    with pytest.raises(ToolError, match="does not compile"):
        cache.build("kind", "a", "key", "entry a", fail)
    assert (tmp_path / "kind" / "a-key" / "build.log").exists(), "for the user to read"
    assert not cache.entries()
    assert not (make(cache, "a", build) / "build.log").exists()


def test_the_limit_removes_what_was_not_used_for_longest(tmp_path):
    cache = UserCache(tmp_path)
    for number, name in enumerate("abcd"):
        folder = make(cache, name, Builds("x" * 100_000))
        os.utime(folder / "entry.json", (number, number))
    size = cache.entries()[0].record.bytes
    assert size >= 100_000
    cache.limit = 2 * size
    assert cache.trim() == [], "this process uses them all"
    for name in "abcd":
        cache._locks.release(f"kind/{name}-key")  # as the end of a process does
    next_process = UserCache(tmp_path)
    make(next_process, "a", Builds())
    make(next_process, "e", Builds("x" * 100_000))
    next_process.settle()
    left = [entry.path for entry in next_process.entries()]
    assert sorted(left) == ["kind/a-key", "kind/e-key"], "both are used"
    os.utime(tmp_path / "kind" / "a-key" / "entry.json", (0, 0))
    next_process._locks.release("kind/a-key")
    next_process.limit = size
    assert [entry.path for entry in next_process.trim()] == ["kind/a-key"]


def test_what_others_build_or_have_left(tmp_path):
    cache = UserCache(tmp_path)
    make(cache, "a", Builds())
    left = tmp_path / "kind" / "left-key"
    left.mkdir()
    assert cache.trim() == [] and left.exists(), "its log is kept for a day"
    os.utime(left, (0, 0))
    with cache._locks.alone("kind/left-key build"):
        cache.trim()
        assert left.exists(), "somebody builds it"
    cache.trim()
    assert not left.exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        ToolError("a.cpp does not compile:\nfatal error: error writing to x.o: No space left on device"),
    ],
)
def test_a_full_disk_is_one_line_and_frees_what_it_has(tmp_path, error):
    def fill(folder: Path) -> None:
        (folder / "large").write_text("x", encoding="utf-8")
        raise error

    with pytest.raises(
        CacheError, match=r"^no space is left for entry a in the cache .*--clean.*$"
    ) as raised:
        UserCache(tmp_path).build("kind", "a", "key", "entry a", fill)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "kind" / "a-key").exists()


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(CacheError, match=r"file/cache cannot be used: .*--cache-dir names another folder$"):
        make(UserCache(tmp_path / "file" / "cache"), "a", Builds())


def test_other_files_are_not_touched(tmp_path):
    """Somebody's folder is neither filled nor cleaned."""
    (tmp_path / "letters" / "old").mkdir(parents=True)
    cache = UserCache(tmp_path)
    assert cache.clean() == ([], []) and cache.trim() == [] and cache.entries() == []
    with pytest.raises(
        CacheError, match=r"has other files than those of a cache: --cache-dir names a new folder"
    ):
        make(cache, "a", Builds())
    assert [path.name for path in tmp_path.iterdir()] == ["letters"]
    assert (tmp_path / "letters" / "old").exists()


def test_the_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "flashtrain"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert default_folder() == tmp_path / "home" / ".cache" / "flashtrain"


@pytest.mark.parametrize("why", ["unwritable", "open to others", "no home", "relative home", "another's"])
def test_a_user_without_a_folder(monkeypatch, tmp_path, why):
    """Such a user has a folder among temporary files, and none in the current folder."""
    temporary = tmp_path / "temporary files"
    temporary.mkdir()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    assert default_folder() == tmp_path / "home" / ".cache" / "flashtrain"
    if why == "unwritable":
        monkeypatch.setattr(os, "access", lambda path, mode: False)  # of root it says that all may be
    elif why == "open to others":
        (tmp_path / "home").chmod(0o777)
    elif why == "no home":
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # neither HOME nor an account
    elif why == "relative home":
        monkeypatch.setenv("HOME", "home")
    elif os.geteuid() == 0:
        os.chown(tmp_path / "home", NOBODY, 0)
    else:
        pytest.skip("only root has the home of another, as in containers")
    folder = default_folder()
    assert folder == temporary / f"flashtrain-{os.geteuid()}"
    make(UserCache(folder), "a", Builds())
    assert folder.stat().st_mode & 0o777 == 0o700


def test_another_cache_in_a_block(tmp_path):
    before = user_cache()
    with using_cache(tmp_path):
        inside = user_cache()
        assert inside.folder == tmp_path
        assert select_cache(tmp_path) is inside, "it keeps what it holds"
    with using_cache(None):
        assert user_cache() is before


def test_the_time_is_estimated_from_earlier_builds(tmp_path, capfd):
    """The line of a first use: a range at first, then what was measured."""
    cache = UserCache(tmp_path / "cache")
    assert cache.limit == DEFAULT_LIMIT and cache.seconds_of("native", 1) is None
    for name in ("first", "second"):
        source = tmp_path / f"{name}.cpp"
        source.write_text(SOURCE, encoding="utf-8")
        library = native_library(name, [source], {"answer": (int, [])}, cache)
        assert library.answer() == 42
    first, _, second, _ = capfd.readouterr().err.splitlines()
    assert first.endswith("(done once, 5 to 60 s) ...")
    (entry,) = (entry for entry in cache.entries() if "first" in entry.path)
    assert second.endswith(f"(done once, {about(entry.record.seconds)}) ...")
    assert cache.seconds_of("native", 3 * len(SOURCE)) == pytest.approx(
        3 * sum(entry.record.seconds for entry in cache.entries()) / 2
    )
    assert (about(0.2), about(89), about(150)) == ("about 1 s", "about 89 s", "about 2 minutes")
