"""Weights and state in BF16 on the dies: bits, dictionaries, recovery, and what is refused."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from flashtrain.host import TensorGroup, open_device
from flashtrain.numerics.state_format import upper_halves
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.state_format import StateFormat, StateFormats
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import SGD, Adam, AdamW, AdamWScheduleFree, Muon, Rounding
from flashtrain.training import optimizers as reference
from flashtrain.training.errors import ParameterError
from tests.rounded_state import as_stored, group_bits
from tests.torch.compare import bits, give_gradients, network, same, same_state, two

ARRAYS = {"m": Input.M, "v": Input.V}
NAMES = {Adam: {"m": "exp_avg", "v": "exp_avg_sq"}, SGD: {"m": "momentum_buffer"}}
STORED = {
    "w32_s16": {"state_dtype": torch.bfloat16},
    "w32_s16 stochastic": {"state_dtype": torch.bfloat16, "rounding": Rounding.STOCHASTIC, "seed": 5},
    "w16_s16 stochastic": {
        "weight_dtype": torch.bfloat16,
        "state_dtype": torch.bfloat16,
        "rounding": Rounding.STOCHASTIC,
        "seed": (1 << 64) - 1,
    },
    "w16_s32": {"weight_dtype": torch.bfloat16},
    "w16x16_s16 stochastic": {
        "weight_dtype": StateFormat.SPLIT,
        "state_dtype": torch.bfloat16,
        "rounding": Rounding.STOCHASTIC,
        "seed": 9,
    },
    "w32_s8": {"state_dtype": torch.float8_e4m3fn},
    "w16_s8 stochastic": {
        "weight_dtype": torch.bfloat16,
        "state_dtype": torch.float8_e4m3fn,
        "rounding": Rounding.STOCHASTIC,
        "seed": 3,
    },
}
KINDS = [
    (Adam, {"lr": 0.01, "weight_decay": 0.1}, reference.Adam(0.01, weight_decay=0.1)),
    (SGD, {"lr": 0.1, "momentum": 0.9}, reference.Momentum(0.1, 0.9)),
]
EIGHT = {"state_dtype": torch.float8_e4m3fn}
TINY_FP8 = replace(preset("tiny"), fp8_state=True)
HALF = {"weight_dtype": torch.bfloat16, "state_dtype": torch.bfloat16}


@pytest.fixture
def device():
    with open_device(TINY_FP8, node=UPDATE_NODE) as device:
        yield device


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
@pytest.mark.parametrize(("kind", "options", "optimizer"), KINDS, ids=["adam", "sgd"])
def test_bits_of_the_reference(device, kind, options, optimizer, stored):
    """Weights and state after each step, from NumPy and the contract of rounding."""
    if kind is SGD and stored == STORED["w16_s8 stochastic"]:
        pytest.skip("gradients in float32 have more bytes than this state")
    model = network()
    given = {p: p.detach().numpy().copy() for p in model.parameters()}
    own = kind(model.parameters(), device=device, **options, **stored)
    (cell,), (group,) = own._dies.cells, own._dies.stored.groups
    geometry = device.config.geometry
    weights = as_stored(group, Input.W, [given[p] for p in cell.parameters])
    assert all(np.array_equal(p.detach(), w) for p, w in zip(cell.parameters, weights, strict=True))
    states = [optimizer.initial_state(w) for w in weights]
    for t in (1, 2, 3):
        give_gradients([model])
        gradients = [p.grad.numpy().copy() for p in cell.parameters]
        own.step()
        after = [
            optimizer.step(w, g, state, t) for w, g, state in zip(weights, gradients, states, strict=True)
        ]
        (cell,) = own._dies.cells
        chance = group_bits(group, geometry, t)
        weights = as_stored(group, Input.W, [w for w, _ in after], chance)
        arrays = {
            name: as_stored(group, ARRAYS[name], [state[name] for _, state in after], chance)
            for name in optimizer.state_names
        }
        states = [{name: arrays[name][i] for name in arrays} for i in range(len(after))]
        for number, parameter in enumerate(cell.parameters):
            assert np.array_equal(parameter.detach(), weights[number])
            entry = own.state[parameter]
            for name, known in NAMES[kind].items():
                dtype = stored.get("state_dtype", torch.float32)
                assert entry[known].dtype == (torch.bfloat16 if dtype is torch.float8_e4m3fn else dtype)
                assert np.array_equal(entry[known].float(), states[number][name])
            assert "master_weight" not in entry


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_goes_on_after_a_loss_of_power_and_from_a_dictionary(device, stored):
    """Both have the bits of a training that was not cut: the same step has the same random bits."""
    models = two(network())
    opened = (open_device(TINY_FP8, node=UPDATE_NODE) for _ in range(2))
    with next(opened) as other, next(opened) as third:
        ours = AdamW(models[0].parameters(), lr=0.01, device=device, **stored)
        uncut = AdamW(models[1].parameters(), lr=0.01, device=other, **stored)
        for _ in range(2):
            give_gradients(models)
            ours.step()
            uncut.step()
        saved = copy.deepcopy(ours.state_dict())
        device.link.power_cycle()
        device.recover()
        again, loading = network(), copy.deepcopy(models[1])
        ours = AdamW(again.parameters(), lr=0.01, device=device, recovered=True, **stored)
        loaded = AdamW(loading.parameters(), lr=0.5, device=third, **stored)
        loaded.load_state_dict(saved)
        give_gradients([again, models[1], loading])
        for optimizer in (ours, uncut, loaded):
            optimizer.step()
        for model, optimizer in ((again, ours), (loading, loaded)):
            same(model.parameters(), models[1].parameters())
            same_state(optimizer, uncut)


def test_dictionaries_are_those_of_pytorch_with_parameters_in_bf16(device):
    """Both ways; PyTorch has the state of a parameter in the parameter's dtype."""
    models = two(network(dtype=torch.bfloat16))
    ours = AdamW(models[0].parameters(), lr=0.01, device=device, **HALF)
    theirs = torch.optim.AdamW(models[1].parameters(), lr=0.01, foreach=False)
    give_gradients(models)
    ours.step()
    theirs.step()
    ours.load_state_dict(theirs.state_dict())
    same_state(ours, theirs)
    theirs.load_state_dict(ours.state_dict())
    same_state(ours, theirs)
    for entry in ours.state_dict()["state"].values():
        assert {name: value.dtype for name, value in entry.items()} == {
            "step": torch.float32, "exp_avg": torch.bfloat16, "exp_avg_sq": torch.bfloat16,
        }  # fmt: skip


