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
    (text,) = re.findall(rf"```python\n(# {name}\n.*?)```", PAGE.read_text(), re.DOTALL)
    return text


def make(folder: Path, *arguments: str) -> str:
    environment = dict(os.environ)
    environment.pop("MAKEFLAGS", None)
    if shutil.which("ccache"):
        environment["OBJCACHE"] = "ccache"
    done = subprocess.run(["make", "-C", folder, *arguments], env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@NO_ICARUS
def test_the_makefile_on_icarus(folder):
    assert PASSED in make(folder, "icarus")


def test_the_makefile_on_verilator(folder):
    fast_to_compile = "OPTIMIZATION=OPT_FAST=-O0 OPT_SLOW=-O0"
    assert PASSED in make(folder, "verilator", f"VERILATOR={verilator_command()}", fast_to_compile)


@NO_ICARUS
def test_two_clocks_on_icarus(designs, tmp_path):
    crossing = integration_package(designs, system_mhz=250.0)
    crossing.write(tmp_path)
    crossing.check(tmp_path)
    assert PASSED in make(tmp_path, "icarus")


@NO_ICARUS
def test_a_wrong_byte_is_found(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "written", ignore=shutil.ignore_patterns("obj_dir", "*.vvp"))
    bench = tmp_path / "written" / "sim" / "flashtrain_tb.sv"
    check = "    for (i = 0; i < LENGTH; i = i + 1)\n      if"
    assert bench.read_text().count(check) == 1
    bench.write_text(
        bench.read_text().replace(check, f"    tensor_buffer.memory[TARGET+5] ^= 8'h40;\n{check}")
    )
    done = subprocess.run(["make", "-C", bench.parents[1], "icarus"], text=True, capture_output=True)
    assert done.returncode != 0
    assert "FAIL: a byte is wrong" in done.stdout


def test_the_bench_of_the_page(package, folder, tmp_path, simulator, seed):
    bench = tmp_path / "bench.py"
    bench.write_text(example("bench.py"))
    roles = (Role.RTL, Role.DIE, Role.MODEL)
    if simulator is Simulator.VERILATOR:
        roles += (Role.DPI,)
    sources = [folder / file.path for file in of_role(package.files, *roles)]
    report = run_bench(sources, "flashtrain_sim", bench, simulator=simulator, seed=seed)
    assert report.tests == ("append_and_read",)


@NO_ICARUS
def test_the_script_of_the_page(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "build" / "tiny", ignore=shutil.ignore_patterns("obj_dir", "*.vvp"))
    (tmp_path / "bench.py").write_text(example("bench.py"))
    (tmp_path / "run.py").write_text(example("run.py"))
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, text=True, capture_output=True)
    assert "TESTS=1 PASS=1 FAIL=0" in done.stdout + done.stderr, (done.stdout + done.stderr)[-3000:]
