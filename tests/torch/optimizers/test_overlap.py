"""Steps that begin during the backward pass: the bits of those that begin after it, in every case."""

import gc
import warnings
import weakref
from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch import nn

from flashtrain.host import FunctionalLink, OverBudget, WearBudget, WearBudgetExceeded, open_device
from flashtrain.host.errors import HostError
from flashtrain.host.state.group_gradients import GroupGradients
from flashtrain.spec import preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import SGD, Adam, AdamW, Muon, Rounding
from flashtrain.torch.optimizers.open_step import OpenStep
from flashtrain.torch.optimizers.overlap import OverlapCounts
from tests.torch.compare import network, same, same_state, two

SIZES = (30, 25, 20, 15, 5)


@contextmanager
def pair(kind, model=None, groups=lambda model: model.parameters(), **options):
    """Two equal networks on devices of their own: steps of the first overlap, those of the second do not."""
    models = two(network(SIZES) if model is None else model)
    with open_device("tiny", node=UPDATE_NODE) as one, open_device("tiny", node=UPDATE_NODE) as other:
        yield (
            models,
            (
                kind(groups(models[0]), device=one, overlap=True, **options),
                kind(groups(models[1]), device=other, **options),
            ),
        )


def backward(models, scale=1.0, **options):
    x = torch.randn(4, 30)
    for model in models:
        loss = scale * model(x.to(model[0].weight.dtype)).square().sum()
        loss.backward(**options)


def step(models, optimizers):
    backward(models)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


def equal(models, optimizers):
    same(models[0].parameters(), models[1].parameters())
    same_state(*optimizers)
    assert repr(optimizers[0].report) == repr(optimizers[1].report)  # NaN included


def rows_written(optimizer):
    """Whether the dies have begun a step that is not committed."""
    state = optimizer._dies.stored
    streams = [one for name, one in state._streams.items() if name != state.current.stream]
    return sum(zone.capacity - zone.room for stream in streams for zone in stream.report())


def matrices(model):
    others = [p for p in model.parameters() if p.ndim != 2]
    return [{"params": [p for p in model.parameters() if p.ndim == 2]}, {"params": others, "use_muon": False}]


def by_layer(model):
    layers = [one for one in model if isinstance(one, nn.Linear)]
    return [{"params": one.parameters(), "lr": 0.01 * (n + 1)} for n, one in enumerate(layers)]


def without_decay(model):
    biases = [p for p in model.parameters() if p.ndim == 1]
    return [{"params": biases, "weight_decay": 0.0}, {"params": [model[n].weight for n in (0, 2, 4, 6)]}]


NARROW = {"weight_dtype": torch.bfloat16, "state_dtype": torch.bfloat16}
OPTIONS = [
    (SGD, {"lr": 0.01, "weight_decay": 0.01}),
    (SGD, {"lr": 0.01, "momentum": 0.9, "nesterov": True, "maximize": True}),
    (Adam, {"lr": 0.01, "weight_decay": 0.1}),
    (AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    (AdamW, {"lr": 0.01, "groups": by_layer}),
    (AdamW, {"lr": 0.01, "groups": without_decay, "gradient_format": GradientFormat.BF16}),
    (AdamW, {"lr": 0.01, "copy_format": CopyFormat.FP16}),
    (AdamW, {"lr": 0.01, "groups": by_layer, "state_dtype": torch.bfloat16}),
    (AdamW, {"lr": 0.01, "groups": by_layer, "rounding": Rounding.STOCHASTIC, **NARROW}),
    (Muon, {"lr": 0.01, "groups": matrices}),
]


@pytest.mark.parametrize("max_norm", [None, 1e9, 0.5])
@pytest.mark.parametrize(("kind", "options"), OPTIONS, ids=lambda value: getattr(value, "__name__", None))
def test_every_step_has_the_same_bits(kind, options, max_norm):
    """With a small `max_norm` each step is clipped: it is dropped, and taken again with the factor."""
    with pair(kind, max_norm=max_norm, **options) as (models, optimizers):
        for number in range(5):
            backward(models)
            # The first step is only watched.
            assert bool(rows_written(optimizers[0])) == (number > 0)
            assert not rows_written(optimizers[1])
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=number % 2 == 0)
            equal(models, optimizers)
        assert optimizers[0].overlaps == (4, 0)
        assert optimizers[1].overlaps == OverlapCounts()


