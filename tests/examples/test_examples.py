"""The examples print what is recorded beside them, and the code in the how-tos runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_output_is_as_recorded(script, tmp_path):
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == script.with_suffix(".txt").read_text()


def code(page: str) -> list[str]:
    """The Python blocks of a page of docs."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def run_in(folder: Path, *arguments: str | Path) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sequence_from_python(tmp_path):
    (block,) = code("sequences.md")
    (tmp_path / "script.py").write_text(block)
    run_in(tmp_path, "script.py")


@pytest.mark.parametrize(
    "page", ["checkpoints.md", "image.md", "named-tensors.md", "recovery.md", "retention.md"]
)
def test_a_page_with_its_output(tmp_path, page):
    (block,) = code(page)
    (tmp_path / "script.py").write_text(block)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert f"```\n{done.stdout}```" in (ROOT / "docs" / page).read_text(), done.stderr


@pytest.mark.long
def test_another_configuration(tmp_path):
    (block,) = code("verilog.md")
    # The same with less to write: the preset in the page takes a minute to check.
    block = block.replace('preset("small")', 'preset("tiny")').replace("channels=8", "channels=4")
    (tmp_path / "script.py").write_text(block)
    run_in(tmp_path, "script.py")
    assert (tmp_path / "build" / "eight" / "flashtrain_channel.sv").exists()


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_the_export_on_icarus(tmp_path):
    page = (ROOT / "docs" / "verilog.md").read_text()
    (bench,) = re.findall(r"```verilog\n// bench.sv\n(.*?)```", page, re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (output,) = re.findall(r"and then\n\n```\n(.*?)```", page, re.DOTALL)
    (tmp_path / "bench.sv").write_text(bench)
    # Its lint is that of tests/cli/test_verilog.py.
    commands = commands.replace(
        "flashtrain verilog", f"{sys.executable} -m flashtrain.cli.main verilog --no-lint"
    )
    done = subprocess.run(["sh", "-ec", commands], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(output)


def test_readme(tmp_path):
    for block in code("../README.md"):
        (tmp_path / "script.py").write_text(block)
        run_in(tmp_path, "script.py")


def test_a_bench(tmp_path):
    for block in code("cocotb.md"):
        name = re.match(r"# tests/rtl/(\S+)\n", block)
        assert name is not None
        (tmp_path / name[1]).write_text(block)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    # Its build is thrown away; Verilator's library, which is the same in all, is in the user's cache.
    environment = {**os.environ, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", tmp_path],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout
