"""Contents of blocks: the CRC32C in their headers, and wrong bits that are found."""

import numpy as np
import pytest

from flashtrain.io.content import Content

POLYNOMIAL = 0x82F63B78  # of CRC32C, reflected


def bit_by_bit(block):
    crc = 0xFFFF_FFFF
    for byte in block.tolist():
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFF_FFFF


@pytest.mark.parametrize("length", [512, 4096])
def test_the_header_has_the_crc(length, seed):
    """A block's CRC counts itself as zeros."""
    for block in Content(seed, 3, length, 3).of(7, 2):
        crc = int(block[4:8].view(np.uint32)[0])
        block[4:8] = 0
        assert crc == bit_by_bit(block)


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
