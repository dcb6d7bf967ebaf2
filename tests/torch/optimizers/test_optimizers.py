"""Optimizers on the dies beside PyTorch's own: the same bits after the same calls."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from flashtrain.host import ForeignGeneration, OverBudget, WearBudget, WearBudgetExceeded
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.torch import SGD, Adam, AdamW, Lion
from flashtrain.training.errors import ParameterError
from tests.torch.authors_lion import AuthorsLion
from tests.torch.compare import bits, give_gradients, network, same, same_state, two
from tests.training.optimizers.test_torch import histogram, weight_units

THEIRS = {SGD: torch.optim.SGD, Adam: torch.optim.Adam, AdamW: torch.optim.AdamW, Lion: AuthorsLion}
OPTIONS = [
    (SGD, {"lr": 0.1}),
    (SGD, {"lr": 0.1, "weight_decay": 0.01, "maximize": True}),
    (SGD, {"lr": 0.1, "momentum": 0.9}),
    (SGD, {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.01, "nesterov": True}),
    (Adam, {"lr": 0.01}),
    (Adam, {"lr": 0.01, "betas": (0.4, 0.99), "eps": 1e-6, "weight_decay": 0.1, "maximize": True}),
    (Adam, {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    (Lion, {"lr": 0.01}),
    (Lion, {"lr": 0.01, "betas": (0.95, 0.98), "weight_decay": 0.1, "maximize": True}),
]


def both(kind, device, params, **options):
    """Ours for the first parameters, PyTorch's for the second."""
    return kind(params[0], device=device, **options), THEIRS[kind](params[1], foreach=False, **options)


def pair(kind, device, model=None, **options):
    """Two equal networks and their optimizers."""
    models = two(network() if model is None else model)
    return models, both(kind, device, [m.parameters() for m in models], **options)


def step(models, optimizers):
    give_gradients(models)
    for optimizer in optimizers:
        optimizer.step()


@pytest.mark.parametrize(("kind", "options"), OPTIONS, ids=lambda value: getattr(value, "__name__", None))
def test_every_step_has_the_bits_of_pytorch(device, exact_root, kind, options):
    models, optimizers = pair(kind, device, **options)
    for _ in range(3):
        step(models, optimizers)
        same(models[0].parameters(), models[1].parameters())
        same_state(*optimizers)
    assert optimizers[0].stores == 1


def test_a_step_over_the_wear_budget_changes_nothing(device, exact_root):
    """It can be called again with the same gradients, when the budget allows it."""
    models, optimizers = pair(AdamW, device, lr=0.01)
    now = [0.0]
    device.wear_budget = WearBudget(1e9, OverBudget.REFUSE, window_seconds=1.0, clock=lambda: now[0])
    for _ in range(2):
        step(models, optimizers)
    now[0] = 2.0
    give_gradients(models)
    with pytest.raises(WearBudgetExceeded, match="the budget asks for"):
        optimizers[0].step()
    same(models[0].parameters(), models[1].parameters())
    same_state(*optimizers)
    device.wear_budget = None
    for optimizer in optimizers:
        optimizer.step()
    same(models[0].parameters(), models[1].parameters())
    same_state(*optimizers)


def test_distance_to_pytorch_as_it_is(device, fused_kernels):
    """Of weights after 30 steps, in units of the larger of first and last, as docs/optimizers.md has it."""
    models, optimizers = pair(AdamW, device, network((40, 20)), lr=1e-3)
    start = torch.cat([p.detach().reshape(-1).clone() for p in models[0].parameters()]).numpy()
    for _ in range(30):
        step(models, optimizers)
    ours, theirs = (
        torch.cat([p.detach().reshape(-1) for p in model.parameters()]).numpy() for model in models
    )
    distance = weight_units(start, ours, theirs)
    print(f"after 30 steps, units of the larger weight: {histogram([distance])}")
    assert distance.max() <= 8
    assert np.mean(distance <= 2) > 0.999


