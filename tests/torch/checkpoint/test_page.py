"""docs/pytorch-checkpoints.md: its examples run and print what stands there, its names exist."""

import re
from pathlib import Path

import pytest

from flashtrain import checkpoint, host
from flashtrain.torch import checkpoint as of_torch
from flashtrain.training import errors

PAGE = (Path(__file__).parents[3] / "docs" / "pytorch-checkpoints.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def first_column(heading):
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)", table, re.MULTILINE)


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")
def test_examples(capsys):
    recorded = ["the same to the last bit: True\n", *re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)]
    assert len(EXAMPLES) == len(recorded) == 2
    for example, expected in zip(EXAMPLES, recorded, strict=True):
        exec(example, {})
        assert capsys.readouterr().out == expected


def test_parts():
    parts = first_column("Go on after a loss of power")
    assert len(parts) == 6
    assert all(hasattr(of_torch, name) for name in parts if name != "ResumableSampler")


def test_exceptions():
    names = first_column("Errors")
    assert len(names) == 10
    assert all(any(hasattr(module, name) for module in (checkpoint, host, errors)) for name in names)
