"""Data sets, and the handwritten digits of scikit-learn: 1,797 grey images of 8x8 pixels, labels 0 to 9.

Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arrays import Array, check_seed
from flashtrain.training.errors import DataError

WHITE = 16.0
"""The brightest pixel of the digits; images are scaled to 0..1 by it."""


@dataclass(frozen=True)
class Examples:
    """Inputs and targets of examples, along the first axis.

    The digits have images, float32 ``[n, 8, 8]`` in 0..1, and labels, uint8 ``[n]``.
    """

    inputs: Array
    targets: Array

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, indices: NDArray[np.integer]) -> "Examples":
        return Examples(self.inputs[indices], self.targets[indices])


@dataclass(frozen=True)
class Dataset:
    """Examples to train with, and others to test the network with."""

    train: Examples
    test: Examples

    def batches(self, batch: int, seed: int) -> Iterator[Examples]:
        """Mini-batches of exactly `batch` training examples, without end.

        Each pass over the data is in a new random order; what is left at its end is too small for a batch and
        is skipped. Equal seeds give equal batches. Raises `DataError` if `batch` is not between 1 and the
        number of examples.
        """
        if not 1 <= batch <= len(self.train):
            raise DataError(f"batch size must be 1 to {len(self.train)}, got {batch}")
        return self._batches(batch, np.random.default_rng(check_seed(seed)))

    def _batches(self, batch: int, random: np.random.Generator) -> Iterator[Examples]:
        while True:
            order = random.permutation(len(self.train))
            for start in range(0, len(order) - batch + 1, batch):
                yield self.train.take(order[start : start + batch])


def digits(seed: int = 0, test_share: float = 0.2) -> Dataset:
    """The digits, split at random by `seed`; `test_share` of them, rounded down, is for the test."""
    # Late: scikit-learn takes seconds to import, and most uses of this package need no data.
    from sklearn.datasets import load_digits

    bunch = cast(Any, load_digits())
    images = (bunch.images / WHITE).astype(np.float32)
    labels = bunch.target.astype(np.uint8)
    tests = int(len(labels) * test_share)
    if not 1 <= tests < len(labels):
        raise DataError(f"test share must leave examples to train and to test with, got {test_share}")
    everything = Examples(images, labels)
    order = np.random.default_rng(check_seed(seed)).permutation(len(labels))
    return Dataset(train=everything.take(order[tests:]), test=everything.take(order[:tests]))
