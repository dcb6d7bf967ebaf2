"""Random numbers of a training run that depend on nothing but their position in it."""

from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.layers.philox import WORDS, philox


@dataclass(frozen=True)
class Draw:
    """A position in the random numbers of a run; see :mod:`.philox`.

    The key follows from `seed`. A counter has the number of an element, the `iteration` (from 0) and the
    CRC-32 of the name of the `layer`. Forward and backward pass thus draw the same numbers, and so does a run
    that goes on after a loss of power. `example` is the place of the first example in its batch, so a batch
    in parts draws the numbers of the whole one.
    """

    seed: int = 0
    iteration: int = 0
    layer: str = ""
    example: int = 0

    def of(self, layer: str) -> "Draw":
        """The position of a layer, or of one inside of a layer."""
        return replace(self, layer=f"{self.layer}.{layer}" if self.layer else layer)

    def words(self, examples: int, elements: int) -> NDArray[np.uint32]:
        """A word for each of the `elements` of every example, ``[examples, elements]``."""
        first, last = self.example * elements, (self.example + examples) * elements
        blocks = np.arange(first // WORDS, -(-last // WORDS), dtype=np.uint64)
        counters = np.empty((len(blocks), WORDS), np.uint32)
        counters[:, 0], counters[:, 1] = blocks & np.uint64(0xFFFFFFFF), blocks >> np.uint64(32)
        counters[:, 2], counters[:, 3] = self.iteration & 0xFFFFFFFF, crc32(self.layer.encode())
        low, high = np.random.SeedSequence(self.seed).generate_state(2)
        words = philox(counters, (int(low), int(high))).reshape(-1)
        skipped = first - first // WORDS * WORDS
        return words[skipped : skipped + examples * elements].reshape(examples, elements)
