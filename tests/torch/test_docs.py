"""docs/pytorch-optimizers.md: its example runs, its exceptions and arguments exist."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from flashtrain import host, numerics
from flashtrain.torch import SGD, Adam, AdamW, AdamWScheduleFree, Lion, Muon, ResumableSampler
from flashtrain.training import errors
from tests.torch.authors_schedule_free import AuthorsScheduleFree

PAGE = (Path(__file__).parents[2] / "docs" / "pytorch-optimizers.md").read_text(encoding="utf-8")


def names(heading):
    """Of the first column of a table."""
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)]


EXAMPLE, MUON, OVERLAP, TWO_OPTIMIZERS, ACCELERATE, LIGHTNING = re.findall(
    r"```python\n(.*?)```", PAGE, re.DOTALL
)


def test_example(capsys):
    exec(EXAMPLE, {})
    assert re.fullmatch(r"8 0\.\d+\n", capsys.readouterr().out)


def test_muon():
    """The network as PyTorch's own two optimizers train it."""
    scope = {}
    exec(MUON, scope)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(30, 20), nn.Tanh(), nn.Linear(20, 3))
    x, y = torch.randn(8, 30), torch.arange(8) % 3
    optimizers = [
        torch.optim.Muon([model[0].weight, model[2].weight], lr=0.02),
        torch.optim.AdamW([model[0].bias, model[2].bias], lr=3e-3, weight_decay=0.1),
    ]
    for _ in range(3):
        model.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        for optimizer in optimizers:
            optimizer.step()
    torch.testing.assert_close(scope["model"].state_dict(), model.state_dict(), rtol=1e-5, atol=1e-6)


def test_schedule_free(capsys):
    """The network as the authors' code trains it."""
    scope = {}
    page = Path(__file__).parents[2] / "docs" / "schedule-free.md"
    (example,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    exec(example, scope)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(30, 20), nn.Tanh(), nn.Linear(20, 3))
    x, y = torch.randn(8, 30), torch.arange(8) % 3
    optimizer = AuthorsScheduleFree(model.parameters(), lr=0.01, warmup_steps=2)
    optimizer.train()
    for _ in range(5):
        model.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    optimizer.eval()
    torch.testing.assert_close(scope["model"].state_dict(), model.state_dict(), rtol=1e-4, atol=1e-6)
    assert float(capsys.readouterr().out) < 1


def test_overlap(capsys):
    exec(OVERLAP, {})
    printed = capsys.readouterr().out
    assert f"It prints `{printed.strip()}`" in PAGE


def trained() -> nn.Module:
    """The same training without flash: one epoch in BF16, with clipped gradients."""
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(64, 30), torch.arange(64) % 3)
    model = nn.Sequential(nn.Linear(30, 20), nn.Tanh(), nn.Linear(20, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for x, y in DataLoader(data, 8, sampler=ResumableSampler(data, seed=1)):
        with torch.autocast("cpu", torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        optimizer.zero_grad()
    return model


@pytest.mark.parametrize(
    ("package", "example", "of"),
    [("accelerate", ACCELERATE, lambda model: model), ("lightning", LIGHTNING, lambda model: model.net)],
)
@pytest.mark.filterwarnings("ignore")
def test_trainers(package, example, of):
    """Beside a plain loop."""
    pytest.importorskip(package)
    scope = {"__name__": "example"}
    exec(example, scope)
    ours, theirs = of(scope["model"]).state_dict(), trained().state_dict()
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert scope["sampler"].position in (0, 64)


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
    assert len(names("Errors")) == 13
    for name in names("Errors"):
        assert any(hasattr(module, name) for module in (host, numerics, errors)), name


@pytest.mark.parametrize("kind", [SGD, Adam, AdamW, AdamWScheduleFree, Lion, Muon])
def test_arguments(kind):
    own = inspect.signature(kind).parameters
    assert len(names("Arguments")) == 15
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
