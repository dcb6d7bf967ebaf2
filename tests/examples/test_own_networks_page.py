"""docs/own-networks.md: its network is that of the examples, and its outputs are those of a fresh run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flashtrain.cli.main import main

HASWELL_TEST_LOSS = "1.0169"
"""The recorded run's, where OpenBLAS takes its kernels of Haswell; another processor recorded the page."""

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-networks.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_network_is_that_of_the_examples(blocks):
    assert blocks[0] in (ROOT / "examples" / "networks" / "own_network.py").read_text(encoding="utf-8")


def test_from_python(blocks, tmp_path):
    done = subprocess.run([sys.executable, "-c", blocks[1]], cwd=tmp_path, capture_output=True, text=True)
    assert f"```\n{done.stdout}```" in PAGE, done.stderr


def test_the_recorded_run(tmp_path, capsys, monkeypatch):
    """Its first row does not depend on the Link."""
    (command, recorded) = re.search(
        r"<!-- recorded: flashtrain (.*?) -->\n```\n(.*?)```", PAGE, re.DOTALL
    ).groups()
    monkeypatch.chdir(ROOT)
    arguments = ["--link", "functional", "--iterations", "20", "--output", str(tmp_path)]
    assert main([*command.split(), *arguments]) == 0
    head, row = capsys.readouterr().out.splitlines()[:2]
    assert head == recorded.splitlines()[0]
    expected = recorded.splitlines()[1].split()[:4]
    assert row.split()[:4] in (expected, [*expected[:2], HASWELL_TEST_LOSS, expected[3]])
