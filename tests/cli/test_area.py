"""`flashtrain area`: the update unit keeps within what it may take."""

import json

import pytest

from flashtrain.cli.area_update import parameters_per_microsecond
from flashtrain.cli.main import main
from flashtrain.sim.synthesis import synthesis, tools
from flashtrain.spec import preset
from flashtrain.spec.errors import ToolError


def test_what_a_die_needs():
    """OptimStore's die: 8 planes of 4 KiB in 100 µs."""
    assert parameters_per_microsecond(preset("behemoth")) == pytest.approx(27.3, abs=0.01)


def test_missing_tools(monkeypatch, capsys):
    monkeypatch.setattr(tools.shutil, "which", lambda name, path=None: None)
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    assert main(["area"]) == 2
    error = capsys.readouterr().err
    assert "flashtrain area: neither pyosys nor yosys is installed: pip install" in error
    assert error.strip().count("\n") == 0


@pytest.mark.parametrize("part", ["update", "controller", "ecc"])
def test_cells_alone_need_no_placer(part, monkeypatch, capsys):
    """Without --clock the first thing missed is Yosys, and with Yosys there nothing is."""

    def which(name, path=None):
        return "/bin/true" if name == "yosys" else None

    def synthesised(*_):
        raise ToolError("yosys was started")

    monkeypatch.setattr(tools.shutil, "which", which)
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    monkeypatch.setattr(tools, "version", lambda command: "1")
    monkeypatch.setattr(synthesis, "synthesise", synthesised)
    assert main(["area", part, "--no-clock"]) == 2
    assert "yosys was started" in capsys.readouterr().err
    assert main(["area", part]) == 2
    assert "nextpnr" in capsys.readouterr().err


def test_interval_is_checked():
    with pytest.raises(SystemExit) as stopped:
        main(["area", "--interval", "0"])
    assert stopped.value.code == 2


def test_cells(request, capsys):
    if not request.config.getoption("--long"):
        pytest.skip("takes a minute; in long runs")
    try:
        tools.versions()
    except ToolError as error:
        pytest.skip(str(error))
    assert main(["area", "--no-clock", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["area"]["ECP5"]["lut"] < 4 * found["hardfloat_multiply_add"]["ecp5_lut"]
    assert found["area"]["ECP5"]["multipliers"] == 12
    assert found["clock_mhz"] is None
