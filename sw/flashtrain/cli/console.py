"""What the user sees: text on stdout and progress on stderr, or with `--json` one document on stdout."""

import json
import sys
import time
from collections.abc import Mapping
from typing import TextIO

SECONDS_BETWEEN_LINES = 5.0
"""Where stderr is no terminal, progress is a line now and then."""


class Console:
    """Output of one command. With `as_json`, text goes to stderr, so that stdout is one JSON document."""

    def __init__(
        self, as_json: bool = False, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self.as_json = as_json
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr
        self._live = self._stderr.isatty()
        self._width = 0
        self._last_line = 0.0

    def say(self, text: str = "") -> None:
        """A line of the result, or several."""
        self._clear()
        print(text, file=self._stderr if self.as_json else self._stdout, flush=True)

    def document(self, content: Mapping[str, object] | list[object]) -> None:
        """The result for machines; nothing without `--json`."""
        if self.as_json:
            print(json.dumps(content, indent=2), file=self._stdout, flush=True)

    def step(self, text: str) -> None:
        """What begins now and may take a while."""
        self._clear()
        print(f"# {text}", file=self._stderr, flush=True)

    def progress(self, text: str) -> None:
        """How far it is: on a terminal in place, else a line every few seconds."""
        if self._live:
            self._stderr.write(f"\r{text:<{self._width}}")
            self._stderr.flush()
            self._width = len(text)
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            print(f"# {text}", file=self._stderr, flush=True)

    def error(self, text: str) -> None:
        """One line on stderr, whatever `text` is."""
        self._clear()
        print(" ".join(text.split()), file=self._stderr, flush=True)

    def _clear(self) -> None:
        if self._width:
            self._stderr.write(f"\r{'':<{self._width}}\r")
            self._stderr.flush()
            self._width = 0


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]], left: int = 1) -> str:
    """Aligned text; the first `left` columns to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]

    def line(row: tuple[str, ...]) -> str:
        cells = (
            f"{cell:<{w}}" if i < left else f"{cell:>{w}}"
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in [columns, *rows])


def byte_count(count: float) -> str:
    """Bytes in the unit that suits them, binary."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count == int(count) else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
