"""Training with updates on the dies, on every Link that has them: bit for bit, after every step."""

import pytest

from flashtrain.spec.optimizer import Input
from flashtrain.training.arrays import pack
from flashtrain.training.data import digits
from flashtrain.training.flash_training import replay, train_through_flash
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import SGD, Adam, AdamW, Momentum
from flashtrain.training.reference import reference_steps, train_reference
from flashtrain.training.sequence import training_sequence
from flashtrain.training.sequence.build import weights_name
from flashtrain.training.tensors import DeviceStorage

NETWORK, BATCH = mlp(8), 8
NAMES = {"m": Input.M, "v": Input.V}


@pytest.fixture(scope="module")
def data():
    return digits()


@pytest.mark.parametrize(
    "optimizer", [SGD(0.1), Momentum(0.05), Adam(), AdamW()], ids=lambda optimizer: optimizer.code.name
)
@pytest.mark.parametrize("lookahead", [1, None])
def test_weights_and_state_after_every_step(update_device, optimizer, lookahead, data):
    steps = reference_steps(NETWORK, data, optimizer, BATCH, seed=5)
    storage = DeviceStorage.on(update_device)

    def compare(iteration):
        step = next(steps)
        for layer, w in step.parameters.items():
            packed = pack(w, {name: array.shape for name, array in w.items()})
            state = {NAMES[name]: array for name, array in step.states[layer].items()}
            for array, expected in ({Input.W: packed} | state).items():
                got = storage.state.peek(weights_name(layer), array)
                assert got.tobytes() == expected.tobytes(), (iteration, layer, array)

    result = train_through_flash(
        NETWORK, data, optimizer, BATCH, 3, 5, storage, lookahead=lookahead, on_iteration=compare
    )
    assert result.log.equals(train_reference(NETWORK, data, optimizer, BATCH, 3, seed=5))
    updates = result.run.updates
    assert (updates.updates, updates.skips, updates.parameters) == (3, 0, 3 * NETWORK.parameter_count())


def test_a_replay_comes_back(update_device):
    sequence = training_sequence(NETWORK, BATCH, Adam())
    run = replay(sequence, 2, DeviceStorage.on(update_device))
    assert run.updates is not None and run.updates.updates == 2
