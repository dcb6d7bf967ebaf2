"""`flashtrain info`: numbers of a configuration, memories counted in the design, and files to start from."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.spec import PRESETS, load_config


def info(capsys, *arguments):
    assert main(["info", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usual("tiny-0", "small-0", "behemoth-0", "small_ecc-2")
@pytest.mark.parametrize(
    ("preset", "spares"), [("tiny", 0), ("small", 0), ("behemoth", 0), ("behemoth_wide", 0), ("small_ecc", 2)]
)
def test_text(preset, spares, capsys):
    assert main(["info", "--preset", preset]) == 0
    text = capsys.readouterr().out
    for words in (
        f"{preset}: ",
        "capacity",
        f"; {spares} spare blocks a plane",
        "bounds at 600 MHz",
        "page buffers",
        "streams of node single",
    ):
        assert words in text


def test_buffers_are_what_the_configuration_says(capsys):
    document = info(capsys, "--preset", "small")
    assert document["capacity_bytes"] == 256 << 20
    pages = sum(memory["bytes"] for memory in document["memories"] if memory["holds_pages"])
    # 4 channels, each with 4 page sets of 4 planes for writes, and 4 pages for reads.
    assert pages == 4 * (4 * 4 + 4) * 4096


def test_metadata_of_behemoth_fits_its_budget(capsys):
    document = info(capsys, "--preset", "behemoth")
    assert sum(m["bytes"] for m in document["memories"] if not m["holds_pages"]) <= 6e6
    assert sum(m["bytes"] for m in document["memories"] if m["holds_pages"]) <= 10e6 * 1.05


def test_sources_of_the_values(capsys):
    assert main(["info", "--preset", "optimstore"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("timing.tr ") and "30,000 ns" in line for line in lines)
    assert any(line.startswith("update_divider ") and "OptimStore" in line for line in lines)
    shown = {value["key"]: value for value in info(capsys, "--preset", "optimstore")["sources"]}
    assert shown["geometry.dies"]["value"] == "4" and shown["timing.tprog"]["source"].startswith("assumption")
    assert info(capsys, "--preset", "small")["sources"] == []


def test_streams_of_a_node(capsys):
    document = info(capsys, "--node", "weight")
    assert [stream["name"] for stream in document["streams"]] == ["weights", "trained", "journal"]
    assert sum(stream["zones"] for stream in document["streams"]) == 32


@pytest.fixture
def file(tmp_path):
    """A file with one channel in the place of two."""
    path = tmp_path / "single_channel.toml"
    path.write_text(
        'base = "tiny_ecc"\nread_pages = 4\nmax_blocks = 12\n[geometry]\nchannels = 1\n', encoding="utf-8"
    )
    return path


def test_a_configuration_of_a_file(file, capsys):
    assert main(["info", "--config", str(file)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("single_channel: 1 channels x 1 dies x 2 planes x 18 blocks")
    assert "3 page sets and 4 pages to read per channel" in text
    assert "9 bits in each KiB, 3 further read levels; a randomizer" in text

    document = info(capsys, "--config", str(file))
    assert document["configuration"] == "single_channel"
    assert document["geometry"]["channels"] == 1
    assert document["sizes"]["read_pages"] == 4
    assert document["timing_cycles"]["tprog"] == 2400
    assert (
        sum(memory["bytes"] for memory in document["memories"] if memory["holds_pages"]) == (3 * 2 + 4) * 512
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_a_written_file_is_the_preset(preset, tmp_path, capsys):
    assert main(["info", "--preset", preset, "--write"]) == 0
    written = tmp_path / "written.toml"
    written.write_text(capsys.readouterr().out, encoding="utf-8")
    assert load_config(written) == PRESETS[preset]


def test_a_written_file_of_a_file(file, tmp_path, capsys):
    assert main(["info", "--config", str(file), "--write"]) == 0
    written = tmp_path / "written.toml"
    written.write_text(capsys.readouterr().out, encoding="utf-8")
    assert load_config(written) == load_config(file)


def test_a_mistake_in_a_file_is_one_line(file, capsys):
    file.write_text('base = "tiny"\n[geometry]\nchannels = 3\n', encoding="utf-8")
    assert main(["info", "--config", str(file)]) == 2
    error = capsys.readouterr().err
    assert error == f"flashtrain info: {file}: geometry.channels is 3; expected a power of two from 1 to 64\n"
    assert main(["info", "--config", "nowhere.toml"]) == 2
    assert (
        capsys.readouterr().err
        == "flashtrain info: nowhere.toml: cannot be read: No such file or directory\n"
    )


def test_a_preset_and_a_file_exclude_each_other(file, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["info", "--preset", "tiny", "--config", str(file)])
    assert leaving.value.code == 2
    assert "argument --config: not allowed with argument --preset" in capsys.readouterr().err
