"""`flashtrain area ecc`: what is measured, and what is said of it."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.sim.synthesis.synthesis import Area

from .area_tools import replace_tools


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """Tools that find 100 LUT6 for each bit that a search looks at, and 10 elsewhere."""

    def synthesise(component, name, target):
        assert component.code.strength == 13
        lut = 100 * component.parallel if name.startswith("ecc_search") else 10
        return Area(lut=lut, lut_memory=1, registers=7, memory_lut=4)

    replace_tools(monkeypatch, synthesise, clocks=lambda name, seed: 151.0)


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
    assert row.split()[-6:] == ["404", "400", "7", "1", "4.0", "-"]
