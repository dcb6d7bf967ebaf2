"""The examples print what is recorded beside them, and the code in the how-tos runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_output_is_as_recorded(script, tmp_path):
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == script.with_suffix(".txt").read_text(encoding="utf-8")


def code(page: str) -> list[str]:
    """The Python blocks of a page of docs."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def run_in(folder: Path, *arguments: str | Path) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sequence_from_python(tmp_path):
    (block,) = code("sequences.md")
    (tmp_path / "script.py").write_text(block, encoding="utf-8")
    run_in(tmp_path, "script.py")


@pytest.mark.parametrize(
    "page",
    ["checkpoints.md", "image.md", "named-tensors.md", "recovery.md", "retention.md", "wear.md"],
)
def test_a_page_with_its_output(tmp_path, page):
    (block,) = code(page)
    (tmp_path / "script.py").write_text(block, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert f"```\n{done.stdout}```" in (ROOT / "docs" / page).read_text(encoding="utf-8"), done.stderr


@pytest.mark.long
def test_another_configuration(tmp_path):
    block = code("verilog.md")[-1]  # the others are those of tests/sim/integration
    # The same with less to write: the preset in the page takes a minute to check.
    block = block.replace('preset("small")', 'preset("tiny")').replace("channels=8", "channels=4")
    (tmp_path / "script.py").write_text(block, encoding="utf-8")
    run_in(tmp_path, "script.py")
    assert (tmp_path / "build" / "eight" / "rtl" / "flashtrain_channel.sv").exists()


def test_readme(tmp_path):
    for block in code("../README.md"):
        (tmp_path / "script.py").write_text(block, encoding="utf-8")
        run_in(tmp_path, "script.py")


def test_a_bench(tmp_path):
    for block in code("cocotb.md"):
        name = re.match(r"# tests/rtl/(\S+)\n", block)
        assert name is not None
        (tmp_path / name[1]).write_text(block, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    # Its build is thrown away; Verilator's library, which is the same in all, is in the user's cache.
    environment = {**os.environ, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", tmp_path],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout
