"""The dry run of a sequence says what the device would: whether it fits, and which step does not."""

from dataclasses import replace

import pytest

from flashtrain.host import StreamFull, open_device
from flashtrain.spec import preset
from flashtrain.training.errors import SequenceError
from flashtrain.training.flash_training import replay
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import SGD, Adam
from flashtrain.training.sequence import UpdatePlace, training_sequence
from flashtrain.training.sequence.fit import require_fit
from flashtrain.training.tensors import DeviceStorage

TINY = preset("tiny")
ITERATIONS = 12


@pytest.mark.parametrize("place", UpdatePlace)
@pytest.mark.parametrize("optimizer", [SGD(), Adam()], ids=lambda optimizer: optimizer.name)
@pytest.mark.parametrize(
    ("hidden", "batch"), [(4, 4), (4, 40), (4, 90), (16, 8), (20, 16), (40, 4), (64, 64)]
)
def test_as_on_the_device(place, optimizer, hidden, batch):
    sequence = training_sequence(mlp(hidden), batch, optimizer, place)
    try:
        require_fit(sequence, ITERATIONS, TINY, place.node)
        fits = True
    except SequenceError as error:
        assert "mlp with batch" in str(error) and "does not fit on 'tiny': stream" in str(error)
        fits = False
    with open_device(TINY, node=place.node) as device:
        try:
            replay(sequence, ITERATIONS, DeviceStorage.on(device), lookahead=1)
        except StreamFull:
            assert not fits
        else:
            assert fits


def test_both_answers_occur():
    small, large = (training_sequence(mlp(4), batch, SGD()) for batch in (4, 10_000))
    require_fit(small, 1, TINY, small.update.node)
    with pytest.raises(
        SequenceError, match=r"^iteration\[1\]: mlp with batch 10000 does not fit on 'tiny': stream "
    ):
        require_fit(large, 1, TINY, large.update.node)
    wide = training_sequence(mlp(4000), 4, Adam())
    with pytest.raises(
        SequenceError, match=r"^prologue\[2\]: .*stream 'state_a' has room for \d+ rows of tiles"
    ):
        require_fit(wide, 1, TINY, wide.update.node)


def test_a_node_without_the_stream_is_named():
    sequence = training_sequence(mlp(4), 4, SGD())
    node = sequence.update.node
    without = replace(node, streams=tuple(s for s in node.streams if s.name != "inputs"))
    with pytest.raises(SequenceError, match="node 'update' has no stream inputs"):
        require_fit(sequence, 1, TINY, without)
