"""Pages as they come from an array whose bits go wrong, and what becomes of them."""

import random
from dataclasses import dataclass

import numpy as np

from flashtrain.numerics.page_codec import PageCodec, Verdict
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import Geometry


@dataclass(frozen=True)
class ReadPage:
    """What crosses the bus, what is left of it after correction, and the verdicts on its code words."""

    read: bytes
    corrected: bytes
    verdicts: list[Verdict]

    @property
    def failed(self) -> bool:
        return any(verdict.corrected is None for verdict in self.verdicts)

    @property
    def bits(self) -> int:
        return sum(verdict.corrected or 0 for verdict in self.verdicts)


def read_page(config: FmsConfig, page: bytes, errors: list[int]) -> ReadPage:
    """A page, parity included, with so many wrong bits in its code words; some in identity and parity."""
    code, read = config.code, np.frombuffer(page, np.uint8).copy()
    assert code is not None
    for word, count in enumerate(errors):
        for bit in _bits(config.geometry, code, word, count):
            read[bit // 8] ^= np.uint8(1 << bit % 8)
    corrected = read.copy()
    verdicts = PageCodec(code).decode(corrected)
    return ReadPage(read.tobytes(), corrected.tobytes(), verdicts)


def some_errors(config: FmsConfig, failing: float = 0.1) -> list[int]:
    """Numbers of wrong bits: often none, often as many as can be corrected, sometimes more."""
    assert config.code is not None
    strength = config.code.strength
    most = [0, 0, 0, 1, 2, strength - 1, strength]
    return [
        random.randint(strength + 1, 4 * strength) if random.random() < failing else random.choice(most)
        for _ in range(config.code.words)
    ]


def _bits(geometry: Geometry, code, word: int, count: int) -> list[int]:
    """Different bits of a code word, as bits of the page; half of the time some are in identity or parity."""
    data, parity = code.data(word), code.parity(word)
    places = [*range(8 * data.start, 8 * data.stop), *range(8 * parity.start, 8 * parity.stop)]
    behind = [bit for bit in places if bit >= 8 * geometry.page_bytes]
    few = random.sample(behind, random.randint(0, count)) if random.random() < 0.5 else []
    return few + random.sample([bit for bit in places if bit not in set(few)], count - len(few))