def test_groups_with_their_own_hyperparameters_changed_between_steps(device, exact_root):
    models = two(network())
    groups = [
        [{"params": m[0].parameters()}, {"params": m[2].parameters(), "lr": 0.1, "weight_decay": 0.0}]
        for m in models
    ]
    optimizers = both(AdamW, device, groups, lr=0.01)
    for number in range(4):
        for optimizer in optimizers:
            optimizer.param_groups[0]["weight_decay"] = 0.1 * number
            optimizer.param_groups[1]["betas"] = (0.9 - 0.2 * number, 0.99)  # below 1/2 in the end
        step(models, optimizers)
        same(models[0].parameters(), models[1].parameters())
    assert optimizers[0].stores == 1


@pytest.mark.parametrize(
    "schedule",
    [
        lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=6),  # also changes betas
        lambda o: lr_scheduler.CosineAnnealingLR(o, 6),
        lambda o: lr_scheduler.SequentialLR(
            o, [lr_scheduler.LinearLR(o), lr_scheduler.ExponentialLR(o, 0.5)], milestones=[2]
        ),
        lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=0),
    ],
    ids=["onecycle", "cosine", "sequential", "plateau"],
)
def test_schedulers(device, exact_root, schedule, recwarn):
    models, optimizers = pair(Adam, device, lr=0.1)
    schedulers = [schedule(optimizer) for optimizer in optimizers]
    for _ in range(5):
        step(models, optimizers)
        for scheduler in schedulers:
            scheduler.step(*[1.0] if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau) else [])
        same(models[0].parameters(), models[1].parameters())
    rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    assert rates[0] == rates[1] != 0.1
    assert not [one for one in recwarn if "optimizer.step" in str(one.message)]


def test_rate_as_a_tensor(device, exact_root):
    models, optimizers = pair(AdamW, device, lr=torch.tensor(0.1))
    schedulers = [lr_scheduler.ExponentialLR(optimizer, 0.5) for optimizer in optimizers]
    for _ in range(2):
        step(models, optimizers)
        for scheduler in schedulers:
            scheduler.step()
    same(models[0].parameters(), models[1].parameters())


def test_closure_hooks_and_zero_grad(device):
    models, optimizers = pair(SGD, device, lr=0.1)
    x, calls = torch.randn(4, 30), []
    optimizers[0].register_step_pre_hook(lambda *_: calls.append("before"))
    optimizers[0].register_step_post_hook(lambda *_: calls.append("after"))
    losses = []
    for model, optimizer in zip(models, optimizers, strict=True):

        def closure(model=model, optimizer=optimizer):
            optimizer.zero_grad(set_to_none=False)
            loss = model(x).square().mean()
            loss.backward()
            calls.append("closure")
            return loss

        losses.append(optimizer.step(closure))
    assert calls == ["before", "closure", "after", "closure"]
    assert losses[0].item() == losses[1].item() and losses[0].requires_grad
    same(models[0].parameters(), models[1].parameters())
    optimizers[0].zero_grad(set_to_none=False)
    assert all(not p.grad.any() for p in models[0].parameters())
    optimizers[0].zero_grad()
    assert all(p.grad is None for p in models[0].parameters())


def test_parameters_without_a_gradient_are_skipped(device, exact_root):
    """Frozen first, frozen later, never used, used by turns: weights, state and steps as PyTorch's."""
    models = two(network((9, 8, 7, 6, 5)))
    for model in models:
        model[0].requires_grad_(False)
    optimizers = both(Adam, device, [m.parameters() for m in models], lr=0.01, weight_decay=0.1)
    stores = []
    for number in range(8):
        for model in models:
            model[0].requires_grad_(number >= 4)  # frozen at first
            model[2].requires_grad_(number < 2 or number > 5)  # frozen meanwhile
        give_gradients(models)
        for model in models:
            model[6].bias.grad = None  # never used
            if number % 2:
                model[4].weight.grad = None  # by turns
        for optimizer in optimizers:
            optimizer.step()
        same(models[0].parameters(), models[1].parameters())
        same_state(*optimizers)
        stores.append(optimizers[0].stores)
    # Stored anew when parameters that had stepped together part, or when new ones come.
    assert stores == [2, 3, 4, 4, 5, 5, 5, 5]


def test_nothing_to_do(device):
    model = network()
    optimizer = SGD(model.parameters(), device=device)
    before = copy.deepcopy(model)
    optimizer.step()
    same(model.parameters(), before.parameters())
    assert optimizer.report is None
    frozen = network().requires_grad_(False)
    SGD(frozen.parameters(), device=device).step()


def test_group_added_later(device, exact_root):
    models = two(network())
    optimizers = both(Adam, device, [m[0].parameters() for m in models], lr=0.01)
    for number in range(4):
        if number == 2:
            for model, optimizer in zip(models, optimizers, strict=True):
                optimizer.add_param_group({"params": model[2].parameters(), "lr": 0.1})
        step(models, optimizers)
        same(models[0].parameters(), models[1].parameters())
        same_state(*optimizers)
    assert optimizers[0].stores == 2


def test_groups_taken_away_and_changed(device, exact_root):
    """Somebody edits `param_groups`: each parameter takes the hyperparameters of its present group."""
    models = two(network((9, 8, 7, 6)))
    groups = [
        [{"params": m[number].parameters(), "lr": lr} for number, lr in ((0, 0.1), (2, 0.01), (4, 0.2))]
        for m in models
    ]
    optimizers = both(Adam, device, groups)
    step(models, optimizers)
    for optimizer in optimizers:
        del optimizer.param_groups[0]
        optimizer.param_groups.reverse()
    for _ in range(2):
        step(models, optimizers)
        same(models[0].parameters(), models[1].parameters())


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model[0].weight.data.clamp_(-0.01, 0.01),  # the version counter does not see it
        lambda model: model.load_state_dict({k: v / 2 for k, v in model.state_dict().items()}),
        lambda model: setattr(model[0].weight, "data", model[0].weight.data * 2),
        lambda model: nn.init.zeros_(model[0].bias),
    ],
    ids=["data", "load_state_dict", "other tensor", "init"],
)
def test_weights_that_somebody_else_has_changed(device, exact_root, change):
    models, optimizers = pair(AdamW, device, lr=0.01)
    step(models, optimizers)
    for model in models:
        change(model)
    for _ in range(2):
        step(models, optimizers)
        same(models[0].parameters(), models[1].parameters())
        same_state(*optimizers)
    assert optimizers[0].stores == 2


def test_a_graph_from_before_the_step_is_refused(device):
    """PyTorch counts the change of the weights, so a backward pass through old ones fails."""
    model = network()
    optimizer = SGD(model.parameters(), device=device)
    loss = model(torch.randn(4, 30)).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("layout", ["channels_last", "scalar", "empty"])
def test_layouts(device, layout):
    shape = {"channels_last": (4, 3, 2, 2), "scalar": (), "empty": (0, 3)}[layout]
    whole = torch.randn(shape)
    if layout == "channels_last":
        whole = whole.to(memory_format=torch.channels_last)
    parameters = [[nn.Parameter(whole.clone()), nn.Parameter(torch.ones(3))] for _ in range(2)]
    optimizers = both(SGD, device, parameters, lr=0.1, momentum=0.9)
    for _ in range(2):
        for own in zip(*parameters, strict=True):
            gradient = torch.randn(own[0].shape)
            for parameter in own:
                parameter.grad = gradient.clone()
        for optimizer in optimizers:
            optimizer.step()
        same(*parameters)
    assert parameters[0][0].stride() == parameters[1][0].stride()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("copy_format", [None, CopyFormat.NONE], ids=["copies", "read"])