@pytest.mark.parametrize("groups", [by_layer, without_decay])
def test_nearly_all_is_written_before_the_step(groups):
    """Whatever the groups, once their order was seen: the last rows alone wait for the last gradients."""
    with pair(AdamW, network((30, 20, 20, 20, 5)), groups, lr=0.01) as (models, optimizers):
        for _ in range(2):
            step(models, optimizers)
        backward(models)
        before = rows_written(optimizers[0])
        for optimizer in optimizers:
            optimizer.step()
        equal(models, optimizers)
        rows = sum(optimizers[0]._dies.stored.rows(n) for n in range(len(optimizers[0]._dies.cells)))
        g = optimizers[0]._dies._device.config.geometry
        assert before == rows * g.channels * g.planes
        # Stored once more when the order was seen, unless it was the right one.
        assert optimizers[0].stores == 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_parameters_of_16_bits(dtype):
    with pair(AdamW, network(SIZES, dtype), lr=0.01, max_norm=3.0) as (models, optimizers):
        for _ in range(4):
            step(models, optimizers)
            equal(models, optimizers)
        assert optimizers[0].overlaps == (3, 0)


def test_schedules_and_hyperparameters(exact_root):
    with pair(AdamW, lr=0.01) as (models, optimizers):
        schedules = [torch.optim.lr_scheduler.CosineAnnealingLR(one, 6) for one in optimizers]
        for number in range(6):
            backward(models)
            if number == 3:  # after the gradients were sent
                for optimizer in optimizers:
                    optimizer.param_groups[0]["weight_decay"] = 0.5
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (4, 1)


@pytest.mark.parametrize("micro", [2, 3])
def test_accumulated_gradients(micro):
    """The last micro-batch sends them; how many there are is learned, also from a step that has fewer."""
    with pair(Adam, lr=0.01) as (models, optimizers):
        for number in range(6):
            for one in range(micro - (number == 3)):
                assert number == 4 or not rows_written(optimizers[0]), one
                backward(models, 1 / micro)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        # The fourth step ended before its last micro-batch; the fifth had one more than the fourth.
        assert optimizers[0].overlaps == (3, 1)


def test_a_loss_scale():
    """It grows, it is reduced after an overflow, and the step of each is taken with the right one."""
    with pair(AdamW, lr=0.01, max_norm=5.0) as (models, optimizers):
        scalers = [
            torch.amp.GradScaler("cpu", init_scale=3.0, growth_factor=2.0, growth_interval=2) for _ in models
        ]
        for number in range(7):
            x = torch.randn(4, 30)
            if number == 4:
                x[0, 0] = float("nan")
            for model, optimizer, scaler in zip(models, optimizers, scalers, strict=True):
                scaler.scale(model(x).square().sum()).backward()
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            assert scalers[0].get_scale() == scalers[1].get_scale()
            assert optimizers[0].report.skipped == (number == 4)
            equal(models, optimizers)
        assert optimizers[0].overlaps == (6, 0)


@pytest.mark.filterwarnings("ignore:AdamW does not overlap")
def test_gradients_that_were_unscaled():
    with pair(AdamW, lr=0.01) as (models, optimizers):
        scalers = [torch.amp.GradScaler("cpu", init_scale=16.0) for _ in models]
        for _ in range(4):
            x = torch.randn(4, 30)
            for model, optimizer, scaler in zip(models, optimizers, scalers, strict=True):
                scaler.scale(model(x).square().sum()).backward()
                scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (0, 2)


