"""`FlashOptimizer` on the functional Link: bit for bit the reference, at every step."""

import numpy as np
import pytest

from flashtrain.host import (
    ForeignGeneration,
    FunctionalLink,
    GenerationPinned,
    NothingToCommit,
    TensorMismatch,
    UpdatePending,
    open_device,
)
from flashtrain.numerics import HyperparameterError, copy_of, gradient_values
from flashtrain.numerics.float32 import to_bfloat16
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.errors import ParameterError
from flashtrain.training.flash_optimizer import FlashOptimizer
from flashtrain.training.loss_scale import LossScale
from flashtrain.training.optimizers import (
    SGD,
    SGDW,
    Adam,
    AdamW,
    AdamWScheduleFree,
    Linear,
    Lion,
    Momentum,
    Nesterov,
)
from flashtrain.training.parameters import Parameter

F = np.float32
FP32, FP16, BF16 = GradientFormat
OPTIMIZERS = (
    SGD(0.3, weight_decay=0.01),
    SGDW(0.3, weight_decay=0.1),
    Momentum(0.1, 0.9),
    Nesterov(0.1, 0.8, weight_decay=0.03),
    Linear(0.9, 0.1, 0.99, -0.3, -0.2),
    Adam(0.001, weight_decay=0.01),
    AdamW(0.001, weight_decay=0.1),
    Adam(0.001, beta1=0.5),
    AdamW(0.001, beta1=0.25),
    Lion(0.001, weight_decay=0.1),
    AdamWScheduleFree(0.01, weight_decay=0.1),
)
SHAPES = ((30, 7), (), (613,))


@pytest.fixture
def device():
    with open_device("tiny", node=UPDATE_NODE) as opened:
        yield opened


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def tensors(random, shapes=SHAPES):
    return [np.asarray(random.standard_normal(shape), F) for shape in shapes]


class Reference:
    """The same in NumPy, without groups."""

    def __init__(self, optimizer, weights):
        self.optimizer = optimizer
        self.w = [w.copy() for w in weights]
        self.state = [optimizer.initial_state(w) for w in weights]
        self.t = 0

    def step(self, gradients, **scales):
        self.t += 1
        for i, g in enumerate(gradients):
            self.w[i], self.state[i] = self.optimizer.step(self.w[i], g, self.state[i], self.t, **scales)


def same(got, expected):
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert (one.shape, one.tobytes()) == (other.shape, other.tobytes())


def check(flash, reference):
    """Weights and state on the dies, and the numbers of steps."""
    state = flash.state_dict()["state"]
    same([state[i]["w"] for i in state], reference.w)
    for name in reference.optimizer.state_names:
        same([state[i][name] for i in state], [one[name] for one in reference.state])
    assert {state[i]["step"] for i in state} == {flash.steps} == {reference.t}


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda optimizer: optimizer.code.name)
@pytest.mark.parametrize("gradient", GradientFormat, ids=lambda kind: kind.name)
@pytest.mark.parametrize("copy", CopyFormat, ids=lambda kind: kind.name)
def test_every_step_as_the_reference(device, random, optimizer, gradient, copy):
    weights = tensors(random)
    reference = Reference(optimizer, weights)
    flash = FlashOptimizer(weights, optimizer, device, gradient, copy)
    for _ in range(3):
        g = tensors(random)
        rounded = {FP32: g, FP16: [np.asarray(x, np.float16) for x in g], BF16: [to_bfloat16(x) for x in g]}
        report = flash.step(g, unscale=0.25)
        reference.step(rounded[gradient], unscale=0.25)
        assert not report.overflow and not report.skipped
        check(flash, reference)
        if copy is CopyFormat.NONE:
            same(weights, reference.w)
        else:
            same(weights, [gradient_values(copy_of(w, copy)) for w in reference.w])


def test_averages_of_schedule_free_adamw(device, random):
    """By group, of the current and of a pinned generation; other optimizers evaluate what they train."""
    groups = tensors(random, [(200,)]), tensors(random, [(9, 9)])
    kinds = AdamWScheduleFree(0.01), AdamWScheduleFree(0.02, beta1=0.8)
    references = [Reference(kind, own) for kind, own in zip(kinds, groups, strict=True)]
    flash = FlashOptimizer(
        [{"params": groups[0]}, {"params": groups[1], "learning_rate": 0.02, "beta1": 0.8}], kinds[0], device
    )

    def averages():
        return [
            one.optimizer.evaluated(w, state)
            for one in references
            for w, state in zip(one.w, one.state, strict=True)
        ]

    for step in range(3):
        if step == 2:
            pinned, before = flash.pin(), averages()
        g = [tensors(random, [w.shape for w in own]) for own in groups]
        flash.step([*g[0], *g[1]])
        for reference, own in zip(references, g, strict=True):
            reference.step(own)
    same(flash.evaluated(), averages())
    same(flash.evaluated(pinned), before)
    flash.release(pinned)
    adam = FlashOptimizer(groups[0], Adam(), device)
    same(adam.evaluated(), adam.weights())


def test_groups_with_their_own_hyperparameters(device, random):
    one, two = tensors(random, [(200,), (3, 3)]), tensors(random, [(99,)])
    references = Reference(AdamW(0.01), one), Reference(AdamW(0.1, beta1=0.5, weight_decay=0.0), two)
    flash = FlashOptimizer(
        [{"params": one}, {"params": two, "learning_rate": 0.1, "beta1": 0.5, "weight_decay": 0.0}],
        AdamW(0.01),
        device,
    )
    assert [group["learning_rate"] for group in flash.param_groups] == [0.01, 0.1]
    for t in range(3):
        if t == 2:  # what a schedule of learning rates does
            flash.param_groups[0]["learning_rate"] = 0.003
            references[0].optimizer = AdamW(0.003)
        gradients = tensors(random, [(200,), (3, 3)]), tensors(random, [(99,)])
        flash.step([*gradients[0], *gradients[1]])
        for reference, g in zip(references, gradients, strict=True):
            reference.step(g)
        same(one + two, references[0].w + references[1].w)


def test_gradients_of_the_parameters(device, random):
    parameters = [Parameter(w) for w in tensors(random)]
    reference = Reference(Momentum(), [p.data for p in parameters])
    flash = FlashOptimizer(parameters, Momentum(), device)
    for _ in range(2):
        g = tensors(random)
        for parameter, gradient in zip(parameters, g, strict=True):
            parameter.grad = gradient
        flash.step()
        reference.step(g)
        same([p.data for p in parameters], reference.w)
        flash.zero_grad()
        assert all(parameter.grad is None for parameter in parameters)
    with pytest.raises(ParameterError, match="parameter 0 of group 0 has no gradient"):
        flash.step()
    check(flash, reference)


def test_clipping_by_norm(device, random):
    weights = tensors(random)
    reference = Reference(Adam(0.01), weights)
    flash = FlashOptimizer(weights, Adam(0.01), device)
    for scale in (1e-3, 10.0):
        g = [np.asarray(scale * x, F) for x in tensors(random)]
        exact = np.sqrt(sum(np.sum(x.astype(np.float64) ** 2) for x in g))
        report = flash.step(g, max_norm=1.0)
        assert report.norm == pytest.approx(exact, rel=1e-5)
        assert report.largest == max(np.abs(x).max() for x in g)
        clip = min(1.0, 1.0 / (report.norm + 1e-6))
        assert (clip < 1) == (scale == 10.0)
        reference.step(g, clip=clip)
        check(flash, reference)


def test_norm_is_of_unscaled_gradients(device, random):
    weights, g = tensors(random), tensors(random)
    flash = FlashOptimizer(weights, SGD(), device)
    plain = flash.step(g).norm
    assert flash.step([F(1024) * x for x in g], unscale=1 / 1024).norm == plain


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e20])
def test_an_overflow_skips_the_step(device, random, bad):
    """NaN, infinity, and a finite gradient whose square overflows."""
    weights = tensors(random)
    reference = Reference(Adam(0.01), weights)
    flash = FlashOptimizer(weights, Adam(0.01), device)
    scale = LossScale(1024.0, interval=2)
    for t in range(5):
        g = tensors(random)
        sent = [F(scale.value) * x for x in g]
        if t == 2:
            sent[2][412] = bad
        report = flash.step(sent, unscale=scale.unscale, max_norm=1e6)
        assert report.overflow == report.skipped == (t == 2)
        assert report.nans + report.infinities == (t == 2 and bad != 3e20)
        scale.observe(report.overflow)
        if not report.overflow:
            reference.step(g)
        check(flash, reference)
        same(weights, reference.w)
    # Doubled after two good steps, halved by the bad one, doubled again.
    assert scale.value == 2048.0


def test_update_and_commit_apart(device, random):
    weights = tensors(random)
    reference = Reference(Nesterov(), weights)
    flash = FlashOptimizer(weights, Nesterov(), device)
    g = tensors(random)
    assert flash.update(g).norm > 0
    same(weights, reference.w)
    with pytest.raises(UpdatePending):
        flash.update(g)
    flash.skip()
    for action in (flash.commit, flash.skip):
        with pytest.raises(NothingToCommit):
            action()
    flash.update(g, clip=0.5)
    flash.commit()
    reference.step(g, clip=0.5)
    check(flash, reference)


@pytest.mark.parametrize("copy", [CopyFormat.NONE, CopyFormat.BF16], ids=lambda kind: kind.name)
def test_state_dict_goes_on_elsewhere(device, random, copy):
    """Five steps in one go, and in two parts on two devices: the same bits."""
    weights, gradients = tensors(random), [tensors(random) for _ in range(5)]
    reference = Reference(AdamW(0.01), weights)
    flash = FlashOptimizer(weights, AdamW(0.01), device, BF16, copy)
    for g in gradients[:2]:
        flash.step(g)
        reference.step([to_bfloat16(x) for x in g])
    saved = flash.state_dict()
    assert saved["param_groups"] == [
        {"params": [0, 1, 2], "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8,
         "weight_decay": 0.01}
    ]  # fmt: skip
    with open_device("small", node=UPDATE_NODE) as other:
        again = FlashOptimizer([np.zeros_like(w) for w in weights], AdamW(0.5), other, BF16, copy)
        again.load_state_dict(saved)
        check(again, reference)
        for g in gradients[2:]:
            again.step(g)
            reference.step([to_bfloat16(x) for x in g])
            check(again, reference)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["param_groups"].pop(), r"state of groups \[\]; expected \[\[0, 1, 2\]\]"),
        (lambda d: d["param_groups"][0]["params"].pop(), r"state of groups \[\[0, 1\]\]"),
        (
            lambda d: d["param_groups"][0].update(speed=1),
            "group 0 has 'speed'; momentum has learning_rate, mom",
        ),
        (lambda d: d["state"].pop(1), "state of parameter 1 has no step, w, m"),
        (lambda d: d["state"][2].pop("m"), "state of parameter 2 has no m"),
    ],
)
def test_state_of_something_else(device, random, change, message):
    weights = tensors(random)
    flash = FlashOptimizer(weights, Momentum(), device)
    saved = flash.state_dict()
    change(saved)
    with pytest.raises(ParameterError, match=message):
        flash.load_state_dict(saved)
    wrong = flash.state_dict()
    wrong["state"][0]["m"] = np.zeros(5, F)
    with pytest.raises(TensorMismatch, match=r"tensor 0 of M of group 0 is float32\[5\]"):
        flash.load_state_dict(wrong)
    wrong = flash.state_dict()
    wrong["param_groups"][0]["learning_rate"] = -1
    with pytest.raises(HyperparameterError):
        flash.load_state_dict(wrong)
    check(flash, Reference(Momentum(), weights))


