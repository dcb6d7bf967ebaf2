"""docs/pytorch-distributed.md: its example runs, is killed, and goes on."""

import re
from pathlib import Path

from flashtrain import checkpoint, host, torch
from flashtrain.training import errors
from tests.torch.ranks.pool import run

PAGE = (Path(__file__).parents[3] / "docs" / "pytorch-distributed.md").read_text(encoding="utf-8")


def example(rank, count, folder, steps):
    """The losses that the example prints, and its weights."""
    scope, said = {"__name__": "example"}, []
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], scope)
    scope["STEPS"] = steps
    weights = scope["train"](f"{folder}/{{rank}}.img", said.append)
    return said, [weight.tolist() for weight in weights]


def test_example(tmp_path):
    (tmp_path / "whole").mkdir()
    whole = run(2, example, str(tmp_path / "whole"), 6)
    parts = [run(2, example, str(tmp_path), steps) for steps in (4, 6)]
    assert [line[:6] for line in whole[0][0]] == [f"step {number}" for number in range(1, 7)]
    assert whole[0][0] == parts[0][0][0] + parts[1][0][0] and len(parts[0][0][0]) == 4
    assert whole[0][1] == whole[1][1] == parts[1][0][1]


def test_exceptions():
    table = PAGE.partition("## Errors\n")[2].partition("\n\n`RankError`")[0]
    names = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.M)))
    assert len(names) == 7
    assert all(any(hasattr(module, name) for module in (host, torch, errors, checkpoint)) for name in names)
