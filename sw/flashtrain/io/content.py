"""Contents of blocks, each of which follows from seed, job, offset and version; and their check.

A logical block begins with a header of 32 bytes: a mark and the CRC32C of the logical block, its number, its
version, and the number of its job. All other bytes are pseudo-random. The CRC counts itself as zeros.
"""

from dataclasses import dataclass

import numpy as np
from crc32c import crc32c
from numpy.typing import NDArray

MARK = 0x6F69_7466  # "ftio"
_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_FIRST, _SECOND = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_LOW = np.uint64(0xFFFF_FFFF)


@dataclass(frozen=True)
class WrongBlock:
    """A logical block of a job that differs from its content.

    - offset: in the job, in bytes. lba: of the stream.
    - bits: how many differ; byte, bit: the first of them; value: as it was read.
    """

    job: str
    stream: str
    offset: int
    lba: int
    bits: int
    byte: int
    bit: int
    value: int

    def __str__(self) -> str:
        first = f"bit {self.bit} of byte {self.byte} is {self.value}; expected {1 - self.value}"
        what = first if self.bits == 1 else f"{self.bits:,} wrong bits, the first: {first}"
        return f"{self.job}: block at offset {self.offset}, LBA {self.lba} of stream {self.stream!r}: {what}"


class Content:
    """The contents of one job's logical blocks, by their numbers and versions: int64[n] each."""

    def __init__(self, seed: int, job: int, page_bytes: int) -> None:
        self._job = job
        self._page_bytes = page_bytes
        self._steps = np.arange(page_bytes // 8, dtype=np.uint64) * _GOLDEN
        self._base = _mixed(np.array([seed << 32 | job], np.uint64))

    def of(self, numbers: NDArray[np.int64], versions: NDArray[np.int64]) -> NDArray[np.uint8]:
        """uint8[n, bytes]."""
        header = np.stack([numbers, versions, np.full_like(numbers, self._job)], axis=1).astype(np.uint64)
        seeds = _mixed(header[:, 0] * _FIRST + header[:, 1] * _SECOND + self._base)
        words = _mixed(seeds[:, None] + self._steps)
        words[:, 0] = MARK
        words[:, 1:4] = header
        content = words.view(np.uint8)
        words[:, 0] |= _crcs(content) << np.uint64(32)
        return content

    def wrong(
        self, read: NDArray[np.uint8], numbers: NDArray[np.int64], versions: NDArray[np.int64]
    ) -> dict[int, NDArray[np.intp]]:
        """The wrong bits of each logical block that is not as expected: numbers of bits, by its index."""
        content = read.reshape(len(numbers), self._page_bytes)
        if self._is_good(content, numbers, versions):
            return {}
        differ = np.unpackbits(content ^ self.of(numbers, versions), axis=1, bitorder="little")
        return {index: np.flatnonzero(bits) for index, bits in enumerate(differ) if bits.any()}

    def _is_good(
        self, content: NDArray[np.uint8], numbers: NDArray[np.int64], versions: NDArray[np.int64]
    ) -> bool:
        """Whether headers and CRCs are as expected."""
        words = content.copy().view(np.uint64)
        crc = words[:, 0] >> np.uint64(32)
        words[:, 0] &= _LOW
        return bool(
            (words[:, 0] == MARK).all()
            and (words[:, 1] == numbers.astype(np.uint64)).all()
            and (words[:, 2] == versions.astype(np.uint64)).all()
            and (words[:, 3] == self._job).all()
            and (crc == _crcs(words.view(np.uint8))).all()
        )


def _crcs(blocks: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The CRC32C of each row of uint8[n, bytes]."""
    return np.array([crc32c(block) for block in blocks], np.uint64)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64, a bijection of words."""
    words = (words ^ words >> np.uint64(30)) * _FIRST
    words = (words ^ words >> np.uint64(27)) * _SECOND
    return words ^ words >> np.uint64(31)
