"""Networks with new layers, formats, losses and steps through the flash: the bits of plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.numerics import HyperparameterError
from flashtrain.training.activation_format import ActivationFormat
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.data import Dataset, Examples
from flashtrain.training.errors import SequenceError, ShapeError
from flashtrain.training.flash_training import replay, train_through_flash
from flashtrain.training.layers import (
    GELU,
    BatchNorm,
    Chain,
    Conv2d,
    Dropout,
    Embedding,
    LayerNorm,
    Linear,
    MaxPool2d,
    Positions,
    Reshape,
    Residual,
    SelfAttention,
    Softmax,
)
from flashtrain.training.losses import MeanSquaredError
from flashtrain.training.networks import Network
from flashtrain.training.optimizers import SGD, Adam, Momentum
from flashtrain.training.optimizers import Linear as LinearOptimizer
from flashtrain.training.reference import reference_steps, train_reference
from flashtrain.training.schedules import Cosine, Step, WarmUp
from flashtrain.training.sequence import (
    StreamRole,
    UpdatePlace,
    load_sequence,
    save_sequence,
    training_sequence,
)
from flashtrain.training.step_policy import StepPolicy, first_steps
from flashtrain.training.tensors import DeviceStorage

BATCH, ITERATIONS, SEED = 8, 6, 3
IMAGES = Network(
    "images", (8, 8), 10,
    (
        ("image", Reshape((8, 8), (8, 8, 1))), ("conv", Conv2d(1, 4, stride=2, padding=0)),
        ("norm", BatchNorm(4)), ("gelu", GELU()), ("pool", MaxPool2d(2, stride=1)),
        ("vector", Reshape((2, 2, 4), (16,))), ("dropout", Dropout(0.3)),
        ("inner", Residual(Chain((("norm", BatchNorm(16)), ("drop", Dropout(0.1)), ("softmax", Softmax()))))),
        ("output", Linear(16, 10)),
    ),
)  # fmt: skip
ATTEND = SelfAttention(6, 8, heads=2, causal=True)
TOKENS = Network(
    "tokens", (6,), 300,
    (
        ("embed", Embedding(300, 8)), ("positions", Positions(6, 8)),
        ("attention", Residual(Chain((("norm", LayerNorm(8)), ("attend", ATTEND))))),
        ("output", Linear(8, 300)),
    ),
)  # fmt: skip
CURVE = Network(
    "curve", (3,), 2,
    (("hidden", Linear(3, 16)), ("gelu", GELU()), ("output", Linear(16, 2))), loss=MeanSquaredError(),
)  # fmt: skip
NETWORKS = {network.name: network for network in (IMAGES, TOKENS, CURVE)}


@pytest.fixture(scope="module")
def data_of(data):
    random = np.random.default_rng(5)
    text = random.integers(0, 300, (40, 7)).astype(np.uint16)
    x = random.standard_normal((40, 3)).astype(np.float32)
    tokens, curve = Examples(text[:, :-1], text[:, 1:]), Examples(x, np.stack([x.sum(1), x.prod(1)], 1))
    return {"images": data, "tokens": Dataset(tokens, tokens), "curve": Dataset(curve, curve)}


def both(network, data, optimizer=Adam(), place=UpdatePlace.DIE, policy=StepPolicy(), iterations=ITERATIONS):
    """The run through the flash, which has the bits of the reference."""
    sequence = training_sequence(network, BATCH, optimizer, place)
    with open_device("small", link=FunctionalLink, node=place.node) as device:
        storage = DeviceStorage.on(device)
        result = train_through_flash(
            network, data, optimizer, BATCH, iterations, SEED, storage, sequence, policy=policy
        )
    skip = place is UpdatePlace.DIE
    expected = train_reference(
        network, data, optimizer, BATCH, iterations, SEED, skip_overflow=skip, policy=policy
    )
    assert result.log.equals(expected)
    return result


@pytest.mark.parametrize("form", ActivationFormat)
@pytest.mark.parametrize("name", NETWORKS)
def test_bits_of_each_network_and_format(name, form, data_of):
    network = replace(NETWORKS[name], activations=form)
    result = both(network, data_of[name], policy=StepPolicy(WarmUp(2, Cosine(4)), 0.5, 1024.0))
    assert result.run.updates.skips == 0


@pytest.mark.parametrize("policy", [StepPolicy(Step(2, 0.5), loss_scale=16.0), StepPolicy()])
def test_bits_where_the_core_updates(policy, data_of):
    both(IMAGES, data_of["images"], Momentum(), UpdatePlace.CORE, policy)


def test_activations_of_16_bits_take_half_the_bytes(data_of):
    sequences = {
        form: training_sequence(replace(CURVE, activations=form), BATCH, Adam()) for form in ActivationFormat
    }
    stored = {form: {t.name: t.spec for t in s.tensors} for form, s in sequences.items()}
    full = stored[ActivationFormat.FP32]
    for form, dtype in ((ActivationFormat.FP16, "float16"), (ActivationFormat.BF16, "bfloat16")):
        for name, spec in stored[form].items():
            kept = not name.startswith("activation/")
            assert spec == full[name] if kept else spec == ArraySpec(full[name].shape, dtype)
    results = {form: both(replace(CURVE, activations=form), data_of["curve"]) for form in ActivationFormat}
    bytes_of = {form: r.run.traffic[StreamRole.ACTIVATIONS].appended_bytes for form, r in results.items()}
    assert bytes_of[ActivationFormat.FP16] == bytes_of[ActivationFormat.BF16] == bytes_of["fp32"] / 2
    losses = {r.log.losses for r in results.values()}
    assert len(losses) == 3, "the formats round differently"


def test_statistics_of_a_batch_stay_exact():
    sequence = training_sequence(replace(IMAGES, activations=ActivationFormat.FP16), BATCH, Adam())
    assert sequence.by_name["activation/norm/statistics"].spec.dtype == "float32"
    assert sequence.by_name["activation/inner/norm.statistics"].spec.dtype == "float32"
    assert sequence.by_name["activation/inner/norm.normal"].spec.dtype == "float16"


def test_a_sequence_of_16_bits_is_saved_and_replayed(tmp_path):
    sequence = training_sequence(replace(TOKENS, activations=ActivationFormat.BF16), BATCH, Adam())
    save_sequence(sequence, tmp_path / "tokens.json")
    assert load_sequence(tmp_path / "tokens.json") == sequence
    with open_device("small", link=FunctionalLink, node=UpdatePlace.DIE.node) as device:
        replay(sequence, 2, DeviceStorage.on(device))


def test_dropout_and_running_arrays_are_of_the_training_alone(data_of):
    """An evaluation drops nothing, and an example's output does not depend on the others beside it."""
    result, test = both(IMAGES, data_of["images"]), data_of["images"].test
    log = result.log
    whole = IMAGES.predict(log.parameters, test.inputs[:6], log.running)
    alone = [IMAGES.predict(log.parameters, test.inputs[i : i + 1], log.running)[0] for i in range(6)]
    np.testing.assert_allclose(whole, np.stack(alone), rtol=1e-5, atol=1e-6)
    fresh = IMAGES.predict(log.parameters, test.inputs[:6])
    assert not np.allclose(whole, fresh), "the running arrays have moved"


