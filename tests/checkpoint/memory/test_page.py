"""docs/checkpoint-memory.md: its example runs, and its figures are those of the command and of the figure."""

import re
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.figures.checkpoint_memory import CheckpointMemory
from flashtrain.figures.checkpoint_memory_runs import DIES, FMS, OURS, PAIRS, SSD, STORES, SWAP, Runs

PAGE = (Path(__file__).parents[3] / "docs" / "checkpoint-memory.md").read_text(encoding="utf-8")
GB, HOUR = 1e9, 3600


@pytest.fixture(scope="module")
def runs():
    return Runs(CheckpointMemory().defaults())


def test_the_example_runs(capsys):
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(source, {})
    assert capsys.readouterr().out.startswith("6 [0.")


def test_the_recorded_run_but_for_its_cycles(capsys):
    """Sizes, saves and results do not depend on the Link; the functional one has no time."""
    command = "flashtrain checkpoint memory"
    (block,) = re.findall(rf"<!-- recorded: {command} -->\n```\n(.*?)```", PAGE, re.DOTALL)
    assert main([*command.split()[1:], "--link", "functional"]) == 0

    def rows(text):
        columns = (re.split(r" {2,}", line) for line in text.splitlines() if "waiting" in line or "-" in line)
        return [(row[:5], row[-2:]) for row in columns]

    printed = rows(capsys.readouterr().out)
    assert len(printed) == 3
    assert printed == rows(block)


def test_pairs(runs):
    rows = re.findall(r"\| (?:swap|checkpoint) \| (.*?) \|\n", PAGE)[: 2 * len(PAIRS)]
    expected = []
    for pair in PAIRS:
        for policy in (SWAP, OURS):
            slower = (runs.slowdown(pair, policy, store) for store in STORES)
            expected.append(" | ".join("does not fit" if s == float("inf") else f"{s:.2%}" for s in slower))
    assert [row.replace(" %", "%") for row in rows] == expected


def test_nine_jobs(runs):
    for store, policy, name in (
        (SSD, SWAP, "swap"), (SSD, OURS, "checkpoint"), (FMS, SWAP, "swap"), (FMS, OURS, "checkpoint"),
        (DIES, OURS, "checkpoint"),
    ):  # fmt: skip
        report = runs.of_nine(policy, store)
        times = [f"{s / HOUR:.2f} h" for s in (report.seconds, report.mean_completion_seconds)]
        cells = [name, *times, f"{report.peak_bytes / GB:.1f} GB", f"{report.stall_seconds:,.0f} s"]
        assert f"| {' | '.join(cells)} | " in PAGE
        if report.written_bytes:
            assert f"{report.written_bytes / GB:.0f} GB | {report.pe_cycles:.2f} |" in PAGE
