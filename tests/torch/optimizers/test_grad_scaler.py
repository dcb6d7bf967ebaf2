"""`torch.amp.GradScaler`: gradients are unscaled on the dies, which tell it of an overflow."""

import copy

import pytest
import torch
from torch import nn

from flashtrain.spec.optimizer import GradientFormat
from flashtrain.torch import SGD, Adam
from tests.torch.compare import bits, give_gradients, network, same, same_state, two


def scaler(**options):
    return torch.amp.GradScaler("cpu", **{"init_scale": 1024.0, "growth_interval": 2} | options)


@pytest.mark.filterwarnings("error")
def test_as_with_an_optimizer_of_pytorch(device, exact_root):
    """Scales, weights and state, with an infinite loss in between."""
    models = two(network())
    optimizers = (
        Adam(models[0].parameters(), lr=0.01, device=device),
        torch.optim.Adam(models[1].parameters(), lr=0.01, foreach=False),
    )
    scalers = scaler(), scaler()
    scales = []
    for number in range(7):
        x = torch.randn(4, 30)
        for model, optimizer, own in zip(models, optimizers, scalers, strict=True):
            optimizer.zero_grad()
            own.scale(model(x).square().mean() * (float("inf") if number == 2 else 1.0)).backward()
            own.step(optimizer)
            own.update()
        same(models[0].parameters(), models[1].parameters())
        same_state(*optimizers)
        assert optimizers[0].report.skipped == (number == 2)
        assert scalers[0].state_dict() == scalers[1].state_dict()
        scales.append(scalers[0].get_scale())
    assert scales == [1024, 2048, 1024, 1024, 2048, 2048, 4096]


def test_an_overflow_that_only_the_dies_find(device):
    """A gradient that FP16 does not have: the step is skipped, and the scale halved."""
    model = network()
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9, device=device,
                    gradient_format=GradientFormat.FP16)  # fmt: skip
    own = scaler()
    for number in range(3):
        before, state = copy.deepcopy(model), optimizer.state_dict()["state"]
        loss = own.scale(model(torch.randn(4, 30)).square().mean())
        optimizer.zero_grad()
        loss.backward()
        if number == 1:
            model[0].bias.grad[0] = 70_000.0
        own.step(optimizer)
        own.update()
        assert optimizer.report.skipped == (number == 1)
        if number == 1:
            assert optimizer.report.infinities == 1
            same(model.parameters(), before.parameters())
            after = optimizer.state_dict()["state"]
            assert [bits(after[i]["momentum_buffer"]) for i in after] == [
                bits(state[i]["momentum_buffer"]) for i in state
            ]
        assert own.get_scale() == (1024 if number == 0 else 512)


def test_unscaled_and_clipped_outside(device, exact_root):
    models = two(network())
    optimizers = (
        Adam(models[0].parameters(), lr=0.01, device=device),
        torch.optim.Adam(models[1].parameters(), lr=0.01, foreach=False),
    )
    scalers = scaler(), scaler()
    for number in range(4):
        give_gradients(models, 1024.0)
        for model, optimizer, own in zip(models, optimizers, scalers, strict=True):
            own.scale(torch.ones(()))  # makes the scale
            if number == 1:
                model[0].weight.grad[0, 0] = float("inf")
            own.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            own.step(optimizer)
            own.update()
        same(models[0].parameters(), models[1].parameters())
        assert scalers[0].get_scale() == scalers[1].get_scale()
    same_state(*optimizers)


def test_an_overflow_that_the_scaler_has_found_costs_no_command(device):
    model = network()
    optimizer = Adam(model.parameters(), device=device)
    own = scaler()
    own.scale(torch.ones(()))
    give_gradients([model])
    model[0].bias.grad[0] = float("nan")
    own.unscale_(optimizer)
    before = device.counters()
    own.step(optimizer)
    own.update()
    assert device.counters() == before
    assert optimizer.report is None
    assert own.get_scale() == 512


def test_a_scaler_without_gradients(device):
    model = network()
    optimizer, own = Adam(model.parameters(), device=device), scaler()
    own.scale(torch.ones(()))
    own.step(optimizer)
    own.update()
    assert own.get_scale() == 1024


def test_a_disabled_scaler(device):
    model = network()
    optimizer, own = SGD(model.parameters(), device=device), torch.amp.GradScaler("cpu", enabled=False)
    give_gradients([model])
    own.step(optimizer)
    own.update()
    assert not optimizer.report.skipped


def test_scheduler_and_scaler_together(device, exact_root):
    """A scheduler wraps `step`; the scaler still finds its argument."""
    model = network()
    optimizer, own = Adam(model.parameters(), lr=0.01, device=device), scaler()
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    give_gradients([model], 1024.0)
    own.scale(torch.ones(()))
    own.step(optimizer)
    own.update()
    schedule.step()
    assert optimizer.report.norm == pytest.approx(
        torch.stack([p.grad.norm() for p in model.parameters()]).norm().item() / 1024, rel=1e-5
    )


@pytest.mark.parametrize("overflow", ["none", "found", "on the dies"])
def test_scalers_that_set_grad_scale_and_found_inf(device, overflow):
    """The other way of PyTorch, which future versions are to take alone."""
    models = two(network())
    ours = SGD(models[0].parameters(), lr=0.1, device=device, gradient_format=GradientFormat.FP16)
    for p in models[0].parameters():
        p.grad = torch.full(p.shape, 8.0)
    if overflow == "on the dies":
        models[0][0].bias.grad[0] = 70_000.0
    ours.grad_scale = torch.tensor(4.0)
    ours.found_inf = torch.tensor(float(overflow == "found"))
    ours.step()
    moved = 0.0 if overflow != "none" else 0.1 * 2.0
    for p, q in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(p, q - moved)
    assert bool(ours.found_inf) == (overflow != "none")
