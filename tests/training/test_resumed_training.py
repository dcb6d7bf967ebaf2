"""A training run that losses of power cut: it goes on to the same bits as one that nothing disturbs."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.checkpoint import PinEveryCommit
from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.activation_format import ActivationFormat
from flashtrain.training.commits import PLAIN
from flashtrain.training.errors import PositionError
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.layers import GELU, BatchNorm, Dropout, Linear, Reshape
from flashtrain.training.networks import Network, mlp
from flashtrain.training.optimizers import SGD, Adam
from flashtrain.training.reference import bits_equal, train_reference
from flashtrain.training.resumed_run import resumed_running
from flashtrain.training.run_identity import RunIdentity
from flashtrain.training.run_position import RunPosition
from flashtrain.training.schedules import Cosine, WarmUp
from flashtrain.training.sequence import UpdatePlace, training_sequence
from flashtrain.training.step_policy import StepPolicy
from flashtrain.training.tensors import DeviceStorage

NETWORK, BATCH, ITERATIONS, SEED = mlp(8), 4, 9, 5
OWN = Network(
    "own", (8, 8), 10,
    (
        ("vector", Reshape((8, 8), (64,))), ("hidden", Linear(64, 8)), ("norm", BatchNorm(8)),
        ("gelu", GELU()), ("dropout", Dropout(0.2)), ("output", Linear(8, 10)),
    ),
    activations=ActivationFormat.FP16,
)  # fmt: skip
POLICY = StepPolicy(WarmUp(3, Cosine(6)), max_norm=2.0, loss_scale=2.0**16, dynamic=True)
"""The first step overflows."""


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


def train(device, data, optimizer, commits, resume, network=NETWORK, policy=StepPolicy()):
    storage = DeviceStorage.on(device, commits)
    return train_through_flash(
        network, data, optimizer, BATCH, ITERATIONS, SEED, storage, resume=resume, policy=policy
    )  # fmt: skip


@pytest.mark.parametrize(
    ("network", "policy", "commits"),
    [(NETWORK, StepPolicy(), PLAIN), (NETWORK, StepPolicy(), PinEveryCommit()), (OWN, POLICY, PLAIN)],
    ids=["plain", "pinned", "own"],
)
def test_the_same_bits_however_often_the_power_fails(data, network, policy, commits, seed):
    """OWN and POLICY have dropped elements, running arrays, learning rates and a loss scale, too."""
    optimizer, random = Adam(), np.random.default_rng(seed)
    expected = train_reference(network, data, optimizer, BATCH, ITERATIONS, SEED, policy=policy)
    cuts = 0
    with FailingLink(preset("tiny"), 1 << 18) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        while True:
            link.left = int(random.integers(10, 120))
            try:
                result = train(device, data, optimizer, commits, True, network, policy)
                break
            except PowerFailed:
                cuts += 1
                link.left = None
                link.power_cycle()
                device = open_device(link=link, node=UPDATE_NODE, recover=True)
        assert cuts > 3 and result.begin > 0
        assert result.log.losses == expected.losses[result.begin :]
        assert result.log.digests == expected.digests[result.begin :]
        assert bits_equal(result.log.parameters, expected.parameters)
        assert bits_equal(result.log.running, expected.running)


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
        with pytest.raises(PositionError, match="begin with b'FTP1'; expected at least the 60 of a"):
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


def test_another_run_does_not_go_on(data):
    with FunctionalLink(preset("tiny"), 1 << 18) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        train(device, data, Adam(), PLAIN, resume=False)
        for options, message in (
            ({"seed": SEED + 1}, f"a run with seed {SEED}; expected seed {SEED + 1}"),
            ({"batch": BATCH + 1}, f"a run with batch {BATCH}; expected batch {BATCH + 1}"),
            ({"optimizer": Adam(0.5)}, "a run with another optimizer"),
            ({"network": replace(NETWORK, name="other")}, "a run with another network"),
            ({"policy": StepPolicy(Cosine(ITERATIONS))}, "another schedule, clipping or loss scale"),
            ({"policy": StepPolicy(max_norm=1.0)}, "another schedule, clipping or loss scale"),
        ):
            link.power_cycle()
            device = open_device(link=link, node=UPDATE_NODE, recover=True)
            arguments = {"network": NETWORK, "optimizer": Adam(), "batch": BATCH, "seed": SEED} | options
            with pytest.raises(PositionError, match=message):
                train_through_flash(
                    data=data, iterations=ITERATIONS, storage=DeviceStorage.on(device, PLAIN), resume=True,
                    **arguments,
                )  # fmt: skip


@pytest.mark.parametrize("stored", [False, True])
def test_updates_that_overlap_go_on_with_such(stored, data):
    """Their places on the dies differ: a run of the other kind is refused, one of the same kind resumes."""

    def trained(device, overlap, iterations, resume=True):
        sequence = training_sequence(NETWORK, BATCH, Adam(), overlap=overlap)
        return train_through_flash(
            NETWORK, data, Adam(), BATCH, iterations, SEED, DeviceStorage.on(device), sequence, resume=resume
        )

    with FunctionalLink(preset("tiny"), 1 << 18) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        trained(device, stored, 3, resume=False)
        link.power_cycle()
        device = open_device(link=link, node=UPDATE_NODE, recover=True)
        with pytest.raises(PositionError, match="a run with another optimizer or order of updates"):
            trained(device, not stored, ITERATIONS)
        result = trained(device, stored, ITERATIONS)
        assert result.begin == 3
        expected = train_reference(NETWORK, data, Adam(), BATCH, ITERATIONS, SEED)
        assert result.log.losses == expected.losses[3:]


def test_running_arrays_of_another_network():
    position = RunPosition(7, 5, running=bytes(16))
    with pytest.raises(PositionError, match="16 bytes of running arrays; expected the 64 of network own"):
        resumed_running(OWN, position)


def test_bytes_of_a_position():
    for position in (
        RunPosition(7, 5),
        RunPosition(7, 5, 1024.0, 3, b"running ", RunIdentity(2, 3, 4, 5, 6)),
    ):
        assert RunPosition.unpack(position.pack()) == position
    with pytest.raises(PositionError, match="has 0 bytes"):
        RunPosition.unpack(b"")
