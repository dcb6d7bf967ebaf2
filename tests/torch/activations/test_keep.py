"""`keep`: what stays in memory, as a context, a decorator, and a mark of a module."""

import copy

import torch
from torch import nn

from flashtrain.torch import OffloadActivations, keep, save_on_flash

from .networks import mlp, same, trained, vectors_step
from .saving import Saved


def test_context(device):
    with save_on_flash(device) as activations:
        with keep():
            with keep():
                first = Saved(torch.ones(2000))
            second = Saved(torch.ones(3000))
        third = Saved(torch.ones(4000))
    report = activations.report()
    assert (report.kept, report.total.offloaded_bytes) == ({"by keep": 20_000}, 16_000)
    assert report.live_bytes == 20_000
    assert all(saved.restore()[0].all() for saved in (first, second, third))


def test_decorator(device):
    @keep()
    def save() -> Saved:
        return Saved(torch.ones(2000))

    with save_on_flash(device) as activations:
        saved = save()
        Saved(torch.ones(2000))
    assert activations.report().kept == {"by keep": 8000} and saved is not None


def test_module(device):
    """All that is saved in its forward pass, also by modules within, and in copies of it."""
    step = vectors_step()
    network = nn.Sequential(
        mlp(layers=2), keep(nn.Sequential(nn.Linear(10, 50), nn.GELU(), nn.Linear(50, 10)))
    )
    network = copy.deepcopy(network)
    activations = OffloadActivations(device, memory_bytes=0, min_bytes=0)
    assert same(trained(network, step, lambda: activations), trained(network, step))
    modules = activations.report().modules
    kept = {name for name, traffic in modules.items() if traffic.kept_bytes}
    assert kept == {"1.0", "1.1", "1.2"}
    assert all(traffic.offloaded_bytes == 0 for name, traffic in modules.items() if name in kept)


def test_an_exception_ends_the_context(device):
    with save_on_flash(device) as activations:
        try:
            with keep():
                raise KeyError
        except KeyError:
            pass
        saved = Saved(torch.ones(2000))
    assert activations.report().kept == {} and saved.restore()[0].all()