def test_clipping_limits_the_step(data_of):
    """A step of plain SGD is as long as the learning rate times the norm, which is at most 0.01 here."""
    policy, steps = StepPolicy(max_norm=0.01), []
    for step in (StepPolicy(), policy):
        run = reference_steps(CURVE, data_of["curve"], SGD(1.0), BATCH, SEED, policy=step)
        before, after = CURVE.initialise(SEED), next(run).parameters
        moved = [after[layer][k] - before[layer][k] for layer in after for k in after[layer]]
        steps.append(float(np.sqrt(sum((m.astype(np.float64) ** 2).sum() for m in moved))))
    assert steps[0] > 0.1 and steps[1] == pytest.approx(0.01, rel=1e-4)
    both(CURVE, data_of["curve"], SGD(1.0), policy=policy)


def test_a_loss_scale_of_a_power_of_two_changes_no_bit_in_float32(data_of):
    plain = both(CURVE, data_of["curve"])
    assert plain.log.equals(both(CURVE, data_of["curve"], policy=StepPolicy(loss_scale=2.0**10)).log)


def test_a_dynamic_loss_scale_recovers_from_overflow(data_of):
    network = replace(CURVE, activations=ActivationFormat.FP16)
    static = both(network, data_of["curve"], policy=StepPolicy(loss_scale=2.0**24))
    dynamic = both(
        network, data_of["curve"], policy=StepPolicy(loss_scale=2.0**24, dynamic=True), iterations=14
    )
    assert static.run.updates.skips == ITERATIONS
    assert 0 < dynamic.run.updates.skips < 14


def test_a_loss_scale_saves_gradients_from_underflow(data_of):
    """In FP16 the gradients of a tiny loss are zero without a scale."""
    tiny = replace(CURVE, activations=ActivationFormat.FP16)
    data = data_of["curve"]
    small = Examples(data.train.inputs * np.float32(1e-9), data.train.targets * np.float32(1e-9))
    data = Dataset(small, small)

    def moved(policy):
        run = reference_steps(tiny, data, SGD(1.0), BATCH, SEED, policy=policy)
        return np.abs(next(run).parameters["hidden"]["bias"]).max()

    assert moved(StepPolicy()) == 0 and moved(StepPolicy(loss_scale=2.0**16)) > 0


def test_the_scale_is_part_of_the_state_after_a_commit():
    steps = first_steps(SGD(0.1), StepPolicy(loss_scale=8.0, dynamic=True))
    steps.observe(False)
    assert (steps.committed, steps.scale.value) == (0, 4.0)
    after = steps.after_commit()
    assert (after.committed, after.scale.good_steps) == (1, 1)
    assert (steps.committed, steps.scale.good_steps) == (0, 0), "the step is still under way"


def test_steps_that_are_refused():
    with pytest.raises(
        HyperparameterError, match="linear has no learning rate; expected a constant schedule"
    ):
        StepPolicy(Step(2)).check(LinearOptimizer(), UpdatePlace.DIE)
    for policy in (StepPolicy(max_norm=1.0), StepPolicy(dynamic=True)):
        with pytest.raises(SequenceError, match="expect updates on the dies"):
            policy.check(Adam(), UpdatePlace.CORE)
    with pytest.raises(
        HyperparameterError, match=r"the loss scale is 0\.0; expected a finite number above 0"
    ):
        StepPolicy(loss_scale=0.0)
    with pytest.raises(HyperparameterError, match=r"max_norm is -1\.0; expected 0 or more"):
        StepPolicy(max_norm=-1.0)
    with pytest.raises(HyperparameterError, match="every is 0; expected an integer, 1 or more"):
        Step(0)
    with pytest.raises(HyperparameterError, match="gamma is 0; expected a finite number above 0"):
        Step(1, 0)


def test_networks_that_are_refused():
    with pytest.raises(ShapeError, match="layer second takes integers; expected it to be the first"):
        Network("odd", (3, 4), 4, (("first", Linear(4, 4)), ("second", Embedding(5, 4))))
    with pytest.raises(ShapeError, match="network odd: no layers; expected at least one"):
        Network("odd", (3,), 3, ())
