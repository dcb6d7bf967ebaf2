"""Made-up activations."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray


class Contents(Enum):
    """The data of an append, as BF16."""

    DENSE = "normal numbers"
    RELU = "normal numbers, half of them zero after a ReLU"
    RANDOM = "random bits"

    def make(self, count: int) -> NDArray[np.uint16]:
        random = np.random.default_rng(1)
        if self is Contents.RANDOM:
            return random.integers(0, 1 << 16, count, np.uint16)
        values = random.standard_normal(count).astype(np.float32)
        if self is Contents.RELU:
            values = np.maximum(values, 0)
        return (values.view(np.uint32) >> 16).astype(np.uint16)