def test_pytorch_takes_state_in_bf16_of_parameters_in_float32(device):
    models = two(network())
    ours = AdamW(models[0].parameters(), lr=0.01, device=device, state_dtype=torch.bfloat16)
    give_gradients(models)
    ours.step()
    theirs = torch.optim.AdamW(models[1].parameters(), lr=0.01)
    theirs.load_state_dict(ours.state_dict())
    for a, b in zip(ours.state.values(), theirs.state.values(), strict=True):
        assert torch.equal(a["exp_avg_sq"].float(), b["exp_avg_sq"])


def test_parameters_in_bf16_read_the_upper_halves_of_weights(device):
    """No copy is sent. The weights are those of a state in FP32, which takes a dictionary and gives one."""
    models = two(network(dtype=torch.bfloat16))
    split = {"weight_dtype": StateFormat.SPLIT, "state_dtype": torch.bfloat16}
    ours = AdamW(models[0].parameters(), lr=0.01, device=device, **split)
    with open_device("tiny", node=UPDATE_NODE) as other:
        full = AdamW(models[1].parameters(), lr=0.01, device=other, state_dtype=torch.bfloat16)

        def check() -> None:
            same_state(ours, full)
            for p in models[0].parameters():
                exact = ours.state[p]["master_weight"]
                assert exact.dtype is torch.float32
                assert bits(p) == upper_halves(exact.numpy()).tobytes()

        for _ in range(3):
            give_gradients(models)
            ours.step()
            full.step()
            check()
        assert [group.copy_format for group in ours._dies.stored.groups] == [CopyFormat.NONE]
        for one, another in ((ours, full), (full, ours)):
            give_gradients(models)
            one.step()
            another.load_state_dict(one.state_dict())
            check()
    device.link.power_cycle()
    device.recover()
    again = network(dtype=torch.bfloat16)
    AdamW(again.parameters(), lr=0.01, device=device, recovered=True, **split)
    same(again.parameters(), models[0].parameters())


