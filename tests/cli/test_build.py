"""`flashtrain build`: what it lists and removes, and what a bad folder gives."""

import json
import os
import time
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.model.kernel import load_kernel
from flashtrain.native.user_cache import UserCache, user_cache

DAY = 86_400


@pytest.fixture(autouse=True)
def kernel_of_no_other_test():
    """A process loads the model's kernel once, from whatever cache."""
    load_kernel.cache_clear()
    yield
    load_kernel.cache_clear()


def fill(folder: Path, ages: dict[str, float]) -> None:
    """Entries of these names, used so many days ago, which no process holds."""
    cache = UserCache(folder)
    for name, days in ages.items():
        entry = cache.build("lib", name, "key", f"library {name}", lambda path: None)
        used = time.time() - days * DAY
        os.utime(entry / "entry.json", (used, used))
        cache._locks.release(f"lib/{name}-key")


def build(*arguments: object) -> int:
    return main(["build", *map(str, arguments)])


def test_list(tmp_path, capsys):
    fill(tmp_path, {"old": 40, "new": 0})
    assert build("--list", "--cache-dir", tmp_path) == 0
    header, new, old, total = capsys.readouterr().out.splitlines()
    assert header.split() == ["entry", "what", "it", "is", "size", "took", "built", "used"]
    assert new.startswith("lib/new-key  library new")
    assert old.startswith("lib/old-key  library old") and old.endswith("40 days ago")
    assert total == f"{tmp_path}: 2 entries, 0 B of at most 4 GiB"
    assert build("--list", "--json", "--cache-dir", tmp_path) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["path"] for entry in document["entries"]] == ["lib/new-key", "lib/old-key"]


def test_clean(tmp_path, capsys):
    fill(tmp_path, {"old": 40, "new": 1})
    assert build("--clean", "--older", 30, "--cache-dir", tmp_path) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 1 entries removed, 0 B\n"
    assert [entry.path for entry in UserCache(tmp_path).entries()] == ["lib/new-key"]
    user = UserCache(tmp_path)
    user.build("lib", "used", "key", "library used", lambda path: None)
    assert build("--clean", "--cache-dir", tmp_path) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 1 entries removed, 0 B; 1 in use are kept\n"


def test_limit(tmp_path, capsys):
    assert build("--limit", 0.5, "--cache-dir", tmp_path) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 0 entries removed, 0 B; at most 512 MiB from now on\n"
    assert UserCache(tmp_path).limit == 1 << 29


def test_a_folder_that_is_not_there_is_empty(tmp_path, capsys):
    assert build("--list", "--cache-dir", tmp_path / "none") == 0
    assert build("--clean", "--cache-dir", tmp_path / "none") == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--link", "model"), "/file/cache cannot be used"),
        (("--limit", "1"), "/file/cache cannot be used"),
        (("--older", "1"), "--older is for --clean"),
        (("--link", "model", "--preset", "tiny"), "expected no --preset or --config"),
        (("--preset", "huge"), "invalid choice: 'huge'"),
        (("--config", "no.toml"), "no.toml"),
    ],
)
def test_mistakes_are_one_line(tmp_path, capsys, arguments, message):
    (tmp_path / "file").write_text("", encoding="utf-8")
    before = user_cache()
    try:
        code = build(*arguments, "--cache-dir", tmp_path / "file" / "cache")
    except SystemExit as leaving:
        code = leaving.code
    assert code == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1 and message in error
    assert user_cache() is before


def test_other_commands_use_the_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    train = ["train", "--link", "model", "--iterations", "1", "--output", str(tmp_path / "out")]
    assert main([*train, "--cache-dir", str(tmp_path / "file" / "cache")]) == 2
    assert "file/cache cannot be used" in capsys.readouterr().err
