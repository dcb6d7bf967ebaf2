"""Who may write to what is loaded: folders, entries, libraries and the folders above."""

import os
import pwd
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from flashtrain.native.build_cache import build_once
from flashtrain.native.user_cache import UserCache
from flashtrain.reading import ownership
from flashtrain.reading.ownership import ForeignFile, require_own

NOBODY = 65_534
PLACES = [
    ".",
    "kind",
    "kind/name-key",
    "kind/name-key/obj",
    "kind/name-key/obj/lib.so",
    "kind/name-key/entry.json",
]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


def fill(folder: Path) -> None:
    (folder / "obj").mkdir()
    (folder / "obj" / "lib.so").write_text("a library", encoding="utf-8")


def build(cache: UserCache, fill: Callable[[Path], None] = fill) -> Path:
    return cache.build("kind", "name", "key", "a library", fill)


def refuse(folder: Path) -> None:
    raise AssertionError(f"{folder} is built again")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A cache with an entry, two folders below a private one."""
    folder = tmp_path / "above" / "cache"
    build(UserCache(folder))
    return folder


def is_refused(folder: Path, named: Path, owner: str, mode: int) -> None:
    """Nothing is built, held, listed or removed; the one line names the place, its owner and its mode."""
    with pytest.raises(ForeignFile) as raised:
        build(UserCache(folder), refuse)
    assert re.match(
        rf"{re.escape(str(named))} belongs to {owner}.* and has mode {mode:04o}, ", str(raised.value)
    )
    assert "--cache-dir" in str(raised.value) and "\n" not in str(raised.value)
    with pytest.raises(ForeignFile):
        UserCache(folder).hold("kind/name-key")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("right", [0o020, 0o002], ids=["group", "others"])
def test_what_others_can_write_to(folder, place, right, monkeypatch):
    monkeypatch.setattr(ownership, "_is_private_group", lambda group, owner: False)
    path = folder / place
    mode = path.stat().st_mode & 0o777 | right
    path.chmod(mode)
    is_refused(folder, path, "", mode)
    path.chmod(mode & ~right)
    assert build(UserCache(folder), refuse) == folder / "kind" / "name-key"


@AS_ROOT
@pytest.mark.parametrize("place", PLACES)
def test_what_belongs_to_another(folder, place):
    path = folder / place
    mode = path.stat().st_mode & 0o777
    os.chown(path, NOBODY, 0)
    is_refused(folder, path, rf"nobody \(user {NOBODY}\)", mode)


@pytest.mark.parametrize("action", ["entries", "trim", "clean"])
def test_nothing_is_read_or_removed_either(folder, action):
    folder.chmod(0o777)
    with pytest.raises(ForeignFile):
        getattr(UserCache(folder), action)()
    assert (folder / "kind" / "name-key" / "entry.json").exists()


def test_folders_above(folder):
    """Whoever writes there can exchange the cache, but for the sticky bit."""
    folder.parent.chmod(0o777)
    is_refused(folder, folder.parent, "", 0o777)
    folder.parent.chmod(0o1777)
    build(UserCache(folder), refuse)


def test_links(folder, tmp_path):
    """What a link leads to counts."""
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert build(UserCache(link), refuse) == folder / "kind" / "name-key"
    shared = tmp_path / "shared"
    shared.mkdir()
    entry = (folder / "kind" / "name-key").rename(shared / "name-key")
    (folder / "kind" / "name-key").symlink_to(entry)
    build(UserCache(folder), refuse)
    shared.chmod(0o777)
    is_refused(folder, shared, "", 0o777)


def test_an_umask_that_grants_all(tmp_path):
    before = os.umask(0)
    try:
        build(UserCache(tmp_path / "above" / "cache"))
    finally:
        os.umask(before)
    build(UserCache(tmp_path / "above" / "cache"), refuse)


def test_a_group_of_ones_own(tmp_path):
    """A distribution that gives each user a group has umask 002: the group adds nobody."""
    tmp_path.chmod(0o770)
    assert ownership._is_private_group(os.getgid(), os.getuid())
    assert not ownership._is_private_group(100, os.getuid()) and not ownership._is_private_group(0, NOBODY)
    require_own(tmp_path)


def test_a_group_that_is_the_first_one_of_another_user(monkeypatch):
    group, user = os.getgid(), pwd.getpwuid(os.getuid())
    other = pwd.struct_passwd(("eve", "x", user.pw_uid + 1, group, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwall", lambda: [user, other])
    ownership._is_private_group.cache_clear()
    try:
        assert not ownership._is_private_group(group, user.pw_uid)
    finally:
        ownership._is_private_group.cache_clear()


def test_results_in_the_current_folder(tmp_path):
    """A planted folder below `build` is no result of ours."""
    planted = tmp_path / "result"
    build_once(planted, lambda: None)
    build_once(planted, lambda: refuse(planted))
    planted.chmod(0o777)
    with pytest.raises(ForeignFile, match="delete it"):
        build_once(planted, lambda: None)


def test_root_of_the_machine_in_a_namespace(monkeypatch):
    """Its files seem to be of a user who stands for all that are not mapped."""
    assert ownership._root_outside() == 0
    ownership._root_outside.cache_clear()
    monkeypatch.setattr(ownership, "_ALL_USERS", ["not", "so"])
    assert ownership._root_outside() == NOBODY
    ownership._root_outside.cache_clear()
