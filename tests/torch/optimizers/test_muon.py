"""`Muon` on the dies beside PyTorch's own: the same bits after the same calls, also of its AdamW groups."""

import copy
import warnings
from random import Random

import numpy as np
import pytest
import torch
from torch import nn

from flashtrain.host import TensorGroup, open_device
from flashtrain.numerics import HyperparameterError
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamW, Muon
from flashtrain.training.errors import ParameterError
from flashtrain.training.optimizers import MovingMean
from tests.stress.powercut.test_functional_power import FailingLink, PowerFailed
from tests.torch.compare import bits, give_gradients, network, same
from tests.training.optimizers.test_torch import ulps

SHAPES = [(30, 20), (7, 33), (20, 20), (1, 9), (30, 1), (30, 20)]
"""Tall, wide, square, and no multiple of anything."""

OPTIONS = [
    {},
    {"lr": 0.02, "weight_decay": 0.0, "nesterov": False},
    {"lr": 0.02, "momentum": 0.6, "adjust_lr_fn": "match_rms_adamw"},
    {"lr": 0.1, "momentum": 0.0, "ns_steps": 3, "eps": 1e-3, "adjust_lr_fn": "original"},
    {"lr": 0.01, "ns_coefficients": (2.0, -1.5, 0.5), "weight_decay": 0.3},
]

pytestmark = pytest.mark.usefixtures("fused_kernels")


def matrices(dtype=torch.float32):
    return [nn.Parameter(torch.randn(shape).to(dtype)) for shape in SHAPES]


def give(*lists):
    for own in zip(*lists, strict=True):
        gradient = torch.randn(own[0].shape)
        for parameter in own:
            parameter.grad = gradient.to(parameter.dtype, copy=True)


def kept(optimizer, name="momentum_buffer"):
    """An array of state in the order of the parameters that have it."""
    state = optimizer.state_dict()["state"]
    return [state[number][name] for number in sorted(state) if name in state[number]]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_step_has_the_bits_of_pytorch(device, options):
    ours = matrices()
    theirs = copy.deepcopy(ours)
    optimizers = Muon(ours, device=device, **options), torch.optim.Muon(theirs, **options)
    for _ in range(3):
        give(ours, theirs)
        for optimizer in optimizers:
            optimizer.step()
        same(ours, theirs)
        same(kept(optimizers[0]), kept(optimizers[1]))
    assert optimizers[0].stores == 1


def groups_of(model):
    matrix = [p for p in model.parameters() if p.ndim == 2]
    return matrix, [p for p in model.parameters() if p.ndim != 2]


def mixed(model, device, **options):
    matrix, others = groups_of(model)
    adamw = {"params": others, "use_muon": False, "lr": 0.01, "weight_decay": 0.05}
    return Muon([{"params": matrix}, adamw], lr=0.02, device=device, **options)


def own_of_pytorch(model):
    matrix, others = groups_of(model)
    return torch.optim.Muon(matrix, lr=0.02), torch.optim.AdamW(others, lr=0.01, weight_decay=0.05)


def test_others_by_adamw_in_one_optimizer(device, exact_root):
    """With parameters that have no gradient in a step, a schedule, and another adjustment in the end."""
    model = network((30, 20, 20, 5))
    other = copy.deepcopy(model)
    optimizer, theirs = mixed(model, device), own_of_pytorch(other)
    for number in range(5):
        give_gradients([model, other])
        if number == 2:
            model[2].weight.grad = other[2].weight.grad = None
        if number == 3:
            optimizer.param_groups[0]["lr"] = theirs[0].param_groups[0]["lr"] = 0.005
        if number == 4:
            for one in (optimizer, theirs[0]):
                one.param_groups[0]["adjust_lr_fn"] = "match_rms_adamw"
        for one in (optimizer, *theirs):
            one.step()
        same(model.parameters(), other.parameters())
    entry, expected = optimizer.state[model[0].bias], theirs[1].state[other[0].bias]
    same([entry[name] for name in expected], expected.values())


def test_scaled_and_clipped_steps(device, exact_root):
    model = network()
    other = copy.deepcopy(model)
    optimizer, theirs = mixed(model, device, max_norm=0.5), own_of_pytorch(other)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for number in range(3):
        x = torch.randn(4, 30)
        for one in (model, other):
            one.zero_grad()
        scaler.scale(model(x).square().sum() * (float("nan") if number == 1 else 1.0)).backward()
        before = [bits(p) for p in model.parameters()], [bits(m) for m in kept(optimizer)]
        scaler.step(optimizer)
        scaler.update()
        if number == 1:
            assert optimizer.report.skipped
            after = [bits(p) for p in model.parameters()], [bits(m) for m in kept(optimizer)]
            assert after == before
            continue
        other(x).square().sum().backward()
        norm = torch.nn.utils.clip_grad_norm_(other.parameters(), 0.5)
        assert optimizer.report.norm == pytest.approx(float(norm), rel=1e-5) and norm > 0.5
        for one in theirs:
            one.step()
        # The norm of the dies differs in its last bits, and with it the clipped gradients.
        for a, b in zip(model.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-3)