def test_pinned_checkpoints(device, random):
    weights = tensors(random)
    flash = FlashOptimizer(weights, Momentum(), device, streams=("state_a", "state_b", "trained"))
    flash.step(tensors(random))
    checkpoint, kept = flash.pin(), [w.copy() for w in weights]
    for _ in range(4):
        flash.step(tensors(random))
        same(flash.weights(checkpoint), kept)
    assert {one["step"] for one in flash.state_dict(checkpoint)["state"].values()} == {1}
    assert flash.steps == 5
    flash.pin()
    flash.step(tensors(random))
    before = flash.weights()
    with pytest.raises(GenerationPinned):
        flash.step(tensors(random))
    same(flash.weights(), before)
    flash.release(checkpoint)
    with pytest.raises(ForeignGeneration):
        flash.weights(checkpoint)
    flash.step(tensors(random))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([], "no parameters"),
        ([{"params": []}], "group 0 has no 'params'"),
        ([{"learning_rate": 1.0}], "group 0 has no 'params'"),
        ([np.zeros(3)], "a parameter is float64; expected a float32 array"),
        ([[1, 2]], "a parameter is list; expected a float32 array"),
        ([np.broadcast_to(F(0), 3)], "a parameter is read-only"),
        ([{"params": np.zeros(3, F), "lr": 1}], "group 0 has 'lr'; adam has learning_rate, beta1, beta2"),
    ],
)
def test_parameters_that_will_not_do(device, params, message):
    with pytest.raises(ParameterError, match=message):
        FlashOptimizer(params, Adam(), device)


def test_a_parameter_given_twice(device):
    w = np.zeros(3, F)
    with pytest.raises(ParameterError, match="given twice"):
        FlashOptimizer([{"params": [w]}, {"params": [w]}], Adam(), device)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), 1e60])
def test_bad_hyperparameters_change_nothing(device, random, value):
    weights = tensors(random)
    reference = Reference(Momentum(), weights)
    flash = FlashOptimizer(weights, Momentum(), device)
    if value != 1e60:
        with pytest.raises(HyperparameterError):
            FlashOptimizer([{"params": tensors(random), "learning_rate": value}], Momentum(), device)
        for scales in ({"unscale": value}, {"max_norm": value if value != float("inf") else -1}):
            with pytest.raises(HyperparameterError):
                flash.step(tensors(random), **scales)
    flash.param_groups[0]["learning_rate"] = value
    with pytest.raises(HyperparameterError):
        flash.step(tensors(random))
    flash.param_groups[0]["learning_rate"] = 0.1
    check(flash, reference)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda g: g[:2], ParameterError, "2 gradients; expected 3"),
        (lambda g: [*g[:2], g[2][:5]], TensorMismatch, r"tensor 2 of gradients of group 0 is uint16\[5\]"),
        (lambda g: [*g[:2], list(g[2])], TensorMismatch, "a gradient is list; expected an array"),
        (lambda g: [*g[:2], g[2].astype(np.float16)], TensorMismatch, r"is float16\[613\]; expected uint16"),
    ],
)
def test_gradients_that_do_not_match(device, random, change, error, message):
    weights = tensors(random)
    flash = FlashOptimizer(weights, Adam(), device, BF16)
    with pytest.raises(error, match=message):
        flash.step(change(tensors(random)))
    check(flash, Reference(Adam(), weights))


def test_training_goes_on_after_a_loss_of_power(random):
    """As if nothing had happened, be the step before it committed or not."""
    optimizer, weights, gradients = Adam(0.01), tensors(random), [tensors(random) for _ in range(6)]
    reference = Reference(optimizer, weights)
    with FunctionalLink(preset("tiny"), 1 << 20) as link:
        with open_device(link=link, node=UPDATE_NODE) as device:
            flash = FlashOptimizer([w.copy() for w in weights], optimizer, device)
            for number, gradient in enumerate(gradients, 1):
                flash.update([g * F(2) for g in gradient])  # the power fails before it is committed
                link.power_cycle()
                device.recover()
                parameters = [Parameter(np.zeros_like(w)) for w in weights]
                flash = FlashOptimizer(parameters, optimizer, device, recovered=True)
                assert flash.steps == number - 1
                flash.step(gradient)
                reference.step(gradient)
                link.power_cycle()
                device.recover()
                parameters = [Parameter(np.zeros_like(w)) for w in weights]
                flash = FlashOptimizer(parameters, optimizer, device, recovered=True)
                for parameter, w in zip(parameters, reference.w, strict=True):
                    assert parameter.data.tobytes() == w.tobytes()


