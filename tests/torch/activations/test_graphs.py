"""Graphs that are kept, used twice, nested, many, broken off or dropped."""

import gc
import weakref

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from flashtrain.host import FunctionalLink, open_device
from flashtrain.model import ModelLink
from flashtrain.torch import ActivationRefused, OffloadActivations, save_on_flash

from .networks import mlp, same, trained, vectors_step
from .saving import Saved


@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_retain_graph(device, memory_bytes):
    network, step = mlp(), vectors_step()
    activations = OffloadActivations(device, memory_bytes=memory_bytes)
    with activations:
        loss = step(network)
    first = torch.autograd.grad(loss, network.parameters(), retain_graph=True)
    second = torch.autograd.grad(loss, network.parameters(), retain_graph=True)
    third = torch.autograd.grad(loss, network.parameters())
    plain = torch.autograd.grad(step(network), network.parameters())
    assert same([*first, *second, *third], [*plain, *plain, *plain])
    report = activations.report()
    assert report.total.read_bytes > report.total.saved_bytes
    assert report.peak_bytes <= max(memory_bytes, 400_000)


@pytest.mark.parametrize("inside", [False, True])
def test_double_backward(device, inside):
    def second_gradient(around) -> list[torch.Tensor]:
        x = (torch.arange(4000.0) / 4000).requires_grad_()
        with around:
            y = (x.sin() * x.exp()).sum()
            if inside:
                (gradient,) = torch.autograd.grad(y, x, create_graph=True)
        if not inside:
            (gradient,) = torch.autograd.grad(y, x, create_graph=True)
        return [*torch.autograd.grad(gradient.pow(2).sum(), x)]

    activations = save_on_flash(device)
    assert same(second_gradient(activations), second_gradient(torch.enable_grad()))
    assert activations.report().total.read_bytes


class Checkpointed(nn.Module):
    def __init__(self, use_reentrant: bool) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            mlp() if part == 0 else nn.Sequential(nn.GELU(), nn.Linear(10, 10)) for part in range(3)
        )
        self.use_reentrant = use_reentrant

    def forward(self, x):
        x = x.clone().requires_grad_()
        for part in self.parts:
            x = checkpoint(part, x, use_reentrant=self.use_reentrant)
        return x


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoint(device, use_reentrant, inside):
    network, step = Checkpointed(use_reentrant), vectors_step()
    activations = OffloadActivations(device, memory_bytes=0)
    if inside:
        with activations:
            ours = trained(network, step)
    else:
        ours = trained(network, step, lambda: activations)
    assert same(ours, trained(network, step))
    assert activations.report().total.tensors


def test_two_graphs(device):
    network, steps = mlp(), [vectors_step(), vectors_step()]
    with OffloadActivations(device, memory_bytes=1 << 20) as activations:
        losses = [step(network) for step in steps]
        one_more = steps[0](network)
    ours = [torch.autograd.grad(loss, network.parameters()) for loss in (*losses, one_more)]
    plain = [torch.autograd.grad(step(network), network.parameters()) for step in (*steps, steps[0])]
    assert same([g for gradients in ours for g in gradients], [g for gradients in plain for g in gradients])
    assert activations.report().total.read_bytes


class Failing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.fails = mlp(), True

    def forward(self, x):
        x = self.body(x)
        if self.fails:
            raise KeyError("planned")
        return x


def test_exception_in_the_forward_pass(device):
    network, step = Failing(), vectors_step()
    activations = save_on_flash(device)
    with pytest.raises(KeyError, match="planned"):
        trained(network, step, lambda: activations)
    gc.collect()
    network.fails = False
    assert same(trained(network, step, lambda: activations), trained(network, step))
    assert all(name.startswith(("body", "(no module)")) for name in activations.report().modules)


class Catching(nn.Module):
    """Goes on after a part of it has raised."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Failing()

    def forward(self, x):
        try:
            return self.part(x)
        except KeyError:
            return x.exp()


def test_exception_that_a_module_catches(device):
    """A tensor that is saved afterwards is one of the module that has caught it."""
    with save_on_flash(device) as activations:
        Catching()(torch.randn(128, 64, requires_grad=True))
    assert activations.report().modules["Catching"].saved_bytes == 128 * 64 * 4


@pytest.mark.parametrize("link", [FunctionalLink, ModelLink])
def test_dropped_graphs_make_room(link):
    """Graphs without a backward pass: three times what the stream has room for.

    On the model Link their appends are still in flight when they end.
    """
    with open_device("tiny", link) as device:
        stream = device.stream("activations")
        room = stream.zones * stream.zone_capacity * stream.block_bytes
        step = room // 10
        with OffloadActivations(device):
            for _ in range(30):
                saved = Saved(torch.randint(0, 255, (step,), dtype=torch.uint8))
            assert stream.zones_reset
            expected = torch.randint(0, 255, (step,), dtype=torch.uint8)
            saved = Saved(expected.clone())
        device.wait()
        assert torch.equal(saved.restore()[0], expected)


def test_kept_graphs_fill_the_stream():
    with open_device("tiny") as device:
        stream = device.stream("activations")
        step = stream.zones * stream.zone_capacity * stream.block_bytes // 8
        kept = []
        with pytest.raises(ActivationRefused, match=r"saved/8, uint8.* of module .*'activations'.*room"):
            with save_on_flash(device):
                for number in range(9):
                    kept.append(Saved(torch.full((step,), number, dtype=torch.uint8)))
        assert [saved.restore()[0].unique().tolist() for saved in kept] == [[number] for number in range(8)]


def test_contexts_end(device):
    """Neither a graph nor the hooks keep a context alive."""
    activations = save_on_flash(device)
    with activations:
        saved = Saved(torch.randn(3000))
    gone = weakref.ref(activations)
    del activations
    saved.restore()
    del saved
    gc.collect()
    assert gone() is None