def test_16_bit_parameters_have_float32_weights_on_the_dies(device, exact_root, dtype, copy_format):
    """As PyTorch's Adam on float32 copies of the weights, which are rounded after each step."""
    model = network(dtype=dtype)
    master = copy.deepcopy(model).float()
    ours = Adam(model.parameters(), lr=0.01, device=device, copy_format=copy_format)
    theirs = torch.optim.Adam(master.parameters(), lr=0.01, foreach=False)
    for _ in range(4):
        give_gradients([model])
        for p, q in zip(model.parameters(), master.parameters(), strict=True):
            q.grad = p.grad.float()
        ours.step()
        theirs.step()
        same(model.parameters(), [q.detach().to(dtype) for q in master.parameters()])
    same([ours.state[p]["master_weight"] for p in model.parameters()], master.parameters())
    assert ours.stores == 1


def test_gradients_and_weights_rounded_on_the_way(device, exact_root):
    """float32 parameters with gradients in BF16 and copies in BF16: half the traffic."""
    model = network()
    master = copy.deepcopy(model)
    ours = Adam(model.parameters(), 0.01, device=device, gradient_format=GradientFormat.BF16,
                copy_format=CopyFormat.BF16)  # fmt: skip
    theirs = torch.optim.Adam(master.parameters(), lr=0.01, foreach=False)
    for _ in range(3):
        give_gradients([model])
        for p, q in zip(model.parameters(), master.parameters(), strict=True):
            q.grad = p.grad.bfloat16().float()
        ours.step()
        theirs.step()
    same(model.parameters(), [q.detach().bfloat16().float() for q in master.parameters()])


def test_clipping_inside_and_outside(device, exact_root):
    models = two(network())
    optimizers = [
        Adam(models[0].parameters(), lr=0.01, device=device, max_norm=1.0),
        torch.optim.Adam(models[1].parameters(), lr=0.01, foreach=False),
    ]
    for scale in (0.001, 10.0):
        give_gradients(models, scale)
        norm = nn.utils.clip_grad_norm_(models[1].parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        assert optimizers[0].report.norm == pytest.approx(norm.item(), rel=1e-5)
        for p, q in zip(models[0].parameters(), models[1].parameters(), strict=True):
            torch.testing.assert_close(p, q, rtol=1e-6, atol=1e-8)
    # The caller's own clipping changes the gradients before they are sent.
    same_gradients = [q.grad for q in models[1].parameters()]
    for p, gradient in zip(models[0].parameters(), same_gradients, strict=True):
        p.grad = gradient.clone()
    optimizers[0].step()
    assert optimizers[0].report.norm <= 1.0 + 1e-6


def test_an_overflow_without_a_scaler_changes_nothing(device):
    model = network()
    optimizer = Adam(model.parameters(), device=device)
    give_gradients([model])
    optimizer.step()
    before, state = copy.deepcopy(model), optimizer.state_dict()["state"]
    give_gradients([model])
    model[2].bias.grad[1] = float("nan")
    with pytest.warns(RuntimeWarning, match="Adam skipped a step: 1 gradients are NaN, 0 infinite"):
        optimizer.step()
    assert optimizer.report.skipped
    same(model.parameters(), before.parameters())
    after = optimizer.state_dict()["state"]
    assert all(bits(after[i][name]) == bits(state[i][name]) for i in state for name in state[i])


def sparse():
    embedding = nn.Embedding(5, 3, sparse=True)
    embedding(torch.tensor([1])).sum().backward()
    return embedding.weight


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([nn.Parameter(torch.zeros(3, dtype=torch.complex64))], "parameter 0 of group 0 is complex64"),
        ([nn.Parameter(torch.zeros(3, dtype=torch.float64))], "is float64; expected one of float32, float16"),
        ([("head", nn.Parameter(torch.zeros(3).double()))], r"parameter 0 of group 0 \('head'\) is float64"),
        ([nn.Parameter(torch.zeros(3).to_sparse())], "has the layout sparse_coo; expected a plain"),
        ([nn.Parameter(torch.zeros(3, device="meta"))], "is on the meta device"),
        (nn.LazyLinear(3).parameters(), "has no shape yet"),
        ([nn.Parameter(torch.zeros(1).expand(3))], "elements of parameter 0 share memory"),
        ([{"params": nn.Parameter(torch.zeros(3)), "amsgrad": True}], "group 0 has amsgrad=True; Adam on"),
    ],
)  # fmt: skip
def test_parameters_that_will_not_do(device, params, message):
    with pytest.raises(ParameterError, match=message):
        Adam(params, device=device)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (SGD, {"dampening": 0.1, "momentum": 0.9}, "dampening=0.1; SGD on the dies does not have it"),
        (SGD, {"nesterov": True}, "nesterov without momentum"),
        (SGD, {"foreach": True}, "foreach=True"),
        (SGD, {"copy_format": "bf16"}, "copy_format is 'bf16'; expected a CopyFormat"),
        (SGD, {"gradient_format": 1.5}, "gradient_format is 1.5; expected a GradientFormat"),
        (Adam, {"fused": True}, "fused=True"),
        (Adam, {"capturable": True}, "capturable=True"),
        (AdamW, {"differentiable": True}, "differentiable=True"),
        (AdamW, {"amsgrad": True}, "amsgrad=True; AdamW on the dies"),
        (Adam, {"lr": -1}, "learning_rate is -1"),
        (Adam, {"max_norm": -1}, "max_norm is -1"),
    ],
)
def test_options_that_will_not_do(device, kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(network().parameters(), device=device, **options)


def test_bad_input_of_a_step_changes_nothing(device):
    model = network()
    model.register_parameter("table", sparse())
    optimizer = Adam(model.parameters(), device=device)
    before = copy.deepcopy(model)
    give_gradients([model])
    with pytest.raises(ParameterError, match="group 0 has amsgrad=True"):
        optimizer.param_groups[0]["amsgrad"] = True
        optimizer.step()
    optimizer.param_groups[0]["amsgrad"] = False
    model.table.grad = model.table.grad.to_sparse()
    with pytest.raises(ParameterError, match="the gradient of parameter 0 of group 0 has the layout sp"):
        optimizer.step()
    same(model.parameters(), before.parameters())
    with pytest.raises(ParameterError, match="parameter 0 of group 1 is float64"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(2).double())]})
    assert len(optimizer.param_groups) == 1
    with pytest.raises(ParameterError, match="device is a NoneType; expected what open_device gives"):
        Adam(model.parameters(), device=None)