def test_pytorch_goes_on_from_weights_in_two_halves(device):
    """Parameters in float32 hold the joined weights."""
    models = two(network())
    ours = Adam(models[0].parameters(), lr=0.01, device=device, weight_dtype=StateFormat.SPLIT)
    theirs = torch.optim.Adam(models[1].parameters(), lr=0.01, foreach=False)
    give_gradients(models)
    ours.step()
    theirs.step()
    ours.load_state_dict(theirs.state_dict())
    same_state(ours, theirs)
    theirs.load_state_dict(ours.state_dict())
    same_state(ours, theirs)


REFUSED = [
    (
        {"state_dtype": torch.float16},
        "state_dtype is torch.float16; expected torch.float32, torch.bfloat16 or torch.float8_e4m3fn",
    ),
    ({"state_dtype": "bf16"}, "state_dtype is 'bf16'; expected torch.float32, torch.bfloat16 or"),
    (
        {"weight_dtype": torch.float8_e4m3fn},
        "weight_dtype is torch.float8_e4m3fn; expected torch.float32, torch.bfloat16 or StateFormat.SPLIT",
    ),
    (
        {"state_dtype": torch.float8_e5m2},
        "state_dtype is torch.float8_e5m2; expected torch.float32, torch.bfloat16 or torch.float8_e4m3fn",
    ),
    ({"weight_dtype": torch.float64}, "weight_dtype is torch.float64; expected torch.float32, torch.bf"),
    (
        {"weight_dtype": StateFormat.FP8},
        "weight_dtype is <StateFormat.FP8: 2>; expected torch.float32, torch",
    ),
    (
        {"state_dtype": StateFormat.SPLIT},
        "state_dtype is <StateFormat.SPLIT: 3>; expected torch.float32, torch",
    ),
    ({"rounding": "stochastic"}, "rounding is 'stochastic'; expected Rounding.NEAREST or Rounding.STOCH"),
    ({"seed": -1}, "seed is -1; expected an integer from 0 to 18446744073709551615"),
    ({"seed": True}, "seed is True; expected an integer from 0"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
@pytest.mark.parametrize("kind", [SGD, Adam, AdamW, Muon])
def test_wrong_values_are_refused_by_name(device, kind, options, message):
    parameters = [torch.nn.Parameter(torch.ones(3, 4))]
    with pytest.raises(ParameterError) as caught:
        kind(parameters, device=device, **options)
    assert str(caught.value).startswith(message)


def test_what_a_tile_does_not_have_is_refused(device):
    parameters = list(network().parameters())
    with pytest.raises(ConfigError, match="one of 16 bits for a parameter with 2 bytes of state"):
        SGD(parameters, device=device, weight_dtype=torch.bfloat16)
    with pytest.raises(ConfigError, match="BF16 or NONE for weights in BF16"):
        AdamW(parameters, device=device, copy_format=CopyFormat.FP16, **HALF)


@pytest.mark.parametrize("kind", [Muon, AdamWScheduleFree])
def test_fp8_is_for_moments(device, kind):
    with pytest.raises(
        ParameterError, match=f"float32 or torch.bfloat16 for {kind.__name__}, whose state is"
    ):
        kind([torch.nn.Parameter(torch.ones(3, 4))], device=device, **EIGHT)


def test_a_device_without_fp8_is_told():
    with open_device("tiny", node=UPDATE_NODE) as other:
        with pytest.raises(ParameterError) as caught:
            AdamW([torch.nn.Parameter(torch.ones(3, 4))], device=other, **EIGHT)
        group = TensorGroup(OptimizerCode.ADAM, ((5,),), formats=StateFormats(moments=StateFormat.FP8))
        with pytest.raises(ConfigError) as of_group:
            other.optimizer_state([group])
    cure = "on 'tiny', or"
    assert str(caught.value) == (
        f"state_dtype is torch.float8_e4m3fn; expected torch.float32 or torch.bfloat16 {cure} a device with "
        "fp8_state = true in its configuration"
    )
    assert str(of_group.value) == (
        f"formats.moments is 'FP8'; expected FP32 or BF16 {cure} fp8_state = true in its configuration"
    )


def test_dictionaries_of_fp8_have_bf16_which_has_all_its_numbers(device):
    """PyTorch takes them; a dictionary in float32 is refused, one in BF16 is rounded to nearest."""
    models = two(network())
    ours = AdamW(models[0].parameters(), lr=0.01, device=device, **EIGHT)
    give_gradients(models)
    ours.step()
    theirs = torch.optim.AdamW(models[1].parameters(), lr=0.01)
    saved = copy.deepcopy(ours.state_dict())
    theirs.load_state_dict(saved)
    for a, b in zip(ours.state.values(), theirs.state.values(), strict=True):
        assert a["exp_avg"].dtype is torch.bfloat16
        assert torch.equal(a["exp_avg_sq"].float(), b["exp_avg_sq"])
    with pytest.raises(ParameterError, match=r"exp_avg of .* is torch.float32; expected torch.bfloat16, the"):
        ours.load_state_dict(theirs.state_dict())
    before = [bits(tensor) for entry in ours.state.values() for tensor in entry.values()]
    ours.load_state_dict(saved)
    assert [bits(tensor) for entry in ours.state.values() for tensor in entry.values()] == before


def test_dictionaries_of_another_format_are_refused(device):
    """Before anything is changed."""
    models = two(network())
    give_gradients(models)
    full = AdamW(models[0].parameters(), device=device)
    full.step()
    with open_device("tiny", node=UPDATE_NODE) as other:
        half = AdamW(models[1].parameters(), device=other, state_dtype=torch.bfloat16)
        half.step()
        for optimizer, saved, got, expected in (
            (half, full.state_dict(), "torch.float32", "torch.bfloat16"),
            (full, half.state_dict(), "torch.bfloat16", "torch.float32"),
        ):
            before = [
                bits(tensor) for tensor in optimizer.state[optimizer.param_groups[0]["params"][0]].values()
            ]
            message = f"exp_avg of .* is {got}; expected {expected}, the dtype of the optimizer's state"
            with pytest.raises(ParameterError, match=message):
                optimizer.load_state_dict(saved)
            after = optimizer.state[optimizer.param_groups[0]["params"][0]].values()
            assert [bits(tensor) for tensor in after] == before


@pytest.mark.parametrize("other", [{}, {**STORED["w32_s16 stochastic"], "seed": 6}, HALF, EIGHT])
def test_recovered_state_of_another_format_is_refused(device, other):
    model = network()
    optimizer = AdamW(model.parameters(), device=device, **STORED["w32_s16 stochastic"])
    give_gradients([model])
    optimizer.step()
    device.link.power_cycle()
    device.recover()
    with pytest.raises(ParameterError, match=r"group 0 has Formats\(.*BF16.*on the dies; expected the same"):
        AdamW(model.parameters(), device=device, recovered=True, **other)


def test_muon_with_momentum_in_bf16(device):
    """Momentum and weights are tiles of their own; gradients of 16 bits, since a number has two bytes."""
    weight = torch.nn.Parameter(torch.randn(20, 30))
    optimizer = Muon(
        [weight], device=device, gradient_format=GradientFormat.BF16, rounding=Rounding.STOCHASTIC, **HALF
    )
    for _ in range(2):
        weight.grad = torch.randn(20, 30)
        optimizer.step()
    momentum = optimizer.state[weight]["momentum_buffer"]
    assert momentum.dtype is torch.bfloat16 and momentum.abs().min() > 0
    assert torch.equal(weight, weight.bfloat16().float())
    assert [group.formats.weight.name for group in optimizer._dies.stored.groups] == ["BF16", "BF16"]


def test_parameters_without_a_gradient_keep_their_bits(device):
    """A held cell is stored as it was, also by stochastic rounding."""
    model = network()
    optimizer = AdamW(model.parameters(), lr=0.01, device=device, rounding=Rounding.STOCHASTIC, **HALF)
    give_gradients([model])
    optimizer.step()
    first = next(iter(model.parameters()))
    before = bits(first), [bits(tensor) for tensor in optimizer.state[first].values()]
    for _ in range(2):
        give_gradients([model])
        first.grad = None
        optimizer.step()
    assert (bits(first), [bits(tensor) for tensor in optimizer.state[first].values()]) == before