def test_parameters_of_16_bits(device):
    """As PyTorch on float32 copies of the weights, rounded after each step."""
    ours = matrices(torch.bfloat16)
    exact = [nn.Parameter(p.detach().float()) for p in ours]
    optimizer, theirs = Muon(ours, device=device), torch.optim.Muon(exact)
    for _ in range(3):
        give(ours)
        for own, other in zip(ours, exact, strict=True):
            other.grad = own.grad.float()
        optimizer.step()
        theirs.step()
        same(ours, [p.bfloat16() for p in exact])
    same(kept(optimizer, "master_weight"), [p.detach() for p in exact])


def test_state_dictionaries_there_and_back(device):
    ours = matrices()
    theirs, third = copy.deepcopy(ours), copy.deepcopy(ours)
    optimizer, own = Muon(ours, device=device), torch.optim.Muon(theirs)
    give(ours, theirs)
    optimizer.step()
    own.step()
    optimizer.load_state_dict(own.state_dict())
    continued = torch.optim.Muon(third)
    for parameter, weights in zip(third, ours, strict=True):
        parameter.data.copy_(weights.data)
    continued.load_state_dict(optimizer.state_dict())
    for _ in range(2):
        give(ours, theirs, third)
        for one in (optimizer, own, continued):
            one.step()
        same(ours, theirs)
        same(ours, third)


def test_a_dictionary_of_both_groups(device):
    """A dictionary of groups goes to a new optimizer, whose next step has the same bits."""
    model = network()
    optimizer = mixed(model, device)
    give_gradients([model])
    optimizer.step()
    other = copy.deepcopy(model)
    with open_device("tiny", node=UPDATE_NODE) as second:
        loaded = mixed(other, second)
        loaded.load_state_dict(optimizer.state_dict())
        give_gradients([model, other])
        optimizer.step()
        loaded.step()
        same(model.parameters(), other.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_goes_on_after_a_loss_of_power(device, dtype):
    model = network(dtype=dtype)
    other = copy.deepcopy(model)
    with open_device("tiny", node=UPDATE_NODE) as second:
        uncut = mixed(other, second)
        optimizer = mixed(model, device)
        for _ in range(2):
            give_gradients([model, other])
            optimizer.step()
            uncut.step()
            device.link.power_cycle()
            device.recover()
            model = network(dtype=dtype)  # of other weights
            optimizer = mixed(model, device, recovered=True)
            assert optimizer.stores == 0 and optimizer.resume()
            same(model.parameters(), other.parameters())
            same(kept(optimizer), kept(uncut))


def test_power_cuts_within_a_step(seed):
    """Momentum and weights are both of before the step, or both of after it, wherever the power fails."""
    link = FailingLink(Random(seed), preset("tiny"))
    model = network()
    other = copy.deepcopy(model)
    seen = []
    with open_device(link=link, node=UPDATE_NODE) as first, open_device("tiny", node=UPDATE_NODE) as second:
        optimizer, uncut = mixed(model, first), mixed(other, second)
        give_gradients([model, other])
        optimizer.step()
        uncut.step()
        for commands in range(100):
            before = content(other, uncut)
            give_gradients([other])
            given = [p.grad for p in other.parameters()]
            uncut.step()
            after = content(other, uncut)
            link.left = commands
            is_cut = stepped_until_cut(model, optimizer, given)
            link.left = -1
            if not is_cut:
                assert content(model, optimizer) == after
                break
            link.power_cycle()
            first.recover()
            model = network()  # of other weights
            optimizer = mixed(model, first, recovered=True)
            found = content(model, optimizer)
            assert found in (before, after)
            seen.append(found == after)
            if found == before:
                assert not stepped_until_cut(model, optimizer, given)
                assert content(model, optimizer) == after
    assert 0 < sum(seen) < len(seen)
    print(f"{len(seen)} cuts: {sum(seen)} behind the commit")


def content(model, optimizer):
    """All weights and state."""
    state = [
        tensor for name in ("momentum_buffer", "exp_avg", "exp_avg_sq") for tensor in kept(optimizer, name)
    ]
    return [bits(tensor) for tensor in (*model.parameters(), *state)]


def stepped_until_cut(model, optimizer, gradients):
    """Take a step with these gradients; returns whether the power has failed."""
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        parameter.grad = gradient.clone()
    try:
        optimizer.step()
    except PowerFailed:
        return True
    return False


@pytest.mark.parametrize("momentum", [0.1, 0.3, 0.5])
def test_distance_of_a_small_momentum(momentum, seed):
    """In units of the larger of old mean and gradient, as docs/optimizers.md has it."""
    random = np.random.default_rng(seed)
    old, g = (random.standard_normal(100_000).astype(np.float32) for _ in range(2))
    theirs = torch.from_numpy(old).lerp(torch.from_numpy(g), 1 - momentum).numpy()
    ours, _ = MovingMean(momentum).step(old, g, {}, 1)
    units = np.spacing(np.maximum(np.abs(old), np.abs(g)))
    distance = np.abs(ours.astype(np.float64) - theirs) / units
    print(f"momentum {momentum}: {np.mean(distance == 0):.1%} equal, at most {distance.max():.2f} units")
    assert distance.max() <= 2


@pytest.mark.parametrize("momentum", [0.0, 0.51, 0.95])
def test_a_moving_mean_has_the_bits_of_lerp(momentum, seed):
    random = np.random.default_rng(seed)
    old, g = (random.standard_normal(10_003).astype(np.float32) for _ in range(2))
    theirs = torch.from_numpy(old).lerp(torch.from_numpy(g), 1 - momentum).numpy()
    assert ulps(MovingMean(momentum).step(old, g, {}, 1)[0], theirs).max() == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"momentum": 1.0}, HyperparameterError, "momentum is 1.0; expected 0 or more, below 1"),
        ({"lr": -1.0}, HyperparameterError, "learning_rate is -1.0"),
        ({"weight_decay": -1.0}, HyperparameterError, "weight_decay is -1.0"),
        ({"adjust_lr_fn": "other"}, HyperparameterError, "adjust_lr_fn is 'other'; expected one of None"),
        ({"ns_steps": 100}, HyperparameterError, "ns_steps is 100; expected an integer from 0 to 99"),
        ({"ns_coefficients": (1.0, 2.0)}, HyperparameterError, "ns_coefficients is .*; expected three"),
        ({"eps": -1.0}, HyperparameterError, "eps is -1.0; expected 0 or more"),
    ],
)
def test_options_that_are_refused(device, options, error, message):
    with pytest.raises(error, match=message):
        Muon(matrices(), device=device, **options)


