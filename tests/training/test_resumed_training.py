"""A training run that losses of power cut: it goes on to the same bits as one that nothing disturbs."""

import numpy as np
import pytest

from flashtrain.checkpoint import PinEveryCommit
from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.commits import PLAIN
from flashtrain.training.errors import PositionError
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import SGD, Adam
from flashtrain.training.reference import train_reference
from flashtrain.training.run_position import RunPosition
from flashtrain.training.sequence import UpdatePlace, training_sequence
from flashtrain.training.tensors import DeviceStorage

NETWORK, BATCH, ITERATIONS, SEED = mlp(8), 4, 9, 5


class PowerFailed(Exception):
    pass


class FailingLink(FunctionalLink):
    """A Link whose power fails after `left` more accesses to registers."""

    left: int | None = None

    def write_register(self, address: int, value: int) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise PowerFailed
        super().write_register(address, value)


def train(device, data, optimizer, commits, resume):
    storage = DeviceStorage.on(device, commits)
    return train_through_flash(
        NETWORK, data, optimizer, BATCH, ITERATIONS, SEED, storage, resume=resume
    )  # fmt: skip


@pytest.mark.parametrize("commits", [PLAIN, PinEveryCommit()], ids=["plain", "pinned"])
def test_the_same_bits_however_often_the_power_fails(data, commits, seed):
    optimizer, random = Adam(), np.random.default_rng(seed)
    expected = train_reference(NETWORK, data, optimizer, BATCH, ITERATIONS, SEED)
    cuts = 0
    with FailingLink(preset("tiny"), 1 << 18) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        while True:
            link.left = int(random.integers(10, 120))
            try:
                result = train(device, data, optimizer, commits, resume=True)
                break
            except PowerFailed:
                cuts += 1
                link.left = None
                link.power_cycle()
                device = open_device(link=link, node=UPDATE_NODE, recover=True)
        assert cuts > 3 and result.begin > 0
        assert result.log.losses == expected.losses[result.begin :]
        assert result.log.digests == expected.digests[result.begin :]
        assert result.log.parameters.keys() == expected.parameters.keys()
        for layer, arrays in expected.parameters.items():
            for name, array in arrays.items():
                assert result.log.parameters[layer][name].tobytes() == array.tobytes()


def test_a_complete_run_is_only_read(data):
    """With skipped steps among its iterations."""
    optimizer = SGD(1e30)
    with np.errstate(all="ignore"), FailingLink(preset("tiny"), 1 << 18) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        whole = train(device, data, optimizer, PLAIN, resume=False)
        link.power_cycle()
        device = open_device(link=link, node=UPDATE_NODE, recover=True)
        again = train(device, data, optimizer, PLAIN, resume=True)
    assert 0 < whole.run.updates.skips and again.begin == ITERATIONS - whole.run.updates.skips
    assert np.array_equal(again.log.losses, whole.log.losses[again.begin :], equal_nan=True)


def test_what_cannot_go_on(data):
    with FunctionalLink(preset("tiny"), 1 << 18) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        result = train(device, data, Adam(), PinEveryCommit(), resume=True)
        assert result.begin == 0 and len(result.log.losses) == ITERATIONS, "nothing to go on from"
        with pytest.raises(PositionError, match="begin with b'FTP1'; expected the 20 of a run's position"):
            link.power_cycle()
            device = open_device(link=link, node=UPDATE_NODE, recover=True)
            train(device, data, Adam(), PLAIN, resume=True)
    sequence = training_sequence(NETWORK, BATCH, Adam(), UpdatePlace.CORE)
    with open_device("tiny", node=SINGLE_NODE) as device:
        storage = DeviceStorage.on(device)
        with pytest.raises(PositionError, match="keeps its weights in a volatile stream; expected die"):
            train_through_flash(
                NETWORK, data, Adam(), BATCH, ITERATIONS, SEED, storage, sequence, resume=True
            )


def test_bytes_of_a_position():
    position = RunPosition(7, 5)
    assert RunPosition.unpack(position.pack()) == position
    with pytest.raises(PositionError, match="has 0 bytes"):
        RunPosition.unpack(b"")
