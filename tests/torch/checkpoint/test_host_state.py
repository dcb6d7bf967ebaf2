"""Schedulers, loss scales, samplers and random numbers of PyTorch come back exactly."""

import pytest
import torch
from torch.optim import lr_scheduler as schedulers

from flashtrain.torch import ResumableSampler
from flashtrain.torch.checkpoint import Buffers, HostState, ScalerAfterStep, TorchRandom
from tests.torch.compare import bits

SCHEDULES = [
    lambda o: schedulers.LambdaLR(o, lambda n: 0.9**n),
    lambda o: schedulers.MultiplicativeLR(o, lambda n: 0.9),
    lambda o: schedulers.StepLR(o, 3),
    lambda o: schedulers.MultiStepLR(o, [2, 2, 5]),
    lambda o: schedulers.ConstantLR(o, 0.5, 4),
    lambda o: schedulers.LinearLR(o, 0.1, total_iters=7),
    lambda o: schedulers.ExponentialLR(o, 0.9),
    lambda o: schedulers.PolynomialLR(o, 9, 2.0),
    lambda o: schedulers.CosineAnnealingLR(o, 9),
    lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3),
    lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 3),
    lambda o: schedulers.OneCycleLR(o, 0.1, 20),
    lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o, 0.1, total_iters=3), schedulers.ExponentialLR(o, 0.9)], [3]
    ),
    lambda o: schedulers.ChainedScheduler([schedulers.LinearLR(o), schedulers.ExponentialLR(o, 0.9)], o),
    lambda o: schedulers.ReduceLROnPlateau(o, patience=1),
]


@pytest.mark.parametrize("make", SCHEDULES)
@pytest.mark.filterwarnings("ignore:The epoch parameter:UserWarning")
def test_schedulers(make):
    def optimizer():
        return torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.05, momentum=0.9)

    def step(optimizer, schedule):
        optimizer.step()
        schedule.step(*([1.0] if isinstance(schedule, schedulers.ReduceLROnPlateau) else []))
        group = optimizer.param_groups[0]
        return {name: value for name, value in group.items() if name != "params"}

    one, other = optimizer(), optimizer()
    schedule, another = make(one), make(other)
    for _ in range(4):
        step(one, schedule)
    raw = HostState(schedule=schedule).pack()
    other.load_state_dict(one.state_dict())
    HostState(schedule=another).restore(raw)
    for _ in range(8):
        assert step(one, schedule) == step(other, another)
    assert len(raw) < 1000


@pytest.mark.parametrize("state", ["module", "generator"])
def test_random_numbers(state):
    generator = torch.Generator().manual_seed(3) if state == "generator" else torch.default_generator
    host = HostState(random=TorchRandom(generator))

    def draw():
        return bits(torch.randn(5, generator=generator)), bits(torch.rand(3, generator=generator))

    for _ in range(4):
        draw()
        raw = host.pack()
        expected = draw()
        draw()
        host.restore(raw)
        assert draw() == expected
    assert len(raw) < 2700  # of 5,056 bytes


def test_sampler():
    one, other = (ResumableSampler(range(20), seed) for seed in (5, 6))
    order = one.batches(one, 1)
    begun = [next(order) for _ in range(7)]
    HostState(sampler=other).restore(HostState(sampler=one).pack())
    assert begun + list(other) == list(ResumableSampler(range(20), 5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_buffers(dtype):
    models = [torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)) for _ in range(2)]
    for model in models:
        model.register_buffer("passing", torch.ones(2), persistent=False)
        model.to(dtype)
    models[0](torch.randn(9, 3, dtype=dtype))
    HostState(buffers=Buffers(models[1])).restore(HostState(buffers=Buffers(models[0])).pack())
    one, other = (dict(model.named_buffers()) for model in models)
    assert [bits(value) for value in one.values()] == [bits(value) for value in other.values()]
    assert other["0.num_batches_tracked"] == 1 and other["0.running_mean"].any()


@pytest.mark.parametrize("scale", [1024.0, 1.7014e38, 0.1])
def test_the_scale_after_a_step(scale):
    """It is what the scaler's own update makes of it, also where the scale grows or cannot."""
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=0.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale, growth_interval=3, growth_factor=1.7)
    for _ in range(7):
        scaler.scale(torch.zeros(()))
        parameter.grad = torch.zeros(2)
        scaler.step(optimizer)
        raw = HostState(scaler=ScalerAfterStep(scaler)).pack()
        scaler.update()
        other = torch.amp.GradScaler("cpu")
        HostState(scaler=ScalerAfterStep(other)).restore(raw)
        other.scale(torch.zeros(()))
        assert other.state_dict() == scaler.state_dict()
    assert scaler.get_scale() != scale or scale > 1e38
    disabled = torch.amp.GradScaler("cpu", enabled=False)
    state = HostState(scaler=ScalerAfterStep(disabled))
    state.restore(state.pack())
