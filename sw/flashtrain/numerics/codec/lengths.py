"""Lengths of slices by choice, summed up: a search in the sums finds where a page is full."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.codec import (
    HEADER_BYTES,
    Choice,
    Mode,
    element_bytes,
    least_slices,
    payload_end,
    plane_bytes,
)
from flashtrain.spec.streams import Codec

CHUNK = 1 << 14
"""Slices whose sums are computed at a time."""


class SliceLengths:
    """Bytes of planes and payload of the slices of an append, for any choice.

    exponents, zeros: of the elements, [slices, elements of a slice].
    """

    def __init__(
        self, exponents: NDArray[np.uint8], zeros: NDArray[np.bool_], codec: Codec, page_bytes: int
    ) -> None:
        self._exponents, self._zeros = exponents, zeros
        self._codec, self._page_bytes = codec, page_bytes
        self._chunk = 0
        self._sums: dict[Choice, NDArray[np.int64]] = {}

    def page(self, start: int, choice: Choice) -> int:
        """Slices of a page of this choice that begins with slice `start`."""
        if choice.mode is Mode.RAW:
            return min(least_slices(self._page_bytes, self._codec, Mode.RAW), len(self._exponents) - start)
        if start // CHUNK != self._chunk:
            self._chunk = start // CHUNK
            self._sums.clear()
        if choice not in self._sums:
            self._sums[choice] = self._summed(choice)
        sums = self._sums[choice]
        at = start % CHUNK
        room = sums[at] + payload_end(self._page_bytes) - HEADER_BYTES
        return int(np.searchsorted(sums[at:], room, side="right")) - 1

    def _summed(self, choice: Choice) -> NDArray[np.int64]:
        """Sums of the lengths of the slices of the chunk, and of those that its last page may reach."""
        stride = plane_bytes(self._codec, choice.mode)
        first = self._chunk * CHUNK
        part = slice(first, first + CHUNK + self._page_bytes // stride)
        whole = ~self._zeros[part] if choice.mode.zero_class else np.ones_like(self._zeros[part])
        lengths = stride + whole.sum(axis=1) * self._element_bytes
        if choice.mode.exponents:
            distances = np.uint8(choice.base) - self._exponents[part]
            lengths -= (whole & (distances < choice.mode.exponents)).sum(axis=1)
        return np.concatenate(([0], np.cumsum(lengths)))

    @property
    def _element_bytes(self) -> int:
        return element_bytes(self._codec)
