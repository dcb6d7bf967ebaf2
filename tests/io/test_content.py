"""Contents of blocks: the CRC32C, and wrong bits that are found."""

import numpy as np
import pytest

from flashtrain.io.content import Content
from flashtrain.io.crc32c import POLYNOMIAL, crc32c


def bit_by_bit(block):
    crc = 0xFFFF_FFFF
    for byte in block.tolist():
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFF_FFFF


@pytest.mark.parametrize(
    "block, crc",
    [
        (b"123456789", 0xE306_9283),
        (bytes(32), 0x8A91_36AA),
        (b"\xff" * 32, 0x62A8_AB43),
        (bytes(range(32)), 0x46DD_794E),
    ],
)
def test_published_values(block, crc):
    """The check value of the catalogue of CRCs, and those of RFC 3720, B.4."""
    assert crc32c(np.frombuffer(block, np.uint8)[None]).tolist() == [crc]


@pytest.mark.parametrize("length", [1, 100, 256, 512, 4096])
def test_against_bit_by_bit(length, seed):
    blocks = np.random.default_rng(seed).integers(0, 256, (3, length), np.uint8)
    assert crc32c(blocks).tolist() == [bit_by_bit(block) for block in blocks]


def test_every_wrong_bit_is_found(seed):
    content, random = Content(seed, 3, 512, 4), np.random.default_rng(seed)
    right = content.of(7, 2)
    assert content.wrong(right, 7, 2) == {}
    for bit in [*range(256), *random.integers(256, 4096, 100).tolist()]:  # each of the header
        page, read = int(random.integers(4)), right.copy()
        read[page, bit // 8] ^= 1 << bit % 8
        found = content.wrong(read.reshape(-1), 7, 2)
        assert {key: bits.tolist() for key, bits in found.items()} == {page: [bit]}


def test_another_block_is_wrong():
    content = Content(1, 3, 512, 2)
    others = [
        content.of(6, 2),
        content.of(7, 1),
        Content(1, 4, 512, 2).of(7, 2),
        Content(2, 3, 512, 2).of(7, 2),
    ]
    right = content.of(7, 2)
    assert content.wrong(right, 7, 2) == {}
    for other in others[:3]:  # whole blocks, with right CRCs
        assert set(content.wrong(other, 7, 2)) == {0, 1}
    for other in others:
        assert np.mean(other == right) < 0.1
    swapped = right[::-1].copy()
    assert set(content.wrong(swapped, 7, 2)) == {0, 1}
