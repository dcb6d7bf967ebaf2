"""A spare for one page of a run of bytes: the parity of its pages."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def parity_of(raw: Bytes, page_bytes: int) -> Bytes:
    """The exclusive or of all pages of `raw`, of which the last may be short; of one page, that page."""
    padded = np.zeros(-(-len(raw) // page_bytes) * page_bytes, np.uint8)
    padded[: len(raw)] = raw
    found = np.bitwise_xor.reduce(padded.reshape(-1, page_bytes), axis=0)
    return found[: min(len(raw), page_bytes)]


def mended(
    pages: Sequence[Bytes | None], nbytes: int, page_bytes: int, parity: Bytes, crc: int
) -> Bytes | None:
    """The bytes of which these pages are left, with one lost (None) or wrong, or None if more are.

    - nbytes, crc: of the bytes; page_bytes, parity: as of :func:`parity_of`.
    """
    lost = [number for number, page in enumerate(pages) if page is None]
    raw = np.zeros(len(pages) * page_bytes, np.uint8)
    rows = raw.reshape(-1, page_bytes)
    for row, page in zip(rows, pages, strict=True):
        if page is not None:
            row[: len(page)] = page
    total = np.bitwise_xor.reduce(rows, axis=0)
    total[: len(parity)] ^= parity
    for number in lost if lost else range(len(pages)):
        rows[number] ^= total
        if len(lost) < 2 and crc32(raw[:nbytes].data) == crc:
            return raw[:nbytes]
        rows[number] ^= total
    return None
