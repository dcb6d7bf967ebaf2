"""Texts are UTF-8 under any locale: every file of text is opened with an encoding.

Ruff's PLW1514 sees `open` and `Path(...)`; methods of paths in variables are found here.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("hw", "sim", "sw", "tests", "examples")
ARGUMENTS = {"read_text": 0, "write_text": 1}
"""Methods of a path, and their arguments before the encoding."""


def unnamed(source: str) -> list[int]:
    """The lines with a call that takes the encoding of the locale."""
    return [
        call.lineno
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and len(call.args) == ARGUMENTS.get(call.func.attr)
        and "encoding" not in [keyword.arg for keyword in call.keywords]
    ]


def test_every_text_has_an_encoding():
    assert unnamed('a.read_text()\nb.write_text("")\nc.read_text(encoding="utf-8")') == [1, 2]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in unnamed(path.read_text(encoding="utf-8"))
    ]
    assert found == []
