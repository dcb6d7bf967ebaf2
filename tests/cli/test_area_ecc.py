"""`flashtrain area ecc`: what is measured, and what is said of it."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.sim.synthesis import synthesis
from flashtrain.sim.synthesis.synthesis import Area, Placement


def _place(component, name, clock_mhz, seeds):
    return Placement(5_000, clock_mhz + 1, 1, {1: clock_mhz + 1})


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """Tools that find 100 LUT6 for each bit that a search looks at, and 10 elsewhere."""

    def synthesise(component, name, target):
        assert component.code.strength == 13
        lut = 100 * component.parallel if name.startswith("ecc_search") else 10
        return Area(lut=lut, carry=0, lut_memory=1, registers=7, multipliers=0, block_memory=0, memory_lut=4)

    monkeypatch.setattr(synthesis, "synthesise", synthesise)
    monkeypatch.setattr(synthesis, "place", _place)
    monkeypatch.setattr(
        synthesis, "synthesis_tools", lambda placing: {"yosys": "Yosys 0", "nextpnr": "nextpnr 0"}
    )


def test_every_unit_is_measured(capsys):
    assert main(["area", "ecc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = ["encoder", "syndromes", "solver", "search_4", "search_8", "search_16", "decoder"]
    assert list(found["parts"]) == [f"ecc_{name}" for name in names]
    assert found["parts"]["ecc_search_16"]["lut6"] == 1604
    assert found["parts"]["ecc_solver"]["clock_mhz"] == 151.0


def test_beside_another_controller(capsys):
    assert main(["area", "ecc", "--no-clock"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line for line in lines if line.startswith("Cosmos+ OpenSSD, solver")]
    assert row.split()[-1] == "6,072"
    (row,) = [line for line in lines if line.startswith("search, 4")]
    assert row.split()[-5:] == ["404", "400", "7", "1", "-"]
