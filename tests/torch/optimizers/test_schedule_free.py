"""`AdamWScheduleFree` beside its authors' code: steps, averages for evaluation, dictionaries, recovery."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from flashtrain.host import open_device
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamWScheduleFree, Rounding
from flashtrain.training import optimizers as reference
from flashtrain.training.errors import ParameterError
from tests.torch.authors_schedule_free import AuthorsScheduleFree
from tests.torch.compare import bits, give_gradients, network, same, same_state, two
from tests.training.optimizers.test_torch import weight_units

OPTIONS = {
    "defaults": {},
    "all": {
        "lr": 0.01, "betas": (0.95, 0.99), "eps": 1e-6, "weight_decay": 0.1, "warmup_steps": 3, "r": 0.5,
        "weight_lr_power": 1.5,
    },
}  # fmt: skip


def both(device, models, **options):
    ours = AdamWScheduleFree(models[0].parameters(), device=device, **options)
    theirs = AuthorsScheduleFree(models[1].parameters(), **options)
    for optimizer in (ours, theirs):
        optimizer.train()
    return ours, theirs


def step(models, *optimizers, scale=1.0):
    give_gradients(models, scale)
    for optimizer in optimizers:
        optimizer.step()


def numbers(model):
    return torch.cat([p.detach().float().reshape(-1) for p in model.parameters()]).numpy()


def near(start, one, other, units):
    """Equal but for some units of the larger of a first and the present number, or of a step of 0.01."""
    far = weight_units(np.maximum(np.abs(start), 0.01), numbers(one), numbers(other))
    assert far.max() <= units, far.max()


def options_of(optimizer):
    return {k: v for k, v in optimizer.param_groups[0].items() if k not in ("params", "foreach")}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_steps_and_averages_of_the_authors_code(device, fused_kernels, options):
    """The second moments and all options are equal, also after a change of the learning rate and modes."""
    models = two(network())
    start = numbers(models[0])
    optimizers = both(device, models, **options)
    for number in range(8):
        if number == 4:
            for optimizer in optimizers:
                optimizer.param_groups[0]["lr"] *= 3
        step(models, *optimizers)
        near(start, *models, units=16)
        for own, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
            ours, theirs = optimizers[0].state[own], optimizers[1].state[other]
            assert ours.keys() == theirs.keys()
            same([ours["exp_avg_sq"]], [theirs["exp_avg_sq"]])
        assert options_of(optimizers[0]) == options_of(optimizers[1])
        trained = [bits(p) for p in models[0].parameters()]
        for optimizer in optimizers:
            optimizer.eval()
        near(start, *models, units=64)
        assert trained != [bits(p) for p in models[0].parameters()] or number == 0
        for optimizer in optimizers:
            optimizer.train()
        assert trained == [bits(p) for p in models[0].parameters()]
    assert optimizers[0].stores == 1


def test_averages_are_those_of_pytorch(device, fused_kernels):
    """Of the same y and z `torch.lerp` gives the same bits; so does a copy in 16 bits."""
    for dtype in (torch.float32, torch.bfloat16):
        model = network(dtype=dtype)
        optimizer = AdamWScheduleFree(model.parameters(), 0.01, betas=(0.8, 0.99), device=device)
        optimizer.train()
        for _ in range(3):
            step([model], optimizer)
        expected = []
        for p in model.parameters():
            entry = optimizer.state[p]
            y = entry.get("master_weight", p.detach().float())
            expected.append(y.lerp(entry["z"], 1 - 1 / 0.8).to(dtype))
        optimizer.eval()
        same([p.detach() for p in model.parameters()], expected)


@pytest.mark.parametrize("stored", [{}, {"state_dtype": torch.bfloat16, "rounding": Rounding.STOCHASTIC}])
def test_bits_of_the_reference(device, stored):
    """z begins at the weights; a parameter that has its first gradient later shares the group's average."""
    model = network()
    w = model[0].weight.detach().numpy().copy()
    late = model[2].bias
    optimizer = AdamWScheduleFree(model.parameters(), 0.01, weight_decay=0.1, device=device, **stored)
    numpy = reference.AdamWScheduleFree(0.01, weight_decay=0.1)
    optimizer.train()
    state, first = numpy.initial_state(w), late.detach().numpy().copy()
    for t in (1, 2, 3):
        give_gradients([model])
        late.grad = late.grad if t == 3 else None
        gradients = [p.grad.numpy().copy() for p in (model[0].weight, late) if p.grad is not None]
        optimizer.step()
        if not stored:
            w, state = numpy.step(w, gradients[0], state, t)
            assert np.array_equal(model[0].weight.detach(), w)
            entry = optimizer.state[model[0].weight]
            assert np.array_equal(entry["z"], state["m"]) and np.array_equal(entry["exp_avg_sq"], state["v"])
            assert bool(optimizer.state[late]) == (t == 3)
    begun, _ = numpy.step(first, gradients[1], numpy.initial_state(first), 3)
    if not stored:
        assert np.array_equal(late.detach(), begun)
    else:
        assert {one["z"].dtype for one in optimizer.state.values()} == {torch.bfloat16}


