"""`flashtrain info`: numbers of the presets, and memories counted in the design."""

import json

import pytest

from flashtrain.cli.main import main


def info(capsys, *arguments):
    assert main(["info", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


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


def test_streams_of_a_node(capsys):
    document = info(capsys, "--node", "weight")
    assert [stream["name"] for stream in document["streams"]] == ["weights", "trained", "journal"]
    assert sum(stream["zones"] for stream in document["streams"]) == 32