def test_a_skipped_step_without_a_scaler():
    with pair(AdamW, lr=0.01) as (models, optimizers):
        for number in range(3):
            x = torch.full((2, 30), float("inf") if number == 1 else 1.0)
            for model, optimizer in zip(models, optimizers, strict=True):
                model(x).square().sum().backward()
                with (
                    pytest.warns(RuntimeWarning, match="skipped")
                    if number == 1
                    else warnings.catch_warnings()
                ):
                    optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (2, 0)


def test_gradients_clipped_by_the_host():
    """A factor of 1 changes no bit, so the step goes on; a smaller one makes it another one."""
    with pair(AdamW, lr=0.01) as (models, optimizers):
        for max_norm in (1e9, 1e9, 0.1, 1e9):
            backward(models)
            for model, optimizer in zip(models, optimizers, strict=True):
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (2, 1)


def test_too_many_dropped_steps_end_it():
    """A state is programmed for each of them, so a loop that changes its gradients is told."""
    with pair(SGD, lr=0.01) as (models, optimizers):
        for number in range(5):
            backward(models)
            for model, optimizer in zip(models, optimizers, strict=True):
                for parameter in model.parameters():
                    parameter.grad.mul_(0.5)
                expected = number == 2 and optimizer is optimizers[0]
                with (
                    pytest.warns(RuntimeWarning, match="gradients were changed after backward")
                    if expected
                    else warnings.catch_warnings(action="error")
                ):
                    optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (0, 2)


def test_a_second_backward_pass():
    with pair(AdamW, lr=0.01) as (models, optimizers):
        for number in range(5):
            x = torch.randn(4, 30)
            for model, optimizer in zip(models, optimizers, strict=True):
                loss = model(x).square().sum()
                loss.backward(retain_graph=number > 1)
                if number == 2:
                    loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        # The third step had two passes; the fourth waited for a second one.
        assert optimizers[0].overlaps == (2, 1)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_graph_of_the_gradients():
    """Gradients that have a graph, and a penalty on them by a second pass."""
    with pair(AdamW, lr=0.01) as (models, optimizers):
        for _ in range(4):
            x = torch.randn(4, 30)
            for model, optimizer in zip(models, optimizers, strict=True):
                loss = model(x).square().sum()
                given = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
                (loss + sum(one.square().sum() for one in given)).backward(create_graph=True)
                optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (3, 0)


def test_parameters_without_a_gradient():
    """Frozen at first, frozen later, unused by turns: cells are held, or the step begins after the pass."""
    with pair(AdamW, network((30, 20, 10, 5)), by_layer, lr=0.01) as (models, optimizers):
        models[0][0].weight.requires_grad_(False), models[1][0].weight.requires_grad_(False)
        for number in range(9):
            for model in models:
                model[0].weight.requires_grad_(number > 3)
                model[4].weight.requires_grad_(number < 6)
            step(models, optimizers)
            equal(models, optimizers)
        taken, dropped = optimizers[0].overlaps
        assert taken >= 5 and dropped <= 2


def test_a_closure():
    with pair(AdamW, lr=0.01) as (models, optimizers):
        for _ in range(4):
            x = torch.randn(4, 30)
            losses = []
            for model, optimizer in zip(models, optimizers, strict=True):

                def closure(model=model, optimizer=optimizer, x=x):
                    optimizer.zero_grad()
                    loss = model(x).square().sum()
                    loss.backward()
                    return loss

                losses.append(optimizer.step(closure).item())
            assert losses[0] == losses[1]
            equal(models, optimizers)
        assert optimizers[0].overlaps == (3, 0)


def test_a_backward_pass_without_a_step():
    """Its gradients are thrown away, by the optimizer or by the model."""
    with pair(AdamW, lr=0.01) as (models, optimizers):
        step(models, optimizers)
        for _ in range(2):
            backward(models)
            assert rows_written(optimizers[0])
            for optimizer in optimizers:
                optimizer.zero_grad()
            assert not rows_written(optimizers[0])
            step(models, optimizers)
            equal(models, optimizers)
        backward(models)
        for model in models:
            model.zero_grad()
        for _ in range(3):
            step(models, optimizers)
            equal(models, optimizers)
        # The third step had two passes as far as its hooks know; the fourth waited for a second one.
        assert optimizers[0].overlaps == (3, 1)


