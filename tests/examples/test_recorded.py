"""Recorded runs in documents: the columns that no machine changes are those of a fresh, shorter run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"make run": "tutorial.md", "flashtrain bench of these names": "performance.md"}
SHORT_ROWS = ("append_latency", "command_interval", "command_time_write")
WALL = r" +[\d.]+ s$"


def recorded(command: str) -> list[str]:
    """The lines that a page has recorded of a command."""
    page = (DOCS / PAGES[command]).read_text(encoding="utf-8")
    (block,) = re.findall(rf"<!-- recorded: {re.escape(command)} -->\n```\n(.*?)```", page, re.DOTALL)
    return block.splitlines()


def printed(output: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "flashtrain.cli.main", *arguments, "--output", str(output)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_training(tmp_path):
    """Losses, accuracies and traffic do not depend on the Link; the functional one has no time."""

    def losses(lines: list[str]) -> list[list[str]]:
        return [line.split()[:3] for line in lines if "%" in line and re.search(WALL, line)]

    lines = printed(tmp_path, "train", "--link", "functional")
    assert losses(lines) == losses(recorded("make run"))
    begin, end = (
        next(number for number, line in enumerate(lines) if word in line)
        for word in ("mlp: ", "16-bit copies")
    )
    assert "\n".join(lines[begin : end + 1]) in "\n".join(recorded("make run"))


@pytest.mark.early
def test_simulated_time(tmp_path):
    """The first iteration takes the recorded time; each row that is printed costs reads of counters."""
    rows = [re.sub(WALL, "", line) for line in printed(tmp_path, "train", "--iterations", "2")]
    first = [row for row in rows if re.fullmatch(r" +1 [\d. ]+% +[\d.]+ ms", row)]
    assert len(first) == 1
    assert first[0] in {re.sub(WALL, "", line) for line in recorded("make run")}


def test_benchmarks(tmp_path):
    """Value, unit, bound, share, verdict and cycles of rows that take a second."""

    def rows(lines: list[str]) -> set[tuple[str, ...]]:
        table = (line.split()[:8] for line in lines if line.startswith(SHORT_ROWS))
        return {tuple(row) for row in table if row[0] in SHORT_ROWS}

    measured = rows(printed(tmp_path / "results.json", "bench", *SHORT_ROWS, "--preset", "small"))
    assert len(measured) == len(SHORT_ROWS)
    assert measured == rows(recorded("flashtrain bench of these names"))
