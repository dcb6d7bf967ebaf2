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


def numbers(first, count):
    return np.arange(first, first + count)


def versions(version, count):
    return np.full(count, version)


@pytest.mark.parametrize("length", [512, 4096])
def test_the_header_has_the_crc(length, seed):
    """A block's CRC counts itself as zeros."""
    for block in Content(seed, 3, length).of(numbers(21, 3), np.array([2, 0, 5])):
        crc = int(block[4:8].view(np.uint32)[0])
        block[4:8] = 0
        assert crc == bit_by_bit(block)


def test_every_wrong_bit_is_found(seed):
    content, random = Content(seed, 3, 512), np.random.default_rng(seed)
    which = numbers(28, 4), versions(2, 4)
    right = content.of(*which)
    assert content.wrong(right, *which) == {}
    for bit in [*range(256), *random.integers(256, 4096, 100).tolist()]:  # each of the header
        page, read = int(random.integers(4)), right.copy()
        read[page, bit // 8] ^= 1 << bit % 8
        found = content.wrong(read.reshape(-1), *which)
        assert {key: bits.tolist() for key, bits in found.items()} == {page: [bit]}


def test_another_block_is_wrong():
    content, which = Content(1, 3, 512), (numbers(14, 2), versions(2, 2))
    others = [
        content.of(numbers(12, 2), versions(2, 2)),
        content.of(numbers(14, 2), versions(1, 2)),
        Content(1, 4, 512).of(*which),
        Content(2, 3, 512).of(*which),
    ]
    right = content.of(*which)
    assert content.wrong(right, *which) == {}
    for other in others[:3]:  # whole blocks, with right CRCs
        assert set(content.wrong(other, *which)) == {0, 1}
    for other in others:
        assert np.mean(other == right) < 0.1
    swapped = right[::-1].copy()
    assert set(content.wrong(swapped, *which)) == {0, 1}
