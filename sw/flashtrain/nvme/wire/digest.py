"""Header and data digests: CRC32C of bytes of any length (NVMe/TCP 1.0, section 3.3.1)."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from flashtrain.io.crc32c import POLYNOMIAL, crc32c

_BLOCK_BYTES = 4096
_MOST_BLOCKS = 64
"""Blocks of one call: its tables of places take memory in proportion."""


def digest(data: bytes | bytearray | memoryview) -> bytes:
    """The four bytes of the digest of `data`."""
    view = memoryview(data)
    whole = len(view) - len(view) % _BLOCK_BYTES
    crc = 0
    for start in range(0, whole, _MOST_BLOCKS * _BLOCK_BYTES):
        end = min(start + _MOST_BLOCKS * _BLOCK_BYTES, whole)
        blocks = np.frombuffer(view[start:end], np.uint8).reshape(-1, _BLOCK_BYTES)
        for of_block in crc32c(blocks).tolist():
            crc = _behind_block(crc) ^ of_block
    table, crc = _byte_table(), crc ^ 0xFFFF_FFFF
    for byte in view[whole:].tobytes():
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return (crc ^ 0xFFFF_FFFF).to_bytes(4, "little")


@cache
def _byte_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ POLYNOMIAL if byte & 1 else byte >> 1
        table.append(byte)
    return table


def _behind_block(crc: int) -> int:
    """The contribution of what precedes a block, by its CRC."""
    low, second, third, high = _block_tables()
    return low[crc & 0xFF] ^ second[crc >> 8 & 0xFF] ^ third[crc >> 16 & 0xFF] ^ high[crc >> 24]


@cache
def _block_tables() -> list[list[int]]:
    """The effect of a block of zeros on a CRC, by byte of it."""
    base = np.array(_byte_table(), np.uint32)
    crc: NDArray[np.uint32] = np.arange(256, dtype=np.uint32) << (8 * np.arange(4, dtype=np.uint32)[:, None])
    for _ in range(_BLOCK_BYTES):
        crc = base[crc & 0xFF] ^ (crc >> np.uint32(8))
    return crc.tolist()
