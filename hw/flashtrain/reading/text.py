"""Files of text in UTF-8."""

from collections.abc import Iterator
from pathlib import Path

from .errors import InputError
from .limits import MOST_LINE_BYTES, MOST_LINES_BYTES, MOST_TEXT_BYTES
from .regular_file import read_bytes, regular_file


def read_text(path: Path, most: int = MOST_TEXT_BYTES) -> str:
    """The file's text, `most` bytes at most; `InputError`."""
    data = read_bytes(path, most)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"not UTF-8 at byte {error.start}; expected text", line) from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line, one at a time; `InputError`."""
    with regular_file(path, MOST_LINES_BYTES) as file:
        number = 0
        while line := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(line) > MOST_LINE_BYTES:
                raise InputError(path, f"a line of more than {MOST_LINE_BYTES:,} bytes", number)
            try:
                yield number, line.decode()
            except UnicodeDecodeError as error:
                problem = f"not UTF-8 at byte {error.start} of the line; expected text"
                raise InputError(path, problem, number) from error
