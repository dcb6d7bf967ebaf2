"""Parity of pages (`flashtrain.spec.ecc`) by a table with a row for each byte of a code word and its value.

`PageCodec` computes the same from the definition, bit by bit. This way costs about a tenth of the time.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.ecc import PageCode

from .page_codec import PageCodec

Bytes = NDArray[np.uint8]


class PageParity:
    """Encoder of pages of one code."""

    def __init__(self, code: PageCode) -> None:
        self.code = code

    def encode(self, data: Bytes) -> Bytes:
        """The page with these data (and identity): they, and parity behind them."""
        code = self.code
        page = np.full(code.page_bytes, 0xFF, np.uint8)
        page[: code.data_bytes] = data
        inverted = ~page[: code.data_bytes]
        for word in range(code.words):
            part = inverted[code.data(word)]
            rows = self._rows[np.arange(len(self._rows) - len(part), len(self._rows)), part]
            page[code.parity(word)] ^= np.bitwise_xor.reduce(rows, axis=0).view(np.uint8)
        return page

    @cached_property
    def _rows(self) -> NDArray[np.uint64]:
        """uint64[bytes of the longest code word, 256, lanes of parity]: from its first byte to its last."""
        bits = PageCodec(self.code).remainders[::-1].view(np.uint64)
        bits = bits.reshape(self.code.last_bytes, 8, -1)
        rows = np.zeros((self.code.last_bytes, 256, bits.shape[-1]), np.uint64)
        for bit in range(8):
            rows[:, 1 << bit : 2 << bit] = rows[:, : 1 << bit] ^ bits[:, bit, np.newaxis]
        return rows
