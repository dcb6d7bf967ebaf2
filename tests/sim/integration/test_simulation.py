"""The written simulation, outside of the tree: the test in SystemVerilog, and the page's cocotb bench."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flashtrain.rtl.export.tools import verilator_command
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.sim.integration.files import Role, of_role
from flashtrain.sim.integration.package import integration_package

PAGE = Path(__file__).parents[3] / "docs" / "verilog.md"
PASSED = "PASS: all bytes right, no violation of the NAND protocol"
NO_ICARUS = pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")


def example(name: str) -> str:
    """A listing of the page, by the comment in its first line."""
    (text,) = re.findall(rf"```python\n(# {name}\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return text


def make(folder: Path, *arguments: str) -> str:
    environment = dict(os.environ)
    environment.pop("MAKEFLAGS", None)
    if shutil.which("ccache"):
        environment["OBJCACHE"] = "ccache"
    done = subprocess.run(["make", "-C", folder, *arguments], env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


@NO_ICARUS
def test_the_makefile_on_icarus(folder):
    (printed,) = re.findall(r"both print\n\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert printed in make(folder, "icarus")


@pytest.mark.usual("two_clocks")
@pytest.mark.parametrize("name", ["two_clocks", "drive"])
def test_the_makefile_on_verilator(name, request, tmp_path):
    """With two clock domains or PCI Express, a PHY, and lint; the page's bench has none of them."""
    integration_package(request.getfixturevalue(name), phy=True).write(tmp_path)
    fast_to_compile = "OPTIMIZATION=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
    output = make(tmp_path, "verilator", f"VERILATOR={verilator_command()}", fast_to_compile)
    assert PASSED in output
    assert "%Warning" not in output


@NO_ICARUS
@pytest.mark.parametrize(("name", "phy"), [("two_clocks", False), ("designs", True)])
def test_an_option_on_icarus(name, phy, request, tmp_path):
    integration_package(request.getfixturevalue(name), phy).write(tmp_path)
    assert PASSED in make(tmp_path, "icarus")


@NO_ICARUS
@pytest.mark.long
def test_a_drive_on_icarus(drive, tmp_path):
    integration_package(drive).write(tmp_path)
    (printed,) = re.findall(r"Icarus prints\n\n```\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert printed in make(tmp_path, "icarus")


@NO_ICARUS
def test_a_wrong_byte_is_found(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "written", ignore=shutil.ignore_patterns("obj_dir", "*.vvp"))
    bench = tmp_path / "written" / "sim" / "flashtrain_tb.sv"
    ready = "    began = cycles;\n    submit(1, "
    assert bench.read_text(encoding="utf-8").count(ready) == 1
    wrong = "    tensor_buffer.memory[SOURCE+5] = tensor_buffer.memory[SOURCE+5] + 1;\n"
    bench.write_text(bench.read_text(encoding="utf-8").replace(ready, f"{wrong}{ready}"), encoding="utf-8")
    done = subprocess.run(["make", "-C", bench.parents[1], "icarus"], text=True, capture_output=True)
    assert "FAIL: a byte is wrong" in done.stdout, done.stdout + done.stderr
    assert done.returncode != 0


@pytest.mark.long
def test_the_bench_of_the_page_on_verilator(package, folder, tmp_path, seed):
    bench = tmp_path / "bench.py"
    bench.write_text(example("bench.py"), encoding="utf-8")
    roles = (Role.RTL, Role.DIE, Role.MODEL, Role.DPI)
    sources = [folder / file.path for file in of_role(package.files, *roles)]
    report = run_bench(sources, "flashtrain_sim", bench, simulator=Simulator.VERILATOR, seed=seed)
    assert report.tests == ("append_and_read",)


@NO_ICARUS
def test_the_bench_of_the_page_by_its_script(folder, tmp_path):
    """On Icarus; without the helpers of this repository."""
    shutil.copytree(folder, tmp_path / "build" / "tiny", ignore=shutil.ignore_patterns("obj_dir", "*.vvp"))
    (tmp_path / "bench.py").write_text(example("bench.py"), encoding="utf-8")
    (tmp_path / "run.py").write_text(example("run.py"), encoding="utf-8")
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, text=True, capture_output=True)
    assert "TESTS=1 PASS=1 FAIL=0" in done.stdout + done.stderr, (done.stdout + done.stderr)[-3000:]
