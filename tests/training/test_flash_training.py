"""Training through the flash: bit for bit the result of plain NumPy, with every tensor in its stream."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, StreamFull, open_device
from flashtrain.numerics import HyperparameterError
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.optimizer import Input
from flashtrain.spec.streams import ACTIVATION_NODE, SINGLE_NODE, UPDATE_NODE, WEIGHT_NODE
from flashtrain.training.arrays import pack
from flashtrain.training.errors import SequenceError, TensorError
from flashtrain.training.flash_training import replay, train_through_flash
from flashtrain.training.networks import NETWORKS, attention, convnet, mlp
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam, AdamW, AdamWScheduleFree, Linear, Momentum
from flashtrain.training.recipes import RECIPES
from flashtrain.training.reference import reference_steps, train_reference
from flashtrain.training.sequence import (
    StreamRole,
    UpdatePlace,
    load_sequence,
    save_sequence,
    summarise,
    training_sequence,
)
from flashtrain.training.sequence.build import weights_name
from flashtrain.training.tensors import DeviceStorage

WIDE = replace(preset("tiny"), geometry=replace(preset("tiny").geometry, blocks=40))
"""`tiny` with room for activations and state of larger networks."""


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(
    ("place", "overlap"), [(UpdatePlace.DIE, False), (UpdatePlace.DIE, True), (UpdatePlace.CORE, False)]
)
def test_result_equals_plain_numpy(network, optimizer, place, overlap, data):
    network, optimizer = NETWORKS[network](), OPTIMIZERS[optimizer]
    sequence = training_sequence(network, 32, optimizer, place, overlap)
    with open_device("small", link=FunctionalLink, node=place.node) as device:
        storage = DeviceStorage.on(device)
        through_flash = train_through_flash(network, data, optimizer, 32, 5, 4, storage, sequence)
    assert through_flash.log.equals(train_reference(network, data, optimizer, 32, 5, seed=4))


def test_an_optimizer_that_is_evaluated_elsewhere_is_refused(data):
    network, optimizer = mlp(8), AdamWScheduleFree()
    sequence = training_sequence(network, 8, optimizer)
    message = "adamwschedulefree is evaluated with averages.*expected another optimizer"
    with pytest.raises(HyperparameterError, match=message):
        train_reference(network, data, optimizer, 8, 1, seed=1)
    with open_device("small", link=FunctionalLink, node=UPDATE_NODE) as device:
        storage = DeviceStorage.on(device)
        with pytest.raises(HyperparameterError, match=message):
            train_through_flash(network, data, optimizer, 8, 1, 1, storage, sequence)


@pytest.mark.parametrize("network", [mlp(40), convnet(4), attention(8)], ids=lambda network: network.name)
@pytest.mark.parametrize(
    "optimizer",
    [SGD(0.1), Momentum(0.05), Linear(0.9, 0.1, 0.99, -0.01, 0.3), Adam(), Adam(beta1=0.25), AdamW()],
    ids=lambda optimizer: optimizer.code.name,
)
def test_weights_and_state_after_every_step(network, optimizer, data):
    """Bit for bit, where they lie on the dies: in several rows of tiles, with layers across their borders."""
    steps, names = reference_steps(network, data, optimizer, 16, seed=7), {"m": Input.M, "v": Input.V}
    with open_device(WIDE, link=FunctionalLink, node=UPDATE_NODE) as device:
        storage = DeviceStorage.on(device)

        def compare(iteration):
            step = next(steps)
            for layer, w in step.parameters.items():
                packed = pack(w, {name: array.shape for name, array in w.items()})
                state = {names[name]: array for name, array in step.states[layer].items()}
                for array, expected in ({Input.W: packed} | state).items():
                    got = storage.state.peek(weights_name(layer), array)
                    assert got.tobytes() == expected.tobytes(), (iteration, layer, array)

        result = train_through_flash(
            network, data, optimizer, 16, 6, 7, storage, lookahead=1, on_iteration=compare
        )
    assert result.run.updates.updates == 6
    assert result.run.updates.tiles > 6 * 2


def test_overflow_is_skipped_on_the_dies(small, data):
    """With an absurd learning rate: the run goes on with the last finite weights, as the reference does."""
    network, optimizer = mlp(16), SGD(1e30)
    with np.errstate(all="ignore"):
        result = train_through_flash(network, data, optimizer, 16, 6, 1, DeviceStorage.on(small))
        assert result.log.equals(train_reference(network, data, optimizer, 16, 6, seed=1))
    assert 0 < result.run.updates.skips < result.run.updates.updates == 6


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_through_flash_reaches_95_percent(name, small, data):
    recipe = RECIPES[name]
    arguments = (recipe.network, data, recipe.optimizer, recipe.batch, recipe.iterations)
    through_flash = train_through_flash(*arguments, seed=0, storage=DeviceStorage.on(small))
    assert through_flash.log.equals(train_reference(*arguments, seed=0))
    accuracy = recipe.network.accuracy(through_flash.log.parameters, data.test.inputs, data.test.targets)
    print(f"{name}: {accuracy:.3f}")
    assert accuracy >= 0.95


@pytest.mark.parametrize("lookahead", [1, 5, None])
@pytest.mark.parametrize("place", UpdatePlace)
def test_zones_are_used_again_and_again(lookahead, place, data):
    """On `tiny` the streams for inputs and weights wrap many times in a few iterations."""
    network, optimizer = mlp(8), Adam()
    sequence = training_sequence(network, 16, optimizer, place)
    with open_device("tiny", link=FunctionalLink, node=place.node) as tiny:
        result = train_through_flash(
            network, data, optimizer, 16, 60, 1, DeviceStorage.on(tiny), sequence, lookahead
        )
    assert result.log.equals(train_reference(network, data, optimizer, 16, 60, seed=1))
    traffic = result.run.traffic
    assert traffic[StreamRole.INPUTS].zone_resets > 5
    assert traffic[StreamRole.ACTIVATIONS].stream_resets == 60
    if place is UpdatePlace.CORE:
        assert traffic[StreamRole.WEIGHTS].zone_resets > 5
    else:
        assert result.run.updates.updates == 60


@pytest.mark.parametrize("place", UpdatePlace)
def test_traffic_is_what_the_sequence_announces(place, small, data):
    network, optimizer, iterations = convnet(4), Adam(), 3
    sequence = training_sequence(network, 16, optimizer, place)
    result = train_through_flash(
        network, data, optimizer, 16, iterations, 0, DeviceStorage.on(small), sequence
    )
    phases = (sequence.prologue, sequence.iteration * iterations, sequence.epilogue)
    for role, measured in result.run.traffic.items():
        announced = [summarise(sequence, steps, preset("small"))[role] for steps in phases]
        assert measured.appends == sum(t.appends for t in announced)
        assert measured.appended_bytes == sum(t.appended_bytes for t in announced)
        assert measured.stored_bytes == sum(t.stored_bytes for t in announced)
        assert measured.reads == sum(t.reads for t in announced)
        assert measured.read_bytes == sum(t.read_bytes for t in announced)
        assert measured.stream_resets == sum(t.resets for t in announced)
    updates = result.run.updates
    assert (updates is None) == (place is UpdatePlace.CORE)
    if updates is not None:
        announced = [summarise(sequence, steps, preset("small"))[StreamRole.STATE] for steps in phases]
        assert (updates.updates, updates.skips, updates.copy_bytes) == (iterations, 0, 0)
        assert updates.gradient_bytes == sum(t.gradient_bytes for t in announced)
        assert updates.tiles == sum(t.tiles for t in announced)
        assert updates.parameters == iterations * network.parameter_count()


def test_nodes_may_be_separate_devices(data):
    """Behemoth's activation node and weight node, each with the streams of its table."""
    network, optimizer = mlp(16), Adam()
    sequence = training_sequence(network, 16, optimizer, UpdatePlace.CORE)
    with (
        open_device("small", link=FunctionalLink, node=ACTIVATION_NODE) as activation_node,
        open_device("small", link=FunctionalLink, node=WEIGHT_NODE) as weight_node,
    ):
        storage = DeviceStorage(
            {
                StreamRole.INPUTS: activation_node,
                StreamRole.ACTIVATIONS: activation_node,
                StreamRole.WEIGHTS: weight_node,
                StreamRole.TRAINED: weight_node,
            }
        )
        result = train_through_flash(network, data, optimizer, 16, 4, 2, storage, sequence)
        with pytest.raises(TensorError, match="no device has the stream state"):
            train_through_flash(network, data, optimizer, 16, 4, 2, storage)
    assert result.log.equals(train_reference(network, data, optimizer, 16, 4, seed=2))


