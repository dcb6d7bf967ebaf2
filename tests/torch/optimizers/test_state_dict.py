"""State dictionaries go from optimizers on the dies to PyTorch's own and back, and to other devices."""

import copy
import io
import operator

import pytest
import torch
from torch import nn

from flashtrain.host import open_device
from flashtrain.spec import FlashtrainError
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import SGD, Adam, AdamW
from flashtrain.training.errors import ParameterError
from tests.torch.compare import bits, give_gradients, network, same, same_state, two

THEIRS = {SGD: torch.optim.SGD, Adam: torch.optim.Adam, AdamW: torch.optim.AdamW}
OPTIONS = [
    (SGD, {"lr": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (Adam, {"lr": 0.01, "weight_decay": 0.1}),
    (AdamW, {"lr": 0.01}),
]


def train(model, optimizer, steps):
    for _ in range(steps):
        give_gradients([model])
        optimizer.step()


def through_a_file(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize(("kind", "options"), OPTIONS)
@pytest.mark.parametrize("start", ["dies", "pytorch"])
def test_goes_on_elsewhere(device, exact_root, kind, options, start):
    """Two steps with one optimizer, then two with both: equal bits."""
    model, other = two(network())
    ours = kind(model.parameters(), device=device, **options)
    theirs = THEIRS[kind](other.parameters(), foreach=False, **options)
    first, second = ((model, ours), (other, theirs)) if start == "dies" else ((other, theirs), (model, ours))
    train(*first, 2)
    second[0].load_state_dict(first[0].state_dict())
    second[1].load_state_dict(through_a_file(first[1].state_dict()))
    for optimizer in (ours, theirs):
        optimizer.param_groups[0]["foreach"] = False
        optimizer.param_groups[0]["lr"] *= 0.5
    for _ in range(2):
        give_gradients([model, other])
        ours.step()
        theirs.step()
        same(model.parameters(), other.parameters())
        same_state(ours, theirs)
    groups = [optimizer.state_dict()["param_groups"] for optimizer in (ours, theirs)]
    assert groups[0] == groups[1]


def test_steps_differ_between_parameters(device, exact_root):
    """Those of a layer that was frozen at first, and of one that never took a step."""
    model, other = two(network((9, 8, 7, 6)))
    theirs = torch.optim.Adam(other.parameters(), lr=0.01, foreach=False)
    other[4].requires_grad_(False)
    for number in range(4):
        other[0].requires_grad_(number >= 2)
        train(other, theirs, 1)
    model.load_state_dict(other.state_dict())
    ours = Adam(model.parameters(), lr=0.01, device=device)
    ours.load_state_dict(theirs.state_dict())
    assert [int(ours.state[p]["step"]) for p in model[:4].parameters()] == [2, 2, 4, 4]
    same_state(ours, theirs)
    other[4].requires_grad_(True)
    for _ in range(2):
        give_gradients([model, other])
        ours.step()
        theirs.step()
        same(model.parameters(), other.parameters())
    same_state(ours, theirs)


def test_16_bit_parameters_go_on_from_their_float32_weights(device):
    """Four steps in one go, and in two parts on two devices; the model is loaded before or after."""
    model = network(dtype=torch.bfloat16)
    ours = AdamW(model.parameters(), lr=0.01, device=device)
    train(model, ours, 2)
    saved, weights = ours.state_dict(), copy.deepcopy(model.state_dict())
    gradients = [[torch.randn(p.shape, dtype=p.dtype) for p in model.parameters()] for _ in range(2)]

    def go_on(model, optimizer):
        for step in gradients:
            for p, gradient in zip(model.parameters(), step, strict=True):
                p.grad = gradient
            optimizer.step()
        return [bits(p) for p in model.parameters()]

    expected = go_on(model, ours)
    for model_first in (False, True):
        again = network(dtype=torch.bfloat16)
        with open_device("small", node=UPDATE_NODE) as other:
            resumed = AdamW(again.parameters(), lr=0.5, device=other)
            if model_first:
                again.load_state_dict(weights)
            resumed.load_state_dict(saved)
            same(again.parameters(), weights.values())
            if not model_first:
                again.load_state_dict(weights)
            assert go_on(again, resumed) == expected
            assert resumed.stores == 2
    torch.optim.AdamW(network(dtype=torch.bfloat16).parameters()).load_state_dict(saved)


def test_checkpoints_of_pytorch_count_no_step(device):
    """They take a step to have a state if there is none: the view must not seem empty."""
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

    model = network()
    optimizer = Adam(model.parameters(), device=device)
    train(model, optimizer, 2)
    optimizer.zero_grad()
    before = optimizer.state_dict()["state"]
    saved = get_optimizer_state_dict(model, optimizer)["state"]
    for (name, _), entry in zip(model.named_parameters(), before.values(), strict=True):
        same(saved[name].values(), entry.values())
    assert {int(optimizer.state[p]["step"]) for p in model.parameters()} == {2}


def test_state_is_a_view_of_the_dies(device):
    model = network()
    optimizer = Adam(model.parameters(), device=device)
    weight = model[0].weight
    assert not optimizer.state and weight not in optimizer.state
    train(model, optimizer, 3)
    saved = optimizer.state_dict()["state"]
    assert len(optimizer.state) == 4 and set(optimizer.state) == set(model.parameters())
    for i, p in enumerate(model.parameters()):
        assert optimizer.state[p].keys() == {"step", "exp_avg", "exp_avg_sq"}
        same(optimizer.state[p].values(), saved[i].values())
    average = saved[0]["exp_avg"]
    assert average.untyped_storage().nbytes() == average.nbytes  # so that a file has it once
    average.zero_()  # a copy
    assert optimizer.state[weight]["exp_avg"].any() and saved[1]["exp_avg"].any()
    before = bits(optimizer.state[weight]["exp_avg"])
    for write in WRITES:
        with pytest.raises(ParameterError, match=r"the state is on the dies; expected load_state_dict\(\)"):
            write(optimizer, weight)
    # Trainers move the state to another device so.
    for p, entry in optimizer.state.items():
        for name, tensor in entry.items():
            entry[name] = tensor.clone()
        optimizer.state[p] = {name: tensor.clone() for name, tensor in entry.items()}
    assert bits(optimizer.state[weight]["exp_avg"]) == before


WRITES = [
    lambda optimizer, weight: setattr(optimizer, "state", {weight: {}}),
    lambda optimizer, weight: optimizer.state.update({weight: {"step": torch.tensor(9.0)}}),
    lambda optimizer, weight: optimizer.state.pop(weight),
    lambda optimizer, weight: optimizer.state.clear(),
    lambda optimizer, weight: optimizer.state[weight].update(step=torch.tensor(9.0)),
    lambda optimizer, weight: optimizer.state[weight].pop("step"),
    lambda optimizer, weight: optimizer.state[weight].setdefault("max_exp_avg_sq", torch.zeros(3)),
    lambda optimizer, weight: operator.setitem(optimizer.state[weight], "step", torch.tensor(9.0)),
]


def test_a_write_to_a_tensor_of_the_state_is_refused_at_the_next_step(device):
    model = network()
    optimizer = Adam(model.parameters(), device=device)
    train(model, optimizer, 1)
    weight = model[0].weight
    optimizer.state[weight]["exp_avg"].zero_()
    give_gradients([model])
    with pytest.raises(ParameterError, match=r"exp_avg of optimizer\.state was written to, which is a copy"):
        optimizer.step()
    optimizer.step()
    optimizer.state[weight]["exp_avg"].add(1)
    optimizer.state_dict()["state"][0]["exp_avg"].zero_()
    optimizer.step()
    assert int(optimizer.state[weight]["step"]) == 3


def test_parameters_without_elements_have_an_empty_entry(device):
    """So do tensors that the optimizer does not know, as with PyTorch's own."""
    model = network()
    model.register_parameter("empty", nn.Parameter(torch.zeros(0, 3)))
    optimizer, theirs = Adam(model.parameters(), device=device), torch.optim.Adam(model.parameters())
    give_gradients([model])
    optimizer.step()
    for nothing in (model.empty, torch.zeros(3)):
        assert optimizer.state[nothing] == {} and nothing not in optimizer.state
        assert optimizer.state.get(nothing) is None
    theirs.load_state_dict(optimizer.state_dict())
    theirs.step()
    optimizer.load_state_dict(theirs.state_dict())
    same(optimizer.state[model[0].weight].values(), theirs.state[model[0].weight].values())


def test_hooks_see_and_change_dictionaries(device):
    model = network()
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9, device=device)
    train(model, optimizer, 1)
    calls = []

    def renamed(_, given):
        calls.append("load")
        return {**given, "state": {i: {"momentum_buffer": s["old"]} for i, s in given["state"].items()}}

    optimizer.register_state_dict_post_hook(lambda *_: calls.append("state"))
    optimizer.register_load_state_dict_pre_hook(renamed)
    optimizer.register_load_state_dict_post_hook(lambda o: calls.append(len(o.state)))
    saved = optimizer.state_dict()
    before = [entry["momentum_buffer"] for entry in saved["state"].values()]
    saved["state"] = {i: {"old": entry["momentum_buffer"]} for i, entry in saved["state"].items()}
    optimizer.load_state_dict(saved)
    assert calls == ["state", "load", 4]
    same([optimizer.state[p]["momentum_buffer"] for p in model.parameters()], before)


def test_options_that_choose_kernels_stay(device):
    model, other = two(network())
    theirs = torch.optim.Adam(other.parameters(), fused=True)
    train(other, theirs, 1)
    saved = theirs.state_dict()
    for name in ("maximize", "decoupled_weight_decay"):  # as of an old version of PyTorch
        del saved["param_groups"][0][name]
    ours = Adam(model.parameters(), device=device)
    ours.load_state_dict(saved)
    assert ours.param_groups[0]["fused"] is None and ours.param_groups[0]["maximize"] is False
    train(model, ours, 1)
    assert saved["param_groups"][0]["fused"] is True


def group(d):
    return d["param_groups"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("state"), "has no 'state'"),
        (lambda d: group(d)["params"].pop(), r"has groups of \[3\] parameters; expected \[4\]"),
        (lambda d: d["state"].update(head={}), "has state of 'head', which is in no group of it"),
        (lambda d: group(d).pop("betas"), "group 0 of the state dictionary has no betas"),
        (lambda d: group(d).update(amsgrad=True), "group 0 has amsgrad=True"),
        (lambda d: group(d).update(lr=-1.0), "learning_rate is -1.0"),
        (lambda d: d["state"][1].pop("exp_avg"), "state of parameter 1 of group 0 has no exp_avg"),
        (lambda d: d["state"][1].update(max_exp_avg_sq=0), "has 'max_exp_avg_sq'; expected exp_avg, exp"),
        (lambda d: d["state"][2].update(step=-1), "step of parameter 2 of group 0 is -1"),
        (lambda d: d["state"][2].update(step=torch.ones(2)), "step of parameter 2 of group 0 is tensor"),
        (
            lambda d: d["state"][0].update(exp_avg=torch.zeros(3)),
            r"exp_avg of parameter 0 of group 0 is float32\[3\]; expected float32\[20, 30\]",
        ),
        (lambda d: d["state"][0].update(exp_avg=1.0), "exp_avg of parameter 0 of group 0 is float; expec"),
    ],
)
def test_state_of_something_else_changes_nothing(device, change, message):
    model = network()
    optimizer = Adam(model.parameters(), device=device)
    train(model, optimizer, 1)
    saved, kept, before = optimizer.state_dict(), optimizer.state_dict(), copy.deepcopy(model)
    change(saved)
    with pytest.raises(FlashtrainError, match=message):
        optimizer.load_state_dict(saved)
    same(model.parameters(), before.parameters())
    after = optimizer.state_dict()
    assert after["param_groups"] == kept["param_groups"]
    for i, entry in kept["state"].items():
        same(after["state"][i].values(), entry.values())
    assert optimizer.stores == 1


def test_state_of_another_kind(device):
    model, other = two(network())
    theirs = torch.optim.SGD(other.parameters(), momentum=0.9)
    train(other, theirs, 1)
    with pytest.raises(ParameterError, match="parameter 0 of group 0 has no step, exp_avg, exp_avg_sq"):
        Adam(model.parameters(), device=device).load_state_dict(theirs.state_dict())
    plain = SGD(model.parameters(), device=device)
    saved = theirs.state_dict()
    saved["param_groups"][0]["momentum"] = 0
    with pytest.raises(ParameterError, match="group 0 has momentum_buffer, which sgd does not use"):
        plain.load_state_dict(saved)


def test_names_are_those_of_the_parameters(device):
    model = nn.Linear(3, 2)
    optimizer = Adam(model.named_parameters(), device=device)
    train(model, optimizer, 1)
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["param_names"] == ["weight", "bias"]
    del saved["state"][1]["exp_avg_sq"]
    with pytest.raises(ParameterError, match=r"state of parameter 1 of group 0 \('bias'\) has no exp_avg_sq"):
        optimizer.load_state_dict(saved)