def test_a_backward_pass_that_fails():
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, *_):
            raise ArithmeticError("in the middle")

    with pair(AdamW, lr=0.01) as (models, optimizers):
        step(models, optimizers)
        x = torch.randn(4, 30)
        for model in models:
            with pytest.raises(ArithmeticError):
                model[4:](Failing.apply(model[:4](x))).square().sum().backward()
        for optimizer in optimizers:
            optimizer.zero_grad()
        for _ in range(2):
            step(models, optimizers)
            equal(models, optimizers)
        assert optimizers[0].overlaps == (2, 0)


def test_weights_that_somebody_else_writes():
    with pair(AdamW, lr=0.01) as (models, optimizers):
        for number in range(6):
            if number == 2:
                for model in models:
                    model[0].weight.data.mul_(0.5)  # before the pass
            backward(models)
            if number == 4:
                for model in models:
                    model[2].weight.data.mul_(0.5)  # after it
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            equal(models, optimizers)
        assert optimizers[0].overlaps == (3, 2)


def test_state_read_loaded_and_restored_between_the_passes():
    with pair(AdamW, lr=0.01) as (models, optimizers):
        step(models, optimizers)
        pins = [optimizer.pin("first") for optimizer in optimizers]
        assert pins[0].step == pins[1].step == 1
        saved = [
            (model.state_dict(), optimizer.state_dict())
            for model, optimizer in zip(models, optimizers, strict=True)
        ]
        saved = [({k: v.clone() for k, v in weights.items()}, state) for weights, state in saved]
        backward(models)
        same_state(*optimizers)
        for optimizer in optimizers:
            optimizer.step()
        backward(models)  # added to the gradients before
        for optimizer in optimizers:
            optimizer.restore("first")
        for optimizer in optimizers:
            optimizer.zero_grad()
        step(models, optimizers)
        equal(models, optimizers)
        backward(models)
        for model, optimizer, (weights, state) in zip(models, optimizers, saved, strict=True):
            optimizer.checkpoints.delete("first")
            model.load_state_dict(weights)
            optimizer.load_state_dict(state)
            optimizer.step()
            optimizer.zero_grad()
        equal(models, optimizers)
        for _ in range(2):
            step(models, optimizers)
            equal(models, optimizers)


def test_recovered_in_the_middle_of_a_pass():
    """What the dies had begun is dropped; the optimizer that comes after is at the step before."""
    models = two(network(SIZES))
    link = FunctionalLink(preset("tiny"))
    device = open_device(link=link, node=UPDATE_NODE)
    with open_device("tiny", node=UPDATE_NODE) as other:
        ours = AdamW(models[0].parameters(), lr=0.01, device=device, overlap=True)
        theirs = AdamW(models[1].parameters(), lr=0.01, device=other)
        for _ in range(2):
            step(models, (ours, theirs))
        models[0](torch.randn(4, 30)).square().sum().backward()
        assert rows_written(ours)
        link.power_cycle()
        device = open_device(link=link, node=UPDATE_NODE, recover=True)
        ours = AdamW(models[0].parameters(), lr=0.01, device=device, overlap=True, recovered=True)
        models[0].zero_grad()
        equal_now = [p.detach().clone() for p in models[1].parameters()]
        same(models[0].parameters(), equal_now)
        for _ in range(3):
            step(models, (ours, theirs))
            equal(models, (ours, theirs))
        assert ours.overlaps == (2, 0)