def test_parameters_that_are_no_matrices(device):
    model = network()
    with pytest.raises(ParameterError, match=r"parameter 1 of group 0 is .*; expected a matrix, or a group"):
        Muon(model.parameters(), device=device)
    optimizer = mixed(model, device)
    give_gradients([model])
    optimizer.step()
    optimizer.param_groups[0]["use_muon"] = False
    optimizer.param_groups[0].update(betas=(0.9, 0.999))
    give_gradients([model])
    with pytest.raises(ParameterError, match=r"group 0 has .* on the dies, which adamw does not use"):
        optimizer.step()


def test_state_of_another_kind(device):
    model = network((30, 20))
    adamw = AdamW([model[0].weight], device=device)
    give_gradients([model])
    adamw.step()
    device.link.power_cycle()
    device.recover()
    with pytest.raises(ParameterError, match="group 0 has state of ADAMW on the dies; muon differs"):
        Muon([model[0].weight], device=device, recovered=True)


def test_a_group_holds_as_many_arrays_as_its_program():
    with pytest.raises(ConfigError, match=r"group\.holds is .*; expected 1 arrays of SGD"):
        TensorGroup(OptimizerCode.SGD, ((3,),), holds=(Input.W, Input.M))
    assert TensorGroup(OptimizerCode.SGD, ((3,),), holds=(Input.M,)).arrays == (Input.M,)


def test_formats(device):
    """BF16 gradients and copies for float32 weights: the momentum is that of the rounded gradients."""
    weights = nn.Parameter(torch.randn(12, 40))
    exact = copy.deepcopy(weights)
    optimizer = Muon(
        [weights], device=device, gradient_format=GradientFormat.BF16, copy_format=CopyFormat.BF16
    )
    theirs = torch.optim.Muon([exact])
    give([weights])
    exact.grad = weights.grad.bfloat16().float()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
    theirs.step()
    same([weights], [exact.detach().bfloat16().float()])
