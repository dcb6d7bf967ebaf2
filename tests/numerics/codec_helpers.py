"""A decoder of coded pages by the letter of `flashtrain.spec.codec`, element by element; data for codecs."""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.streams import Codec

MANTISSA = {2: 7, 4: 23}


def decoded_slowly(page: bytes) -> tuple[int, int, list[int]]:
    """Mode, slices, and the stored words of a page."""
    size = 4 if page[1] >> 4 == 2 else 2
    mode, base, slices = page[2] & 3, page[3], int.from_bytes(page[12:14], "little")
    elements, planes = 32 // size, (0, 1, 3, 3)[mode]
    backwards = iter(page[:-4][::-1])
    words = []
    for number in range(slices):
        stride = planes * elements // 8
        bits = int.from_bytes(page[16 + number * stride : 16 + (number + 1) * stride], "little")
        for element in range(elements):
            kind = sum((bits >> (plane * elements + element) & 1) << plane for plane in range(planes))
            words.append(_word(mode, kind, base, size, backwards))
    return mode, slices, words


def with_check(page: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The page with the check of its other bytes in the last four."""
    page[-4:] = np.frombuffer(crc32(page[:-4].tobytes()).to_bytes(4, "little"), np.uint8)
    return page


def _word(mode: int, kind: int, base: int, size: int, payload) -> int:
    whole = {0: True, 1: kind == 1}.get(mode, kind == 7)
    if mode in (1, 2) and kind == 0:
        return 0
    low = int.from_bytes(bytes(next(payload) for _ in range(size - 1)), "little")
    exponent = next(payload) if whole else (base - kind + (mode == 2)) % 256
    bits = MANTISSA[size]
    return low >> bits << (bits + 8) | exponent << bits | low & ((1 << bits) - 1)


def stored_words(data: bytes, codec: Codec) -> list[int]:
    """The words that pages hold of user data, for codecs without loss."""
    return np.frombuffer(data, "<u4" if codec is Codec.WINDOW32 else "<u2").tolist()


def like_activations(random: np.random.Generator, elements: int, codec: Codec) -> bytes:
    """Stretches of numbers of different sizes, with different shares of zeros, and some of any bits."""
    parts = []
    while sum(map(len, parts)) < elements:
        count = int(random.integers(1, elements + 1))
        values = random.standard_normal(count) * 2.0 ** random.integers(-60, 60)
        values[random.random(count) < random.choice([0, 0, 0.3, 0.7, 0.97, 1])] = 0
        part = values.astype("<f4").view("<u4")
        if random.random() < 0.2:
            part = random.integers(0, 1 << 32, count).astype("<u4")
        parts.append(part)
    return _stored(np.concatenate(parts)[:elements], codec)


def for_each_mode(random: np.random.Generator, elements: int, codec: Codec) -> bytes:
    """Stretches that suit one mode each: few exponents, zeros among them, nearly only zeros, any bits."""
    values = random.standard_normal((3, elements // 4)).astype("<f4")
    for part, zeros in zip(values, (0, 0.4, 0.97), strict=True):
        part[random.random(part.size) < zeros] = 0
    any_bits = random.integers(0, 1 << 32, elements - values.size).astype("<u4")
    return _stored(np.concatenate([values.view("<u4").reshape(-1), any_bits]), codec)


def _stored(words: NDArray[np.uint32], codec: Codec) -> bytes:
    return (words >> 16).astype("<u2").tobytes() if codec is Codec.WINDOW16 else words.tobytes()
