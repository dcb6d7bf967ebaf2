"""Output for the user: text on stdout and progress on stderr, or with `--json` one document on stdout."""

import codecs
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from io import TextIOWrapper
from shutil import get_terminal_size
from typing import TextIO
from unicodedata import category

SECONDS_BETWEEN_LINES = 5.0
"""Where stderr is no terminal, progress is a line now and then."""

MOST_OF_AN_ERROR = 1000
"""Characters: a value in a message may be as long as its file."""


_PLAIN = str.maketrans({"µ": "u", "×": "x", "–": "-", "…": ".", "²": "2", "→": ">", "±": "~"})
_ERRORS = "flashtrain.plain"


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Replacement for characters that a stream's encoding does not have; an escape if nothing is alike."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(_ERRORS, _plain)


def print_in_any_encoding() -> None:
    """Let standard output and errors take every text, whatever encoding the terminal or a variable says."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


class Output:
    """A text stream that may fail: after a failure the text is dropped, and the command continues.

    failure: the first error, unless the reader has closed its pipe, which is its right.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    @property
    def is_terminal(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.failure = error
            self._discard(self._stream)
            self._stream = None

    @staticmethod
    def _discard(stream: TextIO) -> None:
        """Python flushes the stream once more at the end of the process: that must not fail."""
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Console:
    """Output of one command. With `as_json`, text goes to stderr, so that stdout is one JSON document."""

    def __init__(
        self, as_json: bool = False, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self.as_json = as_json
        self._stdout = Output(stdout or sys.stdout)
        self._stderr = Output(stderr or sys.stderr)
        self._live = self._stderr.is_terminal
        self._width = 0
        self._last_line = 0.0

    @property
    def failure(self) -> OSError | None:
        """Why the result could not be written, if so."""
        return self._stdout.failure

    def say(self, text: str = "") -> None:
        """A line of the result, or several."""
        self._clear()
        (self._stderr if self.as_json else self._stdout).write(f"{shown(text)}\n")

    def document(self, content: Mapping[str, object] | list[object]) -> None:
        """The result for machines; nothing without `--json`."""
        if self.as_json:
            self._stdout.write(f"{json.dumps(content, indent=2)}\n")

    def step(self, text: str) -> None:
        """The work that begins now and may take a while."""
        self._clear()
        self._stderr.write(f"# {shown(text, keep='')}\n")

    def progress(self, text: str) -> None:
        """The progress so far: on a terminal in place, else a line every few seconds."""
        text = shown(text, keep="")
        if self._live:
            text = text[: max(get_terminal_size().columns - 1, 1)]  # a line that wraps is not overwritten
            self._stderr.write(f"\r{text:<{self._width}}")
            self._width = len(text)
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self._stderr.write(f"# {text}\n")

    def error(self, text: str) -> None:
        """One line on stderr, whatever `text` is."""
        self._clear()
        self._stderr.write(f"{one_line(text)}\n")

    def _clear(self) -> None:
        if self._width:
            self._stderr.write(f"\r{'':<{self._width}}\r")
            self._width = 0


def shown(text: str, keep: str = "\n") -> str:
    """The text as a terminal may have it: characters that show nothing are escaped, except those to `keep`.

    Names of hosts, files and streams come from others, and would move the cursor or set a title.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c in keep or category(c)[0] in "LMNPS" or category(c) == "Zs" else _code(c) for c in text
    )


def _code(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def one_line(text: str) -> str:
    """The text in a line of at most `MOST_OF_AN_ERROR` characters: of a longer one begin and end."""
    line = shown(" ".join(text.split()), keep="")
    if len(line) <= MOST_OF_AN_ERROR:
        return line
    half = MOST_OF_AN_ERROR // 2 - 3
    return f"{line[:half]} ... {line[-half:]}"


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
