"""TOML 1.0 of limited size, depth and digits."""

import re
import tomllib
from pathlib import Path
from typing import Any

from .errors import ContentError, InputError
from .json_text import finite
from .limits import INTEGERS, MOST_TOML_BYTES, MOST_TOML_DEPTH
from .text import read_text

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*"?'
    r"|'[^'\n]*'?"
    r"|\#[^\n]*"
    r"|[^]\s.\[{}\"'#,=]+"
    r"|[][{}.,=\n]",
    re.DOTALL,
)
"""A string, also one without an end, a comment, a word, or a mark; spaces lie between them."""


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file; `InputError` names the line of a mistake."""
    text = read_text(path, MOST_TOML_BYTES)
    try:
        return toml_value(text)
    except ContentError as error:
        raise InputError(path, f"not TOML: {error}") from error


def toml_value(text: str) -> dict[str, Any]:
    """The content of a text of limited length; `ContentError`."""
    _check_depth(text)
    try:
        content = tomllib.loads(text, parse_float=finite)
    except ContentError:
        raise
    except (ValueError, RecursionError) as error:
        raise ContentError(str(error)) from error
    _check_integers("", content)
    return content


def _check_depth(text: str) -> None:
    """Raise `ContentError` for deep nesting: `tomllib` takes the square of its time, or recurses."""
    depth = dots = 0
    for token in _TOKEN.findall(text):
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth = max(0, depth - 1)
        dots = dots + 1 if token == "." else 0 if token in "][{},=\n" else dots
        if max(depth, dots) > MOST_TOML_DEPTH:
            raise ContentError(f"nested too deep; expected at most {MOST_TOML_DEPTH} tables and lists")


def _check_integers(key: str, value: object) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_integers(f"{key}.{name}" if key else name, inner)
    elif isinstance(value, list):
        for inner in value:
            _check_integers(key, inner)
    elif isinstance(value, int) and value not in INTEGERS:
        raise ContentError(f"{key}: an integer of {value.bit_length()} bits; expected one of 64 bits")