def test_a_device_without_the_streams_is_refused(data):
    with open_device("small", link=FunctionalLink, node=ACTIVATION_NODE) as device:
        with pytest.raises(ConfigError, match="'activation' has no stream 'weights'"):
            DeviceStorage.on(device)
    with open_device("small", link=FunctionalLink, node=SINGLE_NODE) as device:
        with pytest.raises(ConfigError, match="'single' has no stream 'state_a'"):
            train_through_flash(mlp(4), data, Adam(), 16, 1, seed=0, storage=DeviceStorage.on(device))


def test_state_that_does_not_fit_is_refused(data):
    with open_device("tiny", link=FunctionalLink, node=UPDATE_NODE) as device:
        with pytest.raises(
            StreamFull, match="streams state_a, state_b, state_c have room for 12 rows of tiles each"
        ):
            train_through_flash(mlp(64), data, Adam(), 4, 1, seed=0, storage=DeviceStorage.on(device))


@pytest.mark.parametrize("place", UpdatePlace)
def test_a_sequence_from_a_file_trains_and_replays(place, small, tmp_path, data):
    network, optimizer = mlp(16), Adam()
    save_sequence(training_sequence(network, 16, optimizer, place), tmp_path / "mlp.json")
    sequence = load_sequence(tmp_path / "mlp.json")
    result = train_through_flash(
        network, data, optimizer, 16, 3, seed=0, storage=DeviceStorage.on(small), sequence=sequence
    )
    assert result.log.equals(train_reference(network, data, optimizer, 16, 3, seed=0))
    replayed = replay(sequence, 3, DeviceStorage.on(small))
    assert replayed.playback.steps == result.run.playback.steps
    assert replayed.updates == result.run.updates
    for role, traffic in result.run.traffic.items():
        assert replace(replayed.traffic[role], zone_resets=0) == replace(traffic, zone_resets=0)


def test_a_sequence_of_another_network_is_refused(small, data):
    sequence = training_sequence(mlp(16), 16, Adam())
    with pytest.raises(SequenceError, match="the sequence is for mlp, expected convnet"):
        train_through_flash(
            convnet(), data, Adam(), 16, 1, seed=0, storage=DeviceStorage.on(small), sequence=sequence
        )


def test_progress_comes_in_order(small, data):
    losses, finished = [], []
    result = train_through_flash(
        mlp(4),
        data,
        Adam(),
        8,
        4,
        seed=0,
        storage=DeviceStorage.on(small),
        progress=lambda t, loss: losses.append((t, loss)),
        on_iteration=finished.append,
    )
    assert losses == list(enumerate(result.log.losses, start=1))
    assert finished == [1, 2, 3, 4]