def test_steps_in_eval_mode_are_refused(device):
    model = network()
    optimizer = AdamWScheduleFree(model.parameters(), device=device)
    give_gradients([model])
    with pytest.raises(ParameterError, match=r"the parameters hold averages.*expected train\(\)"):
        optimizer.step()
    optimizer.train()
    optimizer.step()
    optimizer.eval()
    with pytest.raises(ParameterError, match="the parameters hold averages"):
        optimizer.step()
    optimizer.train()
    optimizer.add_param_group({"params": nn.Linear(2, 2).parameters()})  # in train mode, as the others
    optimizer.step()
    assert optimizer.stores == 1 and [group["k"] for group in optimizer.param_groups] == [2, 1]
    with pytest.raises(ParameterError, match="group 0 has foreach=True"):
        AdamWScheduleFree(model.parameters(), foreach=True, device=device)


def test_steps_that_are_skipped_do_not_count(device):
    model = network()
    optimizer = AdamWScheduleFree(model.parameters(), device=device)
    optimizer.train()
    step([model], optimizer)
    before = options_of(optimizer), [bits(p) for p in model.parameters()]
    give_gradients([model])
    model[0].bias.grad[0] = torch.inf
    with pytest.warns(RuntimeWarning, match="skipped a step"):
        optimizer.step()
    optimizer.zero_grad()
    optimizer.step()  # without gradients
    assert (options_of(optimizer), [bits(p) for p in model.parameters()]) == before


@pytest.mark.parametrize("how", ["train", "eval", "before"])
def test_weights_that_somebody_else_has_written(device, fused_kernels, how):
    """Written as y, as x, or before the first step: then z begins there."""
    models = two(network())
    start = numbers(models[0])
    optimizers = both(device, models, lr=0.01)
    for _ in range(0 if how == "before" else 3):
        step(models, *optimizers)
    if how == "eval":
        for optimizer in optimizers:
            optimizer.eval()
    for model in models:
        model[0].weight.data.mul_(0.5)
    if how == "train":
        for optimizer in optimizers:  # what was written does not get lost
            optimizer.eval()
            optimizer.train()
    if how == "eval":
        for optimizer in optimizers:
            optimizer.train()
    for _ in range(2):
        step(models, *optimizers)
        near(start, *models, units=64)
    for own, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        z = [optimizer.state[p]["z"].numpy() for optimizer, p in zip(optimizers, (own, other), strict=True)]
        assert weight_units(np.maximum(np.abs(z[0]), 0.01), *z).max() <= 64
    assert optimizers[0].stores == 2


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("start", ["dies", "authors"])
def test_dictionaries_go_both_ways(device, fused_kernels, start, mode):
    """Weights by the model's dictionary, which may be loaded before or after in eval mode."""
    models = two(network())
    begin = numbers(models[0])
    ours, theirs = both(device, models, lr=0.01, weight_decay=0.1)
    first, second = (0, 1) if start == "dies" else (1, 0)
    optimizers = [ours, theirs]
    for _ in range(3):
        step([models[first]], optimizers[first])
    if mode == "eval":
        optimizers[first].eval()
    saved = copy.deepcopy(optimizers[first].state_dict())
    optimizers[second].eval()
    if mode == "train" or start == "dies":
        models[second].load_state_dict(models[first].state_dict())
        optimizers[second].load_state_dict(saved)
    else:
        optimizers[second].load_state_dict(saved)
        models[second].load_state_dict(models[first].state_dict())
    same(models[0].parameters(), models[1].parameters())
    if mode == "train" or start == "authors":
        same_state(ours, theirs)
    for optimizer in optimizers:
        optimizer.train()
    near(begin, *models, units=4)
    for _ in range(2):
        step(models, ours, theirs)
        near(begin, *models, units=64)
    assert options_of(ours) == options_of(theirs)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_dictionaries_of_16_bit_parameters_have_the_weights(device, mode):
    """A run goes on with the same bits, whichever mode it was saved in."""
    model = network(dtype=torch.bfloat16)
    ours = AdamWScheduleFree(model.parameters(), 0.01, device=device)
    ours.train()
    for _ in range(2):
        step([model], ours)
    getattr(ours, mode)()
    saved, weights = ours.state_dict(), copy.deepcopy(model.state_dict())
    again = network(dtype=torch.bfloat16)
    with open_device("tiny", node=UPDATE_NODE) as other:
        resumed = AdamWScheduleFree(again.parameters(), device=other)
        resumed.load_state_dict(saved)
        same(again.parameters(), weights.values())
        for optimizer in (ours, resumed):
            optimizer.train()
        for _ in range(2):
            step([model, again], ours, resumed)
            same(model.parameters(), again.parameters())
            same_state(ours, resumed)
        assert options_of(ours) == options_of(resumed)


