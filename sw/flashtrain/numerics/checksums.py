"""Checksums of many short records at once, each a row of bytes."""

from binascii import crc_hqx
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint8]


def _crc32_tables() -> NDArray[np.uint32]:
    """The CRC-32 of a byte with so many bytes of zeros behind it, uint32[4, 256]."""
    tables = np.zeros((4, 256), np.uint32)
    value = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        value = np.where(value & 1, value >> 1 ^ np.uint32(0xEDB88320), value >> 1)
    tables[0] = value
    for before, table in pairwise(tables):
        table[:] = before >> 8 ^ tables[0][before & 0xFF]
    return tables


_CRC16 = np.array([crc_hqx(bytes([byte]), 0) for byte in range(256)], np.uint16)
_CRC32 = _crc32_tables()


def crc16_rows(rows: Rows) -> NDArray[np.uint16]:
    """CRC-16/IBM-3740 of each row."""
    crc = np.full(len(rows), 0xFFFF, np.uint16)
    for byte in np.ascontiguousarray(rows.T):
        crc = (crc << np.uint16(8)) ^ _CRC16[(crc >> np.uint16(8)) ^ byte]
    return crc


def crc32_rows(rows: Rows) -> NDArray[np.uint32]:
    """CRC-32 of each row, as zlib has it; a multiple of 4 bytes each."""
    crc = np.full(len(rows), 0xFFFF_FFFF, np.uint32)
    for word in np.ascontiguousarray(np.ascontiguousarray(rows).view("<u4").T):
        crc = crc ^ word
        a, b, c, d = (crc >> np.uint32(shift) & np.uint32(0xFF) for shift in (0, 8, 16, 24))
        crc = _CRC32[3][a] ^ _CRC32[2][b] ^ _CRC32[1][c] ^ _CRC32[0][d]
    return ~crc