def test_a_16_bit_parameter_takes_copies_of_its_own_format(device):
    with pytest.raises(ParameterError, match="is bfloat16; expected float32 for copy_format FP16"):
        Adam(network(dtype=torch.bfloat16).parameters(), device=device, copy_format=CopyFormat.FP16)


def test_momentum_cannot_end_after_it_began(device):
    models, optimizers = pair(SGD, device, momentum=0.9)
    step(models, optimizers)
    optimizers[0].param_groups[0]["momentum"] = 0.0
    give_gradients(models)
    with pytest.raises(ParameterError, match="group 0 has M on the dies, which sgd does not use"):
        optimizers[0].step()


def test_momentum_can_begin_later(device):
    models, optimizers = pair(SGD, device, lr=0.1)
    for number in range(4):
        for optimizer in optimizers:
            optimizer.param_groups[0]["momentum"] = 0.9 if number >= 2 else 0.0
        step(models, optimizers)
        same(models[0].parameters(), models[1].parameters())
    same_state(*optimizers)


def test_two_optimizers_need_streams_of_their_own(device):
    first, second = network(), network()
    one = SGD(first.parameters(), device=device)
    SGD(second.parameters(), device=device)
    give_gradients([first])
    with pytest.raises(ForeignGeneration, match="stream 'state_a' is at generation"):
        one.step()


def test_no_copy_of_the_optimizer(device):
    optimizer = Adam(network().parameters(), device=device)
    with pytest.raises(ParameterError, match=r"Adam cannot be copied or pickled.*expected state_dict\(\)"):
        copy.deepcopy(optimizer)
