"""Tensors that are changed in place after they were saved: an error where PyTorch has one, and only there."""

import pytest
import torch
from torch import nn

from flashtrain.torch import ActivationChanged, OffloadActivations, keep

from .saving import Saved


def alive(x: torch.Tensor) -> list:
    y = x.exp()
    loss = y.sum()
    with torch.no_grad():
        y.mul_(2)
    return [loss, y]


def dead(x: torch.Tensor) -> list:
    """The changed tensor has ended when the backward pass begins."""
    return alive(x)[:1]


def view(x: torch.Tensor) -> list:
    y = x.exp()
    loss = y.sum()
    with torch.no_grad():
        y[3:7].zero_()
    return [loss]


def saved_twice(x: torch.Tensor) -> list:
    y = x.exp()
    z = y.sin()
    with torch.no_grad():
        y.add_(1)
    return [(z + y.cos()).sum()]


def kept(x: torch.Tensor) -> list:
    with keep():
        return dead(x)


def parameter(x: torch.Tensor) -> list:
    weight = nn.Parameter(torch.ones(5000))
    loss = (x * weight).sum()
    with torch.no_grad():
        weight.add_(1)
    return [loss]


CHANGES = [alive, dead, view, saved_twice, kept, parameter]


@pytest.mark.parametrize("memory_bytes", [0, None])
@pytest.mark.parametrize("change", CHANGES)
def test_changes(device, change, memory_bytes):
    x = torch.randn(5000, requires_grad=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        change(x)[0].backward()
    with OffloadActivations(device, memory_bytes=memory_bytes):
        loss, *_ = change(x)
    with pytest.raises(
        ActivationChanged, match=r"by an inplace operation: .*float32\[5000\] of module .*version 1"
    ):
        loss.backward()


def test_new_content_of_a_storage(device):
    """Each saving counts as of its time; a change is no error if the backward pass needs later data only."""
    tensor = torch.randn(5000)
    with OffloadActivations(device, memory_bytes=0) as activations:
        before = Saved(tensor)
        tensor.add_(1)
        after = Saved(tensor)
    expected = tensor.clone()
    del tensor
    assert torch.equal(after.restore()[0], expected)
    with pytest.raises(ActivationChanged):
        before.restore()
    assert activations.report().total.tensors == 2


def test_views_with_counters_of_their_own(device):
    """A second chunk is changed after the first was saved with all of the storage."""
    with OffloadActivations(device, memory_bytes=0) as activations:
        first, second = torch.randn(2, 4000).unsafe_chunk(2)
        expected = [first.sigmoid()]
        saved = [Saved(first.sigmoid_())]
        expected.append(second.tanh())
        saved.append(Saved(second.tanh_()))
    del first, second
    for one, values in zip(saved, expected, strict=True):
        assert torch.equal(one.restore()[0], values)
    assert activations.report().total.tensors == 2


def test_counters_are_left_alone(device):
    tensor = torch.randn(4000)
    with OffloadActivations(device):
        saved = Saved(tensor, tensor[5:], tensor.view(2, 2000))
    assert tensor._version == 0
    saved.restore()
