"""Output files: complete or as before, new, and refused where none can be."""

import os
import stat

import pytest

from flashtrain.cli.main import main
from flashtrain.writing import OutputError, begun_file, check_file, replacing, write_text


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "results.json"
    write_text(path, "first")
    path.chmod(0o640)
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write("half of it")
        assert 1 // 0
    assert path.read_text(encoding="utf-8") == "first" and list(path.parent.iterdir()) == [path]
    write_text(path, "second")
    assert path.read_text(encoding="utf-8") == "second" and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_the_process(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_planted_links_lead_nowhere(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / "results.json").symlink_to(victim)
    write_text(tmp_path / "results.json", "results")
    assert victim.read_text(encoding="utf-8") == "precious" and not (tmp_path / "results.json").is_symlink()
    monkeypatch.setattr("flashtrain.writing.new_file.os.urandom", lambda count: b"guessed.")
    (tmp_path / f".{b'guessed.'.hex()}.new").symlink_to(victim)
    with pytest.raises(FileExistsError), begun_file(tmp_path / "flash.img"):
        pass
    assert victim.read_text(encoding="utf-8") == "precious"


def test_a_full_disk(tmp_path):
    with pytest.raises(OutputError, match=r"a\.json: cannot be written: No space left on device"):
        with replacing(tmp_path / "a.json"):
            raise OSError(28, os.strerror(28))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is a folder; expected a file to write"),
        ("pipe", "not a regular file; expected one, or a new name"),
        ("file/results.json", "file is not a folder; expected one to write to"),
        ("/dev/full", "not a regular file"),
        ("x" * 5000, "cannot be written: File name too long"),
        ("/proc/results.json", "/proc: cannot be written: "),
        ("/proc/build/train/a.json", "/proc/build/train: cannot be made in /proc: "),
    ],
)
def test_places_that_take_no_file(name, message, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=message):
        check_file(tmp_path / name)


@pytest.mark.parametrize(
    "command",
    [
        ["bench", "append_erased", "--output"],
        ["bench", "append_erased", "--rtl-results"],
        ["checkpoint", "models", "--capture"],
        ["device", "flash.img", "--figure"],
        ["figure", "all", "--out"],
        ["io", "--output"],
        ["offload", "network", "x", "--out"],
        ["offload", "plan", "x", "--out"],
        ["offload", "plan", "x", "--figure"],
        ["offload", "profile", "x", "--out"],
        ["offload", "run", "x", "--figure"],
        ["platform", "run", "gpt", "1x1", "--trace"],
        ["platform", "run", "gpt", "1x1", "--timeline"],
        ["sequence", "behemoth", "gpt", "1x1", "--out"],
        ["sequence", "capture", "x", "--out"],
        ["sequence", "generate"],
        ["sequence", "replay", "x", "--block-trace"],
        ["sweep", "x", "--output"],
        ["trace", "convert", "x"],
        ["train", "--output"],
        ["train", "--trace"],
        ["train", "--waves"],
        ["train", "--image"],
        ["io", "--image"],
        ["verilog", "--output"],
    ],
    ids=" ".join,
)
def test_a_command_refuses_an_output_before_its_work(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([*command, "/dev/full/a.png" if command[-1] != "--image" else "/dev/full"])
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "/dev/full" in err and "expected" in err
