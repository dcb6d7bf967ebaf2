"""`flashtrain area codec`: what is measured, and what it must not take."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.sim.synthesis.synthesis import Area

from .area_tools import replace_tools

LUTS = {
    "codec_verdict": 10, "codec_lane": 20, "codec_encoder": 8_000, "codec_encoder_narrow": 30,
    "channel_4": 5_000,
}  # fmt: skip
CLOCKS = {
    "codec_verdict": 151.0, "codec_lane": 140.0, "codec_encoder": 70.0, "codec_encoder_narrow": 141.0,
    "channel_4": 139.0,
}  # fmt: skip


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """Tools that find the numbers of `LUTS` and `CLOCKS`, and 4 LUT6 of memory each."""

    def synthesise(component, name, target):
        return Area(lut=LUTS[name], lut_memory=1, registers=7, block_memory=3, memory_lut=4)

    replace_tools(monkeypatch, synthesise, clocks=lambda name, seed: CLOCKS[name])


def test_every_unit_is_measured(capsys):
    assert main(["area", "codec", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: part["lut6"] for key, part in found["parts"].items()} == {
        key: count + 4 for key, count in LUTS.items()
    }
    clocks = {key: part["clock_mhz"] for key, part in found["parts"].items()}
    assert clocks == CLOCKS
    assert [key for key, part in found["parts"].items() if not part["placements"][0]["routed"]] == [
        "codec_encoder"
    ]


@pytest.mark.parametrize(
    ("unit", "luts"), [("codec_lane", 8_000), ("codec_encoder", 32_000), ("codec_encoder_narrow", 10_000)]
)
def test_too_large(unit, luts, capsys, monkeypatch):
    monkeypatch.setitem(LUTS, unit, luts - 4)
    assert main(["area", "codec", "--no-clock"]) == 1
    assert "decoder lane" in capsys.readouterr().out


@pytest.mark.parametrize("unit", ["codec_lane", "codec_encoder_narrow"])
def test_slower_than_an_engine(unit, capsys, monkeypatch):
    monkeypatch.setitem(CLOCKS, unit, 138.9)
    assert main(["area", "codec"]) == 1
    assert "138.9 MHz" in capsys.readouterr().out
