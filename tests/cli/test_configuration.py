"""`--config FILE` in the place of `--preset`, of the commands that build a device."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from flashtrain.cli.command import configuration_option
from flashtrain.cli.main import main


@pytest.fixture
def file(tmp_path):
    """A die with pages of 16 KiB, on one channel, with few blocks and pages."""
    path = tmp_path / "one_tlc_die.toml"
    path.write_text(
        """
        base = "small"
        part = "b17a_tlc"
        max_blocks = 64
        [geometry]
        channels = 1
        dies = 1
        blocks = 40
        pages = 16
    """,
        encoding="utf-8",
    )
    return path


def test_training(file, tmp_path, capsys):
    arguments = ["--config", str(file), "--link", "functional", "--iterations", "3", "--batch", "32"]
    assert main(["train", *arguments, "--output", str(tmp_path / "train"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["configuration"] == "one_tlc_die"
    assert document["bit_exact"] is True and document["updates"]["updates"] == 3


def test_a_sequence(file, tmp_path, capsys):
    sequence = str(tmp_path / "mlp.json")
    assert main(["sequence", "generate", sequence]) == 0
    capsys.readouterr()
    assert main(["sequence", "show", sequence, "--config", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["configuration"] == "one_tlc_die"
    replay = [
        "sequence",
        "replay",
        sequence,
        "--config",
        str(file),
        "--link",
        "functional",
        "--iterations",
        "2",
    ]
    assert main(replay) == 0


def test_a_benchmark_of_the_design(file, tmp_path, capsys):
    results = tmp_path / "results.json"
    assert main(["bench", "buffer_bytes", "--config", str(file), "--output", str(results)]) == 0
    (result,) = json.loads(results.read_text(encoding="utf-8"))
    assert result["configuration"] == "one_tlc_die"
    assert result["value"] == (4 * 4 + 4) * 16384
    assert "one_tlc_die" in capsys.readouterr().out


def test_the_table_of_benchmarks_has_no_row_of_a_file(file, tmp_path, capsys):
    assert main(["bench", "--config", str(file), "--output", str(tmp_path / "results.json")]) == 2
    assert f"{file}: --config takes names of benchmarks" in capsys.readouterr().err


def test_random_commands(file, capsys):
    assert main(["fuzz", "--config", str(file), "--commands", "200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["right"] is True


def test_how_a_run_is_seen_again():
    assert configuration_option(Namespace(preset="tiny", config=None)) == "--preset tiny"
    assert (
        configuration_option(Namespace(preset="tiny", config=Path("my own.toml"))) == "--config 'my own.toml'"
    )
