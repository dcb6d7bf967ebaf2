"""Parity of pages (`flashtrain.spec.ecc`) by a table with a row for each half of a byte and each value of it.

`PageCodec` computes the same from the definition, bit by bit. This way takes about a tenth of the time.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.ecc import PageCode

from .page_codec import PageCodec

_BITS = 4
"""Of an index: with eight the table is too large for a cache."""


class PageParity:
    """Encoder of pages of one code."""

    def __init__(self, code: PageCode) -> None:
        self.code = code

    def encode(self, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The page with these data (and identity): they, and parity behind them."""
        code = self.code
        page = np.full(code.page_bytes, 0xFF, np.uint8)
        page[: code.data_bytes] = data
        inverted = ~page[: code.data_bytes]
        for word in range(code.words):
            part = inverted[code.data(word)]
            rows = np.empty(2 * len(part), np.int64)
            rows[0::2], rows[1::2] = part & 15, part >> _BITS
            rows += self._first[-len(rows) :]
            parity = [np.bitwise_xor.reduce(lane.take(rows)) for lane in self._lanes]
            page[code.parity(word)] ^= np.array(parity).view(np.uint8)
        return page

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """The first row of each half of a byte, from the first byte of the longest code word to its last."""
        return np.arange(2 * self.code.last_bytes) << _BITS

    @cached_property
    def _lanes(self) -> NDArray[np.uint64]:
        """uint64[lanes of parity, rows]."""
        bits = PageCodec(self.code).remainders[::-1].view(np.uint64)
        bits = bits.reshape(2 * self.code.last_bytes, _BITS, -1)
        rows = np.zeros((len(bits), 1 << _BITS, bits.shape[-1]), np.uint64)
        for bit in range(_BITS):
            rows[:, 1 << bit : 2 << bit] = rows[:, : 1 << bit] ^ bits[:, bit, np.newaxis]
        return np.ascontiguousarray(rows.reshape(-1, bits.shape[-1]).T)
