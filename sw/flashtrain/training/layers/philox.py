"""Philox 4x32-10: random words as a function of a counter and a key, without state.

Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
"""

import numpy as np
from numpy.typing import NDArray

WORDS = 4
"""Words of 32 bits that a counter gives."""

_ROUNDS = 10
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def philox(counters: NDArray[np.uint32], key: tuple[int, int]) -> NDArray[np.uint32]:
    """The words ``[n, 4]`` of the counters ``[n, 4]``, the least significant word first, and a key."""
    a, b, c, d = (counters[:, word].astype(np.uint64) for word in range(WORDS))
    for number in range(_ROUNDS):
        left, right = (np.uint64((k + number * w) & 0xFFFFFFFF) for k, w in zip(key, _WEYL, strict=True))
        first, second = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (
            (second >> _HALF) ^ b ^ left, second & _LOW, (first >> _HALF) ^ d ^ right, first & _LOW,
        )  # fmt: skip
    return np.stack([a, b, c, d], axis=1).astype(np.uint32)