def test_two_optimizers_of_a_device(device):
    """The constants of one replace those of the other, whose step is then repeated."""
    models = two(network(SIZES))
    pairs = [(model[:4], model[4:]) for model in models]
    streams = ("state_a", "state_b"), ("state_c", "trained")
    with open_device("tiny", node=UPDATE_NODE) as other:
        ours, theirs = (
            [
                AdamW(part.parameters(), lr=0.01, device=one, streams=names, overlap=one is device)
                for part, names in zip(parts, streams, strict=True)
            ]
            for one, parts in ((device, pairs[0]), (other, pairs[1]))
        )
        for _ in range(4):
            backward(models)
            for optimizer in (*ours, *theirs):
                optimizer.step()
                optimizer.zero_grad()
            same(models[0].parameters(), models[1].parameters())
            for one, plain in zip(ours, theirs, strict=True):
                same_state(one, plain)
                assert one.report == plain.report
        assert [one.overlaps for one in ours] == [(3, 0)] * 2


def test_a_step_over_the_wear_budget(device):
    """The hooks raise nothing; the step does, and can be called again."""
    model, now = network(SIZES), [0.0]
    optimizer = AdamW(model.parameters(), lr=0.01, device=device, overlap=True)
    step([model], [optimizer])
    device.wear_budget = WearBudget(1e9, OverBudget.REFUSE, window_seconds=1.0, clock=lambda: now[0])
    step([model], [optimizer])
    now[0] = 2.0
    backward([model])
    before = [p.detach().clone() for p in model.parameters()]
    with pytest.raises(WearBudgetExceeded, match="the budget asks for"):
        optimizer.step()
    same(model.parameters(), before)
    device.wear_budget = None
    optimizer.step()
    assert int(optimizer.state[model[0].weight]["step"]) == 3


def changed_gradients(models, optimizers):
    for model in models:
        model[2].weight.grad.mul_(2)


def other_hyperparameters(models, optimizers):
    for optimizer in optimizers:
        optimizer.param_groups[0]["lr"] = 0.5


def nothing(models, optimizers):
    pass


@pytest.mark.parametrize(
    ("place", "name", "wrong", "between"),
    [
        (OpenStep, "difference", lambda *_: None, changed_gradients),
        (OpenStep, "difference", lambda *_: None, other_hyperparameters),
        (GroupGradients, "ready_rows", property(lambda self: self.placed.layout.rows), nothing),
    ],
    ids=["gradients", "hyperparameters", "rows too early"],
)
def test_planted_faults_are_noticed(monkeypatch, place, name, wrong, between):
    """Without a check the bits are others, or the step fails."""
    for planted in (False, True):
        with pair(AdamW, lr=0.01) as (models, optimizers):
            step(models, optimizers)
            if planted:
                monkeypatch.setattr(place, name, wrong)
            backward(models)
            between(models, optimizers)
            with pytest.raises((AssertionError, HostError)) if planted else nullcontext():
                for optimizer in optimizers:
                    optimizer.step()
                equal(models, optimizers)


def test_hooks_do_not_keep_the_optimizer(device):
    model = network(SIZES)
    optimizer = AdamW(model.parameters(), lr=0.01, device=device, overlap=True)
    step([model], [optimizer])
    alive = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert alive() is None
    backward([model])


def test_groups_added_and_parameters_without_elements(device):
    models = two(nn.ModuleList([network(SIZES), nn.Linear(5, 2)]))
    for model in models:
        model.register_parameter("empty", nn.Parameter(torch.zeros(0)))
    with open_device("tiny", node=UPDATE_NODE) as other:
        optimizers = [
            AdamW([*m[0].parameters(), m.empty], lr=0.01, device=one, overlap=one is device)
            for m, one in zip(models, (device, other), strict=True)
        ]
        for number in range(6):
            if number == 2:
                for model, optimizer in zip(models, optimizers, strict=True):
                    optimizer.add_param_group({"params": model[1].parameters(), "lr": 0.1})
            x = torch.randn(4, 30)
            for model, optimizer in zip(models, optimizers, strict=True):
                (model[1](model[0](x)).square().sum() + model.empty.sum()).backward()
                optimizer.step()
                optimizer.zero_grad()
                model.zero_grad()
            equal(models, optimizers)
        taken, dropped = optimizers[0].overlaps
        assert (taken, dropped) == (4, 1)
