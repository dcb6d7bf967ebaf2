"""Trainings whose state lies in arrays that move: batches, steps and layouts, without a device."""

from itertools import islice

import numpy as np
import pytest

from flashtrain.checkpoint.memory.array_layout import ALIGNMENT, ArrayLayout
from flashtrain.checkpoint.memory.errors import JobError
from flashtrain.checkpoint.memory.managed_training import ManagedTraining
from flashtrain.checkpoint.memory.resumable_batches import WORDS, ResumableBatches
from flashtrain.training.data import digits
from flashtrain.training.errors import DataError
from flashtrain.training.networks import attention, convnet, mlp
from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam, Nesterov
from flashtrain.training.reference import train_reference


@pytest.fixture(scope="module")
def data():
    return digits()


@pytest.mark.parametrize("batch", [1, 100, 719, 1438])
def test_batches_are_those_of_the_data_set_from_any_position(data, batch, seed):
    """Several passes over the data; the words are moved, and the reader is made anew, between any two."""
    count = 3 * (len(data.train) // batch) + 2 if batch > 50 else 40
    words = np.empty(WORDS, np.uint64)
    ResumableBatches(data, batch).start(words, seed)
    for expected in islice(data.batches(batch, seed), count):
        words = words.copy()
        found = ResumableBatches(data, batch).take(words)
        assert np.array_equal(found.inputs, expected.inputs)
        assert np.array_equal(found.targets, expected.targets)


def test_a_batch_that_is_too_large(data):
    with pytest.raises(DataError, match="batch size must be 1 to 1438, got 1439"):
        ResumableBatches(data, 1439)


@pytest.mark.parametrize(
    ("network", "optimizer"),
    [(mlp(8), Adam()), (convnet(2), Nesterov()), (attention(4), SGD()), (mlp(4), Adam(beta1=0.4))],
    ids=lambda value: value.name,
)
def test_a_training_is_the_reference_while_its_memory_moves(data, network, optimizer):
    job = ManagedTraining("job", network, data, optimizer, 64, 25, seed=3)
    memory = np.zeros(job.layout.nbytes, np.uint8)
    job.initialise(job.layout.views(memory))
    for _ in range(job.iterations):
        moved = memory.copy()
        memory[:] = 0xA5  # whatever still used the old place would show
        memory = moved
        job.step(job.layout.views(memory))
    assert job.log.equals(train_reference(network, data, optimizer, 64, 25, seed=3))
    assert not job.log.equals(train_reference(network, data, optimizer, 64, 25, seed=4))


def test_an_overflow_is_skipped_as_in_the_reference(data):
    wild = OPTIMIZERS["sgd"].__class__(learning_rate=1e18)
    job = ManagedTraining("wild", mlp(8), data, wild, 64, 12, seed=1)
    arrays = job.layout.views(np.zeros(job.layout.nbytes, np.uint8))
    with np.errstate(all="ignore"):
        job.initialise(arrays)
        for _ in range(job.iterations):
            job.step(arrays)
        expected = train_reference(mlp(8), data, wild, 64, 12, seed=1)
    assert arrays["counters"].tolist()[0] == 12
    assert arrays["counters"].tolist()[1] < 13
    assert job.log.equals(expected)


def test_layout():
    layout = ArrayLayout({"a": ((3,), np.float32), "b": ((2, 2), np.uint64), "c": ((), np.int64)})
    assert layout.nbytes == 3 * ALIGNMENT
    memory = np.zeros(layout.nbytes, np.uint8)
    arrays = layout.views(memory)
    arrays["b"][1, 1] = 7
    assert memory[ALIGNMENT + 24] == 7
    assert {name: array.shape for name, array in arrays.items()} == {"a": (3,), "b": (2, 2), "c": ()}
    with pytest.raises(JobError, match="memory of 64 bytes for arrays; expected 192"):
        layout.views(memory[:64])