def test_dictionaries_without_z_are_refused(device):
    model = network()
    optimizer = AdamWScheduleFree(model.parameters(), device=device)
    optimizer.train()
    step([model], optimizer)
    saved = optimizer.state_dict()
    del saved["state"][0]["z"]
    with pytest.raises(ParameterError, match="state of parameter 0 of group 0 has no z"):
        optimizer.load_state_dict(saved)
    saved = optimizer.state_dict()
    del saved["param_groups"][0]["weight_sum"]
    with pytest.raises(ParameterError, match="has no weight_sum"):
        optimizer.load_state_dict(saved)


def recovered(device, model, **options):
    device.link.power_cycle()
    device.recover()
    return AdamWScheduleFree(model.parameters(), 0.01, device=device, recovered=True, **options)


@pytest.mark.parametrize("options", [{}, {"state_dtype": torch.bfloat16, "weight_dtype": torch.bfloat16}])
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_goes_on_after_a_loss_of_power(device, mode, options):
    """With the average of the last commit, without `resume`, and in train mode."""
    models = two(network())
    with open_device("tiny", node=UPDATE_NODE) as other:
        uncut = AdamWScheduleFree(models[1].parameters(), 0.01, device=other, **options)
        ours = AdamWScheduleFree(models[0].parameters(), 0.01, device=device, **options)
        ours = recovered(device, models[0], **options)  # before the first step
        for optimizer in (ours, uncut):
            optimizer.train()
        for _ in range(2):
            step(models, ours, uncut)
        getattr(ours, mode)()
        models = network(), models[1]
        ours = recovered(device, models[0], **options)
        same(models[0].parameters(), models[1].parameters())
        assert options_of(ours) == options_of(uncut)
        ours.eval()
        ours.param_groups[0]["lr"] = 0.5
        assert ours.resume() and options_of(ours) == options_of(uncut) | {"train_mode": False}
        ours.train()
        step(models, ours, uncut)
        same(models[0].parameters(), models[1].parameters())
        same_state(ours, uncut)
        assert ours.stores == 0


def test_a_loaded_state_without_a_step_since_is_not_recovered(device):
    """No commit has recorded its average."""
    model = network()
    ours = AdamWScheduleFree(model.parameters(), 0.01, device=device)
    ours.train()
    step([model], ours)
    ours.load_state_dict(ours.state_dict())
    with pytest.raises(ParameterError, match="loaded from a dictionary, and no step since has recorded k"):
        recovered(device, model)
    ours = AdamWScheduleFree(model.parameters(), 0.01, device=device)
    ours.train()
    step([model], ours)
    assert recovered(device, model).param_groups[0]["k"] == 1


def test_pins_have_the_average_of_their_step(device):
    model = network()
    ours = AdamWScheduleFree(model.parameters(), 0.01, device=device)
    ours.train()
    for _ in range(2):
        step([model], ours)
    ours.eval()
    at, x = options_of(ours) | {"train_mode": True}, [bits(p) for p in model.parameters()]
    ours.pin("two")
    ours.train()
    step([model], ours)
    ours.restore("two")
    assert options_of(ours) == at
    ours.eval()
    assert [bits(p) for p in model.parameters()] == x


def test_overlap_and_clipping(device):
    """As steps that begin behind the backward pass, and as gradients that were clipped before."""
    models = [network(), *two(network())]
    models[0].load_state_dict(models[1].state_dict())
    x, y = torch.randn(8, 30), torch.randn(8, 5)
    with open_device("tiny", node=UPDATE_NODE) as second, open_device("tiny", node=UPDATE_NODE) as third:
        optimizers = [
            AdamWScheduleFree(models[0].parameters(), 0.01, device=device, max_norm=0.5, overlap=True),
            AdamWScheduleFree(models[1].parameters(), 0.01, device=second, max_norm=0.5),
            AdamWScheduleFree(models[2].parameters(), 0.01, device=third),
        ]
        for optimizer in optimizers:
            optimizer.train()
        for _ in range(4):
            for model, optimizer in zip(models, optimizers, strict=True):
                optimizer.zero_grad()
                ((model(x) - y) ** 2).mean().backward()
                if optimizer is optimizers[2]:
                    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
            same(models[0].parameters(), models[1].parameters())
        assert optimizers[0].overlaps.taken == 3
        start = numbers(models[1])
        near(start, models[1], models[2], units=64)


def test_the_authors_package_has_these_bits(fused_kernels):
    """If it is installed: `schedulefree` 1.4.1 on PyPI."""
    package = pytest.importorskip("schedulefree")
    for options in OPTIONS.values():
        models = two(network())
        ours = AuthorsScheduleFree(models[0].parameters(), **options)
        theirs = package.AdamWScheduleFree(models[1].parameters(), foreach=False, **options)
        for _ in range(5):
            for optimizer in (ours, theirs):
                optimizer.train()
            step(models, ours, theirs)
            same(models[0].parameters(), models[1].parameters())
            for optimizer in (ours, theirs):
                optimizer.eval()
            same(models[0].parameters(), models[1].parameters())
