"""CRC32C (Castagnoli), of many blocks of one length at once.

The CRC is linear, so each byte has a contribution by its value and its place. Tables have the contributions
within rows of a block, and shift the CRC of a row to its place.
"""

from functools import lru_cache
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

POLYNOMIAL = 0x82F63B78  # reflected
ROW_BYTES = 256
_BYTES = np.arange(256, dtype=np.uint32)


class _Tables(NamedTuple):
    """in_row: uint32[row bytes, 256]; of_row: uint32[rows, 4, 256]; constant: the CRC of zeros."""

    in_row: NDArray[np.uint32]
    of_row: NDArray[np.uint32]
    constant: int


def crc32c(blocks: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The CRC32C of each row of uint8[n, bytes]."""
    tables = _tables(blocks.shape[1])
    row_bytes = len(tables.in_row)
    rows = blocks.reshape(len(blocks), -1, row_bytes)
    of_rows = np.bitwise_xor.reduce(tables.in_row[np.arange(row_bytes), rows], axis=2)
    total = np.full(len(blocks), tables.constant, np.uint32)
    places = np.arange(rows.shape[1])
    for byte in range(4):
        shifted = tables.of_row[places, byte, (of_rows >> np.uint32(8 * byte)) & np.uint32(0xFF)]
        total ^= np.bitwise_xor.reduce(shifted, axis=1)
    return total


@lru_cache
def _tables(block_bytes: int) -> _Tables:
    row_bytes = gcd(block_bytes, ROW_BYTES)
    rows = block_bytes // row_bytes
    base = _base()
    in_row = np.empty((row_bytes, 256), np.uint32)
    in_row[-1] = base
    for place in range(row_bytes - 1, 0, -1):
        in_row[place - 1] = _behind_zero(base, in_row[place])
    of_row = np.empty((rows, 4, 256), np.uint32)
    of_row[-1] = _BYTES << (8 * np.arange(4, dtype=np.uint32)[:, None])
    shift = of_row[-1].copy()
    for _ in range(row_bytes):
        shift = _behind_zero(base, shift)
    for row in range(rows - 1, 0, -1):
        of_row[row - 1] = _shifted(shift, of_row[row])
    constant = np.full(1, 0xFFFF_FFFF, np.uint32)
    for _ in range(rows):
        constant = _shifted(shift, constant)
    return _Tables(in_row, of_row, int(constant[0]) ^ 0xFFFF_FFFF)


def _base() -> NDArray[np.uint32]:
    """The contribution of a last byte."""
    table = _BYTES.copy()
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


def _behind_zero(base: NDArray[np.uint32], crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same contributions with a byte of zeros behind them."""
    return base[crc & 0xFF] ^ (crc >> np.uint32(8))


def _shifted(shift: NDArray[np.uint32], crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same contributions with a row of zeros behind them."""
    parts = [shift[byte][(crc >> np.uint32(8 * byte)) & np.uint32(0xFF)] for byte in range(4)]
    return np.bitwise_xor.reduce(parts, axis=0)
