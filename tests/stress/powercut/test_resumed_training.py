"""A training run through the RTL that losses of power cut at random cycles goes on to the same bits."""

from random import Random

import pytest

from flashtrain.checkpoint import PinEveryCommit
from flashtrain.host import open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.training.data import digits
from flashtrain.training.flash_training import FlashTraining, train_through_flash
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.reference import train_reference
from flashtrain.training.sequence import training_sequence
from flashtrain.training.tensors import DeviceStorage

CONFIG = preset("tiny")
NETWORK, OPTIMIZER, BATCH = mlp(8), Adam(), 4


@pytest.mark.parametrize("overlap", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_same_bits(overlap: bool, seed: int):
    """The dies update at the end of an iteration, or each layer during the backward pass."""
    run = (NETWORK, digits(), OPTIMIZER, BATCH, 8, 3)
    sequence = training_sequence(NETWORK, BATCH, OPTIMIZER, overlap=overlap)
    random, cuts = Random(seed), 0
    with FailingLink(RtlLink(CONFIG, 1 << 18)) as link:
        device = open_device(link=link, node=UPDATE_NODE)
        result: FlashTraining | None = None
        while result is None:
            # Some iterations, of which each takes some 40,000 cycles.
            link.time = link.cycles + random.randrange(60_000, 400_000)
            try:
                storage = DeviceStorage.on(device, PinEveryCommit())
                result = train_through_flash(*run, storage, sequence, resume=True)
            except PowerFailed:
                cuts += 1
                link.time = None
                link.power_cycle()
                device = open_device(link=link, node=UPDATE_NODE, recover=True)
        print(f"{cuts} cuts, {link.cycles:,} cycles, the last one after iteration {result.begin}")
        link.time = None
    expected = train_reference(*run)
    assert cuts and result.begin > 0
    assert result.log.losses == expected.losses[result.begin :]
    assert result.log.digests == expected.digests[result.begin :]
    for layer, arrays in expected.parameters.items():
        for name, array in arrays.items():
            assert result.log.parameters[layer][name].tobytes() == array.tobytes()
