"""Networks of PyTorch trained side by side: one with an optimizer on dies, one with PyTorch's own."""

import copy
from collections.abc import Iterable
from itertools import pairwise

import torch
from torch import Tensor, nn


def network(sizes=(30, 20, 5), dtype=torch.float32) -> nn.Sequential:
    """A small perceptron; its numbers are those of torch's present seed."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.Tanh()]
    return nn.Sequential(*layers).to(dtype)


def two(model: nn.Module) -> tuple[nn.Module, nn.Module]:
    """The model, and a copy of it."""
    return model, copy.deepcopy(model)


def give_gradients(models: Iterable[nn.Module], scale: float = 1.0) -> None:
    """Equal random gradients for the parameters of all models that require one."""
    models = list(models)
    for own in zip(*(model.parameters() for model in models), strict=True):
        gradient = scale * torch.randn(own[0].shape)
        for parameter in own:
            parameter.grad = gradient.to(parameter.dtype, copy=True) if parameter.requires_grad else None


def same(one: Iterable[Tensor], other: Iterable[Tensor]) -> None:
    """Equal in every bit."""
    for a, b in zip(one, other, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert bits(a) == bits(b)


def bits(tensor: Tensor) -> bytes:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def same_state(one: torch.optim.Optimizer, other: torch.optim.Optimizer) -> None:
    """Equal state, step by step and bit by bit."""
    ours, theirs = (optimizer.state_dict()["state"] for optimizer in (one, other))
    theirs = {i: {k: v for k, v in entry.items() if v is not None} for i, entry in theirs.items()}
    assert ours.keys() == {i for i, entry in theirs.items() if entry}
    for i in ours:
        assert ours[i].keys() == theirs[i].keys()
        same(ours[i].values(), theirs[i].values())
