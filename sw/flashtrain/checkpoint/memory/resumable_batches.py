"""Mini-batches whose order and position are a few words of memory."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arrays import check_seed
from flashtrain.training.data import Dataset, Examples
from flashtrain.training.errors import DataError

WORDS = 7
"""uint64: state and increment of PCG64, its spare half, and the position in the pass over the data."""

_POSITION = 6
_MASK = (1 << 64) - 1


class ResumableBatches:
    """The batches of `Dataset.batches`, from any position.

    The words hold the random state before the order of the present pass was drawn, so that the order can be
    drawn again.
    """

    def __init__(self, data: Dataset, batch: int) -> None:
        if not 1 <= batch <= len(data.train):
            raise DataError(f"batch size must be 1 to {len(data.train)}, got {batch}")
        self._examples = data.train
        self._batch = batch

    def start(self, words: NDArray[np.uint64], seed: int) -> None:
        """Set the words to the beginning of the batches of `seed`."""
        _store(words, np.random.default_rng(check_seed(seed)))
        words[_POSITION] = 0

    def take(self, words: NDArray[np.uint64]) -> Examples:
        """The next batch; the words move on."""
        random, count = _load(words), len(self._examples)
        order, start = random.permutation(count), int(words[_POSITION])
        if start + self._batch > count:
            _store(words, random)
            order, start = random.permutation(count), 0
        words[_POSITION] = start + self._batch
        return self._examples.take(order[start : start + self._batch])


def _store(words: NDArray[np.uint64], random: np.random.Generator) -> None:
    content = random.bit_generator.state
    state, increment = content["state"]["state"], content["state"]["inc"]
    words[:_POSITION] = (
        state >> 64, state & _MASK, increment >> 64, increment & _MASK,
        content["has_uint32"], content["uinteger"],
    )  # fmt: skip


def _load(words: NDArray[np.uint64]) -> np.random.Generator:
    numbers = [int(word) for word in words]
    generator = np.random.PCG64()
    generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers[0] << 64 | numbers[1], "inc": numbers[2] << 64 | numbers[3]},
        "has_uint32": numbers[4],
        "uinteger": numbers[5],
    }
    return np.random.Generator(generator)
