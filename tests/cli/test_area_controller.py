"""`flashtrain area controller`: what is measured, and what the table says of it."""

import json

import pytest

from flashtrain.cli.area_parts import WANTED_MHZ
from flashtrain.cli.main import main
from flashtrain.sim.synthesis import synthesis
from flashtrain.sim.synthesis.synthesis import Area, Placement
from flashtrain.spec import preset

# The tools are replaced: parts are built, and nothing elaborates them.
pytestmark = pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")


@pytest.fixture
def measured(monkeypatch):
    """Tools that find 1,000 LUT6 in a channel engine, and 100 more in each die."""

    def synthesise(component, name, target):
        g = component.config.geometry
        dies = g.dies
        assert g.blocks - g.spare_blocks == preset("behemoth").geometry.blocks
        return Area(
            lut=1000 + 100 * dies, carry=0, lut_memory=1, registers=10 * dies, multipliers=0,
            block_memory=3, memory_lut=4,
        )  # fmt: skip

    clocks = {"mhz": 151.0}
    monkeypatch.setattr(synthesis, "synthesise", synthesise)

    def place(component, name, clock_mhz, seeds):
        tried = {1: clocks["mhz"] - 20, 2: clocks["mhz"]} if seeds > 1 else {1: clocks["mhz"]}
        return Placement(5_000, clocks["mhz"], len(tried), tried)

    monkeypatch.setattr(synthesis, "place", place)
    monkeypatch.setattr(
        synthesis, "synthesis_tools", lambda placing: {"yosys": "Yosys 0", "nextpnr": "nextpnr 0"}
    )
    return clocks


def test_every_part_is_measured(measured, capsys):
    assert main(["area", "controller", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    engines = ["channel_2", "channel_4", "channel_8", "protected_4"]
    assert list(found["parts"]) == [*engines, "front_end_4", "front_end_8"]
    assert found["parts"]["channel_4"]["lut6"] == 1404  # the tables of memories are among them
    assert found["parts"]["channel_4"]["clock_mhz"] == 151.0
    assert found["parts"]["channel_4"]["clock_mhz_by_seed"] == {"1": 131.0, "2": 151.0}


def test_clocks_of_all_seeds_are_told(measured, capsys):
    assert main(["area", "controller"]) == 0
    told = "channel engine, 4 dies: 131.0 with seed 1, 151.0 with seed 2; asked: 150 MHz"
    assert told in capsys.readouterr().out


def test_the_cost_of_a_die_is_a_row(measured, capsys):
    assert main(["area", "controller"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("one more die")]
    assert row.split()[-4:] == ["100", "100", "10", "0"]


def test_too_slow_is_a_failure(measured, capsys):
    measured["mhz"] = WANTED_MHZ - 1
    assert main(["area", "controller"]) == 1
