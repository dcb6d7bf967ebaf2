"""Lets the tests here import what lies beside them, and shows what became of the faults."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from trial import ROW


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A row for each fault that was planted, in Markdown."""
    rows = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == ROW and report.when == "call"
    ]
    if rows:
        terminalreporter.section("planted faults (docs/verification.md)")
        for row in ["| Fault | Outcome | By | Seconds |", "|---|---|---|---|", *sorted(rows)]:
            terminalreporter.write_line(row)
