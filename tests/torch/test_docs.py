"""docs/pytorch-optimizers.md: its example runs, its exceptions and arguments exist."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from flashtrain import host, numerics
from flashtrain.torch import SGD, AdamW
from flashtrain.training import errors

PAGE = (Path(__file__).parents[2] / "docs" / "pytorch-optimizers.md").read_text()


def names(heading):
    """Of the first column of a table."""
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)]


EXAMPLE, TWO_OPTIMIZERS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_example(capsys):
    exec(EXAMPLE, {})
    assert re.fullmatch(r"8 0\.\d+\n", capsys.readouterr().out)


def test_two_optimizers():
    """On one device, beside PyTorch's own."""
    scope = {}
    exec(TWO_OPTIMIZERS, scope)
    torch.manual_seed(1)
    body, head = nn.Linear(30, 20), nn.Linear(20, 3)
    x, y = torch.randn(8, 30), torch.arange(8) % 3
    theirs = (
        torch.optim.AdamW(body.parameters(), lr=1e-2),
        torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9),
    )
    for _ in range(3):
        nn.functional.cross_entropy(head(body(x).tanh()), y).backward()
        for optimizer in theirs:
            optimizer.step()
            optimizer.zero_grad()
    for ours, other in ((scope["body"], body), (scope["head"], head)):
        torch.testing.assert_close(ours.state_dict(), other.state_dict())


def test_exceptions():
    assert len(names("Errors")) == 12
    for name in names("Errors"):
        assert any(hasattr(module, name) for module in (host, numerics, errors)), name


@pytest.mark.parametrize("kind", [SGD, AdamW])
def test_arguments(kind):
    own = inspect.signature(kind).parameters
    assert len(names("Arguments")) == 8
    for name in names("Arguments"):
        assert own[name].kind is inspect.Parameter.KEYWORD_ONLY


def test_arguments_of_pytorch_come_first():
    for kind in (SGD, AdamW):
        theirs = inspect.signature(getattr(torch.optim, kind.__name__)).parameters
        own = inspect.signature(kind).parameters
        shared = [name for name in own if name in theirs]
        assert set(shared) == set(theirs)
        positional = [n for n in theirs if theirs[n].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        assert list(own)[: len(positional)] == positional
        assert all(own[name].default == theirs[name].default for name in theirs)
