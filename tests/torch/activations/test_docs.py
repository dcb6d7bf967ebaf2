"""docs/pytorch.md: its examples run and print what stands there, its options, fields and exceptions exist."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import flashtrain.torch
from flashtrain.torch import ActivationError, ActivationReport, ModuleTraffic, OffloadActivations

PAGE = (Path(__file__).parents[3] / "docs" / "pytorch.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def names(heading: str) -> list[str]:
    """Of the first column of a table."""
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_first_example(capsys):
    (recorded,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert re.findall(r"# (\d)$", EXAMPLES[0], re.MULTILINE) == list("12345")
    exec(EXAMPLES[0], {})
    assert capsys.readouterr().out == recorded


def test_other_examples():
    assert len(EXAMPLES) == 3
    for example in EXAMPLES[1:]:
        exec(example, {})


def test_options():
    assert (
        names("Options of OffloadActivations") == list(inspect.signature(OffloadActivations).parameters)[1:]
    )


def test_fields():
    for name in names("The report"):
        assert name in {field.name for field in fields(ActivationReport)} or name in ("total", "ratio")
    for field in fields(ModuleTraffic):
        assert f"`{field.name}`" in PAGE


def test_exceptions():
    listed = {getattr(flashtrain.torch, name) for name in names("Errors")}
    assert listed == set(ActivationError.__subclasses__())
