"""Other codes of activations: bytes that they take, without headers or pages."""

import heapq
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import ceil

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.codec.elements import rounded

Float32 = NDArray[np.float32]

ZSTD_PACKAGE = "zstandard"
ZSTD = find_spec(ZSTD_PACKAGE) is not None
"""Whether the package is there; it is in no extra, for it is only compared with."""


def bfloat16_bytes(array: Float32) -> int:
    """Each element in 16 bits."""
    return 2 * array.size


def zero_removal_bytes(array: Float32, element_bytes: int) -> int:
    """A bit per element, and the elements that are not +0.0 (FlashNeuron: in 16 bits)."""
    return -(-array.size // 8) + element_bytes * int(np.count_nonzero(array.view(np.uint32)))


def huffman_bytes(array: Float32) -> int:
    """Of BF16: a Huffman code of the exponents, without its table, and sign and mantissa in 8 bits."""
    exponents = rounded(array.view(np.uint32)) >> 7 & 0xFF
    return array.size + -(-_huffman_bits(np.bincount(exponents)) // 8)


def bound_bytes(array: Float32) -> int:
    """Of BF16: the entropy of the exponents, with a symbol for +0.0; sign and mantissa as they are.

    No code of single exponents by their frequencies over the tensor is shorter. A byte at least.
    """
    elements = rounded(array.view(np.uint32))
    counts = np.bincount(np.where(elements == 0, 256, elements >> 7 & 0xFF))
    counts = counts[counts > 0]
    bits = float(-(counts * np.log2(counts / elements.size)).sum())
    return max(1, int(np.count_nonzero(elements)) + ceil(bits / 8))


def zstd_bytes(array: Float32) -> int:
    """Of BF16: zstd at level 1 of all low bytes, then all high bytes."""
    zstandard = import_module(ZSTD_PACKAGE)
    octets = rounded(array.view(np.uint32)).view(np.uint8).reshape(-1, 2)
    return len(zstandard.ZstdCompressor(level=1).compress(octets.T.tobytes()))


ALTERNATIVES: dict[str, Callable[[Float32], int]] = {
    "BF16": bfloat16_bytes,
    "zeros out, 16 bits": lambda array: zero_removal_bytes(array, 2),
    "Huffman": huffman_bytes,
    "zstd": zstd_bytes,
    "bound": bound_bytes,
    "zeros out, FP32": lambda array: zero_removal_bytes(array, 4),
}
"""Codes by their name in a table."""


def _huffman_bits(counts: NDArray[np.integer]) -> int:
    """Bits of all symbols together; a lone symbol has one bit."""
    heap = [int(count) for count in counts if count]
    if len(heap) == 1:
        return heap[0]
    heapq.heapify(heap)
    bits = 0
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        bits += joined
        heapq.heappush(heap, joined)
    return bits
