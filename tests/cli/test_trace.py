"""`flashtrain trace`, and block traces of `flashtrain sequence replay`."""

import json

import pytest

from flashtrain.cli.main import main


@pytest.fixture
def recorded(tmp_path, capsys):
    """The block trace of a sequence with its update on the dies."""
    sequence, path = str(tmp_path / "mlp.json"), tmp_path / "mlp.log"
    assert main(["sequence", "generate", sequence, "--batch", "16"]) == 0
    replay = ["sequence", "replay", sequence, "--link", "functional", "--iterations", "140"]
    assert main([*replay, "--block-trace", str(path)]) == 0
    assert f"{path}: the device's reads and writes, in format fio" in capsys.readouterr().out
    return path


def test_a_recorded_sequence_replays(recorded, capsys):
    assert main(["trace", "replay", str(recorded), "--link", "functional", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["written_bytes"] > 0 and document["read_bytes"] > 0
    assert document["zones_reset"] >= 2  # both streams of state have filled a zone


def test_show_and_convert(recorded, tmp_path, capsys):
    other = str(tmp_path / "mlp.txt")
    assert main(["trace", "show", str(recorded), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert main(["trace", "convert", str(recorded), other, "--to", "blktrace"]) == 0
    capsys.readouterr()
    assert main(["trace", "show", other, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == shown["bytes"]
    assert main(["trace", "convert", str(recorded), other, "--to", "mqsim"]) == 0
    assert f"{shown['commands']['trim']} left out, which it cannot express" in capsys.readouterr().out


def test_a_write_out_of_place(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("0 0 0 8 0\n5 0 16 8 0\n", encoding="utf-8")
    assert main(["trace", "replay", str(path), "--link", "functional"]) == 2
    out, err = capsys.readouterr()
    place = "write at sector 16 out of place; expected 8, the write pointer of zone 0"
    assert (out, err) == ("", f"flashtrain trace: {path}:2: {place}\n")


def test_a_bad_line(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("fio version 2 iolog\nf add\nf write 0\n", encoding="utf-8")
    assert main(["trace", "show", str(path)]) == 2
    assert capsys.readouterr().err.startswith(
        f"flashtrain trace: {path}:3: 'f write 0'; expected FILE ACTION"
    )
    assert main(["trace", "show", str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err
