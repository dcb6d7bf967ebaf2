"""The keys of stored pages (`flashtrain.spec.randomizer`) in NumPy: all words of many pages at a time.

    stored = data ^ page_keys(geometry, page, plane)      # and the same way back

Written from the text of the specification and without its code, for those who check the hardware.
`randomizer_figure` prints what they do to pages of a training.
"""

from math import pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flashtrain.spec import Geometry

_IDENTITY_BYTES = 16
_ROUNDS = 10
_VERSION_BITS = range(110, 112)  # of an identity


def without_key(geometry: Geometry, stored: bytes, page: int, plane: int) -> bytes:
    """Data and identity of a page that lies in an array."""
    key = page_keys(geometry, page, plane)
    return (np.frombuffer(stored[: key.size], np.uint8) ^ key).tobytes()


def page_keys(geometry: Geometry, pages: ArrayLike, planes: ArrayLike) -> NDArray[np.uint8]:
    """Keys of the pages with these numbers on these planes, uint8[..., bytes of data and identity]."""
    size = geometry.page_bytes + _IDENTITY_BYTES
    words = np.arange(size // 4, dtype=np.uint16)
    places = np.asarray(pages, np.uint16) | np.asarray(planes, np.uint16) << np.uint16(12)
    keys = np.ascontiguousarray(_keys(places[..., np.newaxis], words)).view(np.uint8)
    for bit in _VERSION_BITS:
        keys[..., geometry.page_bytes + bit // 8] &= np.uint8(0xFF ^ 1 << bit % 8)
    return keys


def _keys(places: NDArray[np.uint16], words: NDArray[np.uint16]) -> NDArray[np.uint32]:
    upper, lower = np.broadcast_arrays(words, places)
    for constant in _constants():
        rotated = {by: upper << np.uint16(by) | upper >> np.uint16(16 - by) for by in (1, 2, 8)}
        upper, lower = lower ^ rotated[2] ^ (rotated[1] & rotated[8]) ^ constant, upper
    return upper.astype(np.uint32) << np.uint32(16) | lower


def _constants() -> list[np.uint16]:
    """Hexadecimal digits of pi, four for each round. A float has twelve of them behind the point."""
    digits = f"{int((pi - 3) * 2**48):012x}" + "08d313198a2e03707344a4093822"
    return [np.uint16(int(digits[at : at + 4], 16)) for at in range(0, 4 * _ROUNDS, 4)]
