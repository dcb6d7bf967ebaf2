"""Training through the flash: bit for bit the result of plain NumPy, with every tensor in its stream."""

from dataclasses import replace

import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.streams import ACTIVATION_NODE, WEIGHT_NODE
from flashtrain.training.errors import SequenceError
from flashtrain.training.flash_training import replay, train_through_flash
from flashtrain.training.networks import NETWORKS, convnet, mlp
from flashtrain.training.optimizers import OPTIMIZERS, Adam
from flashtrain.training.recipes import RECIPES
from flashtrain.training.reference import train_reference
from flashtrain.training.sequence import (
    StreamRole,
    load_sequence,
    save_sequence,
    summarise,
    training_sequence,
)
from flashtrain.training.tensors import DeviceStorage


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_result_equals_plain_numpy(network, optimizer, small, data):
    arguments = (NETWORKS[network](), data, OPTIMIZERS[optimizer])
    through_flash = train_through_flash(*arguments, 32, 5, seed=4, storage=DeviceStorage.on(small))
    assert through_flash.log.equals(train_reference(*arguments, 32, 5, seed=4))


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_through_flash_reaches_95_percent(name, small, data):
    recipe = RECIPES[name]
    arguments = (recipe.network, data, recipe.optimizer, recipe.batch, recipe.iterations)
    through_flash = train_through_flash(*arguments, seed=0, storage=DeviceStorage.on(small))
    assert through_flash.log.equals(train_reference(*arguments, seed=0))
    accuracy = recipe.network.accuracy(through_flash.log.parameters, data.test.images, data.test.labels)
    print(f"{name}: {accuracy:.3f}")
    assert accuracy >= 0.95


@pytest.mark.parametrize("lookahead", [1, 5, None])
def test_zones_are_used_again_and_again(lookahead, tiny, data):
    """On `tiny` the streams for inputs and weights wrap many times in a few iterations."""
    network, optimizer = mlp(8), Adam()
    storage = DeviceStorage.on(tiny)
    result = train_through_flash(
        network, data, optimizer, 16, 60, seed=1, storage=storage, lookahead=lookahead
    )
    assert result.log.equals(train_reference(network, data, optimizer, 16, 60, seed=1))
    traffic = result.run.traffic
    assert traffic[StreamRole.INPUTS].zone_resets > 5
    assert traffic[StreamRole.WEIGHTS].zone_resets > 5
    assert traffic[StreamRole.ACTIVATIONS].stream_resets == 60


def test_traffic_is_what_the_sequence_announces(small, data):
    network, optimizer, iterations = convnet(4), Adam(), 3
    sequence = training_sequence(network, 16, optimizer)
    result = train_through_flash(
        network, data, optimizer, 16, iterations, seed=0, storage=DeviceStorage.on(small)
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


def test_nodes_may_be_separate_devices(data):
    """Behemoth's activation node and weight node, each with the streams of its table."""
    network, optimizer = mlp(16), Adam()
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
        result = train_through_flash(network, data, optimizer, 16, 4, seed=2, storage=storage)
    assert result.log.equals(train_reference(network, data, optimizer, 16, 4, seed=2))


def test_a_device_without_the_streams_is_refused():
    with open_device("small", link=FunctionalLink, node=ACTIVATION_NODE) as device:
        with pytest.raises(ConfigError, match="'activation' has no stream 'weights'"):
            DeviceStorage.on(device)


def test_a_sequence_from_a_file_trains_and_replays(small, tmp_path, data):
    network, optimizer = mlp(16), Adam()
    save_sequence(training_sequence(network, 16, optimizer), tmp_path / "mlp.json")
    sequence = load_sequence(tmp_path / "mlp.json")
    result = train_through_flash(
        network, data, optimizer, 16, 3, seed=0, storage=DeviceStorage.on(small), sequence=sequence
    )
    assert result.log.equals(train_reference(network, data, optimizer, 16, 3, seed=0))
    replayed = replay(sequence, 3, DeviceStorage.on(small))
    assert replayed.playback.steps == result.run.playback.steps
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
