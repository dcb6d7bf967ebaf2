"""The limits in docs/security.md are those of the code.

A row of a table whose last cell is a constant in backquotes, such as `nvme.target.settings:Settings.queues`,
has its number in the cell before: a count, or a count with one of `UNITS`.
"""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
ROW = re.compile(r"^\|.*\| *([^|]+?) *\| *`([\w.]+):([\w.]+)` *\|$", re.MULTILINE)
UNITS = {
    "": 1, "s": 1, "ms": 1e-3, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    "bytes": 1, "characters": 1, "lines": 1,
}  # fmt: skip


def number_of(cell: str) -> float:
    """The number in a cell, in bytes, seconds or pieces."""
    count, _, unit = cell.partition(" ")
    return float(count.replace(",", "")) * UNITS[unit]


def test_each_number_is_that_of_the_code():
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    for cell, module, name in rows:
        value = reduce(getattr, name.split("."), import_module(f"flashtrain.{module}"))
        assert number_of(cell) == value, f"{module}:{name} is {value}; the page has {cell}"
