"""Prints the table of planted faults."""

import pytest

from tests.mutation.trial import ROW


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
        terminalreporter.section("planted faults (docs/proofs.md)")
        for row in ["| Fault | Outcome | By | Seconds |", "|---|---|---|---|", *sorted(rows)]:
            terminalreporter.write_line(row)