@pytest.mark.parametrize("copy", CopyFormat, ids=lambda kind: kind.name)
@pytest.mark.parametrize("steps", [0, 2])
def test_a_resumed_run_has_the_same_bits(device, random, copy, steps):
    """The gradients follow from the parameters' data, as in a training."""

    def train(flash, weights, count):
        for _ in range(count):
            flash.step([np.tanh(F(3) * w).astype(F) for w in weights])

    weights = tensors(random)
    flash = FlashOptimizer(weights, AdamW(0.01), device, copy_format=copy)
    train(flash, weights, steps)
    saved, held = flash.state_dict(), [w.copy() for w in weights]
    train(flash, weights, 3)
    expected = flash.weights()
    with open_device("tiny", node=UPDATE_NODE) as other:
        again = [np.zeros_like(w) for w in weights]
        second = FlashOptimizer(again, AdamW(0.01), other, copy_format=copy)
        second.load_state_dict(saved)
        same(again, held)
        train(second, again, 3)
        same(again, weights)
        same(second.weights(), expected)


@pytest.mark.parametrize("copy", CopyFormat, ids=lambda kind: kind.name)
def test_a_recovered_run_has_the_same_bits(random, copy):
    with FunctionalLink(preset("tiny")) as link:
        weights = tensors(random)
        with open_device(link=link, node=UPDATE_NODE) as device:
            FlashOptimizer(weights, Momentum(), device, copy_format=copy).step(tensors(random))
            link.power_cycle()
        again = [np.zeros_like(w) for w in weights]
        with open_device(link=link, node=UPDATE_NODE, recover=True) as device:
            FlashOptimizer(again, Momentum(), device, copy_format=copy, recovered=True)
        same(again, weights)


@pytest.mark.parametrize("step", [2.0, F(2), np.array(2.0, F), np.int64(2), 2])
def test_steps_that_equal_an_integer_are_taken(device, random, step):
    weights = tensors(random)
    flash = FlashOptimizer(weights, Adam(), device)
    saved = flash.state_dict()
    for own in saved["state"].values():
        own["step"] = step
    flash.load_state_dict(saved)
    assert flash.steps == 2 and isinstance(flash.steps, int)


def put_step(*steps):
    def change(saved):
        for own, step in zip(saved["state"].values(), steps, strict=True):
            own["step"] = step

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put_step(2.5, 2.5, 2.5), "step of parameter 0 is 2.5; expected an integer from 0 to 4294967295"),
        (put_step(1, -1, 1), "step of parameter 1 is -1; expected an integer"),
        (put_step(1, 1, "1"), "step of parameter 2 is '1'; expected an integer"),
        (put_step(1 << 32, 1, 1), "step of parameter 0 is 4294967296; expected an integer"),
        (put_step(np.ones(2), 1, 1), r"step of parameter 0 is array\(\[1., 1.\]\); expected an integer"),
        (put_step(float("nan"), 1, 1), "step of parameter 0 is nan; expected an integer"),
        (put_step(1, 1, 2), "step of parameter 2 is 2; expected 1, as of parameter 0"),
        (lambda saved: saved.pop("state"), "'state' of the state dictionary is missing; expected"),
        (lambda saved: saved.update(state=[]), "'state' of the state dictionary is a list"),
        (lambda saved: saved.update(param_groups=None), "'param_groups' of the state dictionary is a None"),
        (lambda saved: saved.update(param_groups=[3]), "group 0 of the state dictionary has no 'params'"),
        (lambda saved: saved["state"].update({1: 4}), "state of parameter 1 is a int; expected a dictionary"),
        (lambda saved: saved["state"][0].update(w=None), "tensor 0 of W of group 0 is None; expected"),
    ],
)
def test_a_state_that_is_refused_changes_nothing(device, random, change, message):
    weights = tensors(random)
    flash = FlashOptimizer(weights, Adam(), device)
    flash.step(tensors(random))
    saved, held, before = flash.state_dict(), [w.copy() for w in weights], device.counters()["APPENDS"]
    change(saved)
    with pytest.raises((ParameterError, TensorMismatch), match=message):
        flash.load_state_dict(saved)
    assert device.counters()["APPENDS"] == before
    same(weights, held)
    same(flash.weights(), held)
    for given in (None, [], "state"):
        with pytest.raises(ParameterError, match=f"is a {type(given).__name__}; expected a dictionary"):
            flash.load_state_dict(given)
    assert flash.steps == 1


