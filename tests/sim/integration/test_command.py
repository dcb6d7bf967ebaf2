"""`flashtrain verilog`: what it writes and prints, also from a file, and its mistakes."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.spec import config_text, preset


def test_the_command(tmp_path, capsys, designs, package, monkeypatch):
    """It elaborates the configuration of the file, and writes what the package of that elaboration has."""
    asked = []

    def exported(config, system_mhz, step, pcie):
        asked.append((config, system_mhz, pcie))
        return designs

    monkeypatch.setattr("flashtrain.sim.integration.package.export_designs", exported)
    file = tmp_path / "file.toml"
    file.write_text(config_text(preset("tiny")), encoding="utf-8")
    arguments = ["--config", str(file), "--output", str(tmp_path / "out"), "--no-lint", "--json"]
    assert main(["verilog", *arguments]) == 0
    assert asked == [(designs.config, None, False)]
    printed = json.loads(capsys.readouterr().out)
    assert printed["tops"] == package.tops
    folder = tmp_path / "out" / "tiny"
    assert printed["folder"] == str(folder)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == set(printed["files"]) == set(package.texts)
    for name, text in package.texts.items():
        assert (folder / name).read_text(encoding="utf-8") == text, name


@pytest.mark.parametrize("clock", ["0", "-1", "fast"])
def test_a_wrong_clock(clock, capsys):
    with pytest.raises(SystemExit) as error:
        main(["verilog", "--system-clock", clock])
    assert error.value.code == 2
    assert "--system-clock: expected a number above 0" in capsys.readouterr().err


def test_a_drive_has_one_clock(capsys, tmp_path):
    """In one line, before anything is built."""
    arguments = ["--pcie", "--system-clock", "250", "--output", str(tmp_path / "out")]
    assert main(["verilog", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err == (
        "flashtrain verilog: system_clock is 250.0; expected none with PCI Express, whose function has the "
        "clock of the NAND\n"
    )
    assert not printed.out and not (tmp_path / "out").exists()


@pytest.mark.parametrize("clock", ["0.5", "5001"])
def test_a_clock_that_cannot_be(clock, capsys, tmp_path):
    """In one line, before anything is built."""
    assert main(["verilog", "--system-clock", clock, "--output", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"flashtrain verilog: system clock: {clock} MHz; expected 1 to 5,000 MHz\n"
    assert not printed.out and not (tmp_path / "out").exists()
