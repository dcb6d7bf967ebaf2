"""Other threads: their forward passes are not offloaded and say so; their backward passes work."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from flashtrain.host import Device
from flashtrain.torch import OffloadActivations, save_on_flash


def network(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))


X = torch.linspace(-1, 1, 64 * 64).reshape(64, 64)


def gradients(model: nn.Module, loss: Tensor) -> list[Tensor]:
    loss.backward()
    return [p.grad for p in model.parameters() if p.grad is not None]


def expected(seed: int = 0) -> list[Tensor]:
    model = network(seed)
    return gradients(model, model(X).square().sum())


def test_a_forward_pass_in_another_thread_is_named(device: Device):
    model = network()
    with ThreadPoolExecutor(1, "loader") as pool, save_on_flash(device) as activations:
        with pytest.warns(RuntimeWarning, match="module 'Sequential' was called in thread 'loader_0'"):
            loss = pool.submit(lambda: model(X).square().sum()).result()
        pool.submit(lambda: model(X)).result()  # once
    assert all(map(torch.equal, gradients(model, loss), expected()))
    report = activations.report()
    assert report.elsewhere == {"Sequential": "loader_0"} and report.total.tensors == 0
    assert "not offloaded, called in other threads: 'Sequential' in 'loader_0'" in str(report)


@pytest.mark.parametrize("kind", ["without gradients", "of frozen parameters", "with hooks of its own"])
def test_forward_passes_that_are_no_concern(device: Device, kind: str):
    model = network().requires_grad_(kind != "of frozen parameters")

    def run() -> None:
        if kind == "with hooks of its own":
            with torch.autograd.graph.save_on_cpu():
                model(X)
        else:
            with torch.set_grad_enabled(kind != "without gradients"):
                model(X)

    with warnings.catch_warnings(), ThreadPoolExecutor(1) as pool, save_on_flash(device) as activations:
        warnings.simplefilter("error")
        pool.submit(run).result()
    assert not activations.report().elsewhere


def test_backward_passes_in_several_threads(device: Device):
    models = [network(seed) for seed in range(4)]
    with OffloadActivations(device, memory_bytes=1 << 18) as activations:
        losses = [model(X).square().sum() for model in models]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(gradients, models, losses))
    for seed, own in enumerate(found):
        assert all(map(torch.equal, own, expected(seed)))
    assert activations.report().total.read_bytes > 0
