"""Numbers as tensors have them, and others: a codec makes pages of all its modes of them."""

from random import Random

import numpy as np
from numpy.typing import NDArray

_SEGMENTS = 4


def tensor_bytes(random: Random, length: int) -> bytes:
    """Data for an append: a few segments, each of another distribution."""
    source = np.random.default_rng(random.getrandbits(32))
    cuts = sorted(4 * random.randint(0, length // 4) for _ in range(random.randrange(_SEGMENTS)))
    sizes = [end - start for start, end in zip([0, *cuts], [*cuts, length], strict=True)]
    return b"".join(_segment(random, source, size) for size in sizes)


def _segment(random: Random, source: np.random.Generator, length: int) -> bytes:
    """Of BF16 or FP32: normal numbers, some zero, of any scale; exponents that drift; zeros; random bits."""
    count = length // 4
    values = source.standard_normal(2 * count).astype(np.float32)
    values *= np.float32(2.0 ** random.randint(-60, 60))
    values[source.random(2 * count) < random.choice([0.0, 0.3, 0.9, 1.0])] = 0
    if random.random() < 0.3:
        values *= np.exp2(np.linspace(0, random.randint(-40, 40), 2 * count)).astype(np.float32)
    if random.random() < 0.2:
        values = source.integers(0, 1 << 32, 2 * count, np.uint32).view(np.float32)
    if random.random() < 0.5:
        return values[:count].tobytes()
    return _upper_halves(values).tobytes()


def _upper_halves(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    return (values.view(np.uint32) >> 16).astype(np.uint16)