def test_parameters_that_cannot_take_new_weights(device, random):
    parameters = [Parameter(w) for w in tensors(random)]
    flash = FlashOptimizer(parameters, SGD(), device)
    saved, before = flash.state_dict(), flash.weights()
    g = tensors(random)
    parameters[1].data.flags.writeable = False
    for attempt in (lambda: flash.step(g), lambda: flash.update(g), lambda: flash.load_state_dict(saved)):
        with pytest.raises(ParameterError, match="parameter 1 is read-only now; expected a writable array"):
            attempt()
    parameters[1].data.flags.writeable = True
    flash.update(g)
    parameters[2].data.flags.writeable = False
    with pytest.raises(ParameterError, match="parameter 2 is read-only now"):
        flash.commit()
    flash.skip()
    parameters[2].data = np.zeros(612, F)
    with pytest.raises(ParameterError, match=r"parameter 2 is float32\[612\] now; expected float32\[613\]"):
        flash.step(g)
    assert flash.steps == 0
    same(flash.weights(), before)


def test_parameters_that_share_memory(device, random):
    whole = np.zeros((10, 10), F)
    for views, pair in (
        ((whole, whole[2]), (0, 1)),
        ((np.zeros(3, F), whole[:6], whole[5:]), (1, 2)),
        ((whole[::2], whole.T[4:7]), (0, 1)),
    ):
        with pytest.raises(ParameterError, match="parameters {} and {} share memory".format(*pair)):
            FlashOptimizer(views, SGD(), device)
    same_element = np.lib.stride_tricks.as_strided(whole, (5, 3), (0, 4))
    with pytest.raises(ParameterError, match="elements of parameter 0 share memory; expected a copy"):
        FlashOptimizer([same_element], SGD(), device)
    # Interleaved, but apart.
    views = [whole[:, :4], whole[:, 4:], np.zeros(4, F)]
    g = [np.asarray(random.standard_normal(view.shape), F) for view in views]
    FlashOptimizer(views, SGD(0.5), device).step(g)
    same([np.ascontiguousarray(view) for view in views], [F(-0.5) * one for one in g])


def test_the_default_node_says_what_it_lacks():
    with (
        open_device("tiny") as device,
        pytest.raises(ConfigError, match=r"node 'single' has no stream 'state_a' .*node=.update"),
    ):
        FlashOptimizer([np.zeros(3, F)], SGD(), device)


def test_float64_says_how_to_convert(device, random):
    with pytest.raises(ParameterError, match=r"parameter is float64; .*: .astype\(np.float32\) conv"):
        FlashOptimizer([np.zeros(3)], SGD(), device)
    flash = FlashOptimizer([np.zeros(3, F)], SGD(), device)
    with pytest.raises(TensorMismatch, match=r"gradients of group 0 is float64.*: .astype\(np.float32\)"):
        flash.step([np.zeros(3)])
    with pytest.raises(HyperparameterError, match="max_norm is '1'"):
        flash.step([np.zeros(3, F)], max_norm="1")
