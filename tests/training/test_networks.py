"""Networks and plain training: initialisation, accuracy on the digits, repeatability."""

import numpy as np
import pytest

from flashtrain.training.data import digits
from flashtrain.training.errors import DataError, SeedError, ShapeError
from flashtrain.training.layers import Linear, ReLU
from flashtrain.training.networks import NETWORKS, Network, mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.recipes import RECIPES
from flashtrain.training.reference import TrainingLog, bits_equal, train_reference


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_reaches_95_percent(name, data):
    recipe = RECIPES[name]
    for seed in (0, 1):
        log = train_reference(
            recipe.network, data, recipe.optimizer, recipe.batch, recipe.iterations, seed=seed
        )
        accuracy = recipe.network.accuracy(log.parameters, data.test.inputs, data.test.targets)
        print(f"{name}, seed {seed}: {accuracy:.3f}")
        assert accuracy >= 0.95
        assert len(log.losses) == recipe.iterations
        assert log.losses[-1] < log.losses[0] / 4


@pytest.mark.parametrize("name", RECIPES)
def test_training_repeats_to_the_bit_and_follows_the_seed(name, data):
    recipe = RECIPES[name]
    runs = [
        train_reference(recipe.network, data, recipe.optimizer, batch=32, iterations=4, seed=seed)
        for seed in (5, 5, 6)
    ]
    assert runs[0].equals(runs[1])
    assert not runs[0].equals(runs[2])


def test_mlp_weights_and_adam_state_are_small():
    assert mlp().parameter_count() * 4 * 3 < 500_000


@pytest.mark.parametrize("build", NETWORKS.values(), ids=NETWORKS.keys())
def test_initial_parameters_follow_the_seed(build):
    network = build()
    first = network.initialise(1)
    assert bits_equal(first, network.initialise(1))
    assert not bits_equal(first, network.initialise(2))
    assert sum(a.size for arrays in first.values() for a in arrays.values()) == network.parameter_count()
    assert {a.dtype for arrays in first.values() for a in arrays.values()} == {np.dtype(np.float32)}


def test_bits_differ_when_one_bit_differs():
    a = mlp(4).initialise(0)
    b = {layer: {name: array.copy() for name, array in arrays.items()} for layer, arrays in a.items()}
    assert bits_equal(a, b)
    b["output"]["bias"].view(np.uint32)[3] ^= 0x80000000  # 0.0 becomes -0.0, which compares equal as a number
    assert not bits_equal(a, b)


def test_logs_with_nan_losses_are_equal_to_themselves():
    diverged = TrainingLog((1.0, float("nan")), ("a", "b"), {})
    assert diverged.equals(TrainingLog((1.0, float("nan")), ("a", "b"), {}))
    assert not diverged.equals(TrainingLog((1.0, 2.0), ("a", "b"), {}))


def test_progress_is_reported_each_iteration(data):
    seen = []
    log = train_reference(
        mlp(4), data, Adam(), batch=8, iterations=3, seed=0, progress=lambda *now: seen.append(now)
    )
    assert seen == list(enumerate(log.losses, start=1))


def test_networks_that_do_not_fit_together_are_refused():
    with pytest.raises(ShapeError, match=r"Linear\(inputs=5, outputs=2\).*got \(4,\)"):
        Network("odd", (3,), 2, (("a", Linear(3, 4)), ("b", Linear(5, 2))))
    with pytest.raises(ShapeError, match="network odd: layer names are not unique: a, a"):
        Network("odd", (3,), 3, (("a", ReLU()), ("a", ReLU())))
    with pytest.raises(
        ShapeError, match=r"network odd: expected an output of shape \(\.\.\., 2\), got \(4,\)"
    ):
        Network("odd", (3,), 2, (("a", Linear(3, 4)),))


def test_split_and_batches_are_deterministic(data):
    assert len(data.train) + len(data.test) == 1797
    assert (len(data.train), len(data.test)) == (1438, 359)
    assert data.train.inputs.dtype == np.float32
    assert (data.train.inputs.min(), data.train.inputs.max()) == (0.0, 1.0)
    again = digits()
    assert data.test.inputs.tobytes() == again.test.inputs.tobytes()
    assert data.test.targets.tobytes() != digits(seed=1).test.targets.tobytes()
    for _, a, b in zip(range(20), data.batches(100, seed=3), again.batches(100, seed=3), strict=False):
        assert a.inputs.shape == (100, 8, 8)
        assert a.inputs.tobytes() == b.inputs.tobytes()
        assert a.targets.tobytes() == b.targets.tobytes()


def test_a_pass_over_the_data_repeats_no_example(data):
    batches = data.batches(719, seed=0)
    order = [next(batches) for _ in range(2)]
    seen = sorted(image.tobytes() for examples in order for image in examples.inputs)
    assert seen == sorted(image.tobytes() for image in data.train.inputs)


@pytest.mark.parametrize("batch", [0, 1439])
def test_batch_sizes_out_of_range_are_refused(data, batch):
    with pytest.raises(DataError, match=f"batch size must be 1 to 1438, got {batch}"):
        data.batches(batch, seed=0)


def test_a_split_without_test_examples_is_refused():
    with pytest.raises(DataError, match="test share"):
        digits(test_share=0.0)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_seeds_that_are_refused(seed):
    for use in (mlp().initialise, lambda one: digits().batches(4, one), digits):
        with pytest.raises(SeedError, match=f"seed is {seed!r}; expected an integer, 0 or more"):
            use(seed)
