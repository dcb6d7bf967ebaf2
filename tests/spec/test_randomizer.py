"""The keys of stored pages: fixed numbers, the twin in NumPy, and whether they look random."""

import numpy as np
import pytest

from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.spec import PRESETS
from flashtrain.spec.identity import PageIdentity, identity_record, is_identity
from flashtrain.spec.randomizer import key_words, page_key, plain_word, word_key

BEHEMOTH = PRESETS["behemoth_ecc"].geometry
RANDOMIZED = {name: config.geometry for name, config in PRESETS.items() if config.randomizer}


def test_presets():
    assert sorted(RANDOMIZED) == ["behemoth_ecc", "small_ecc", "tiny_ecc"]


def test_fixed_numbers():
    """A change of these makes what is stored unreadable."""
    assert word_key(page=0, plane=0, word=0) == 0x86C665F8
    assert word_key(page=1, plane=0, word=0) == 0x1189A9BD
    assert word_key(page=0, plane=1, word=0) == 0x15E2BEF6
    assert word_key(page=0, plane=0, word=1) == 0x8F1279E2
    assert word_key(page=767, plane=7, word=1027) == 0x1288816C


@pytest.mark.parametrize("name", RANDOMIZED)
def test_twin(name, seed):
    geometry = RANDOMIZED[name]
    random = np.random.default_rng(seed)
    rows = [0, 1, geometry.pages - 1, *random.integers(0, geometry.pages, 3)]
    planes = [0, geometry.planes - 1, *random.integers(0, geometry.planes, 4)]
    twin = page_keys(geometry, rows, planes)
    for row, plane, keys in zip(rows, planes, twin, strict=True):
        assert page_key(geometry, int(row), int(plane)) == keys.tobytes()


@pytest.mark.parametrize("name", RANDOMIZED)
def test_neither_ones_nor_zeros_are_an_identity(name):
    """Whatever the key: an erased page is recognised, and so are the zeros of a page that failed."""
    g = RANDOMIZED[name]
    version = PageIdentity.version
    record = int.from_bytes(identity_record(), "little")
    assert version.get(record) not in (0, (1 << version.width) - 1)
    rows, planes = np.meshgrid(np.arange(g.pages), np.arange(g.planes))
    keys = page_keys(g, rows.ravel(), planes.ravel())[:, g.page_bytes :]
    for stored in (0, 0xFF):
        read = keys ^ np.uint8(stored)
        assert not any(is_identity(one.tobytes()) for one in read)
        versions = {version.get(int.from_bytes(one.tobytes(), "little")) for one in read}
        assert versions == {stored % (1 << version.width)}


def test_words():
    assert (key_words(BEHEMOTH), plain_word(BEHEMOTH)) == (1028, 1027)


@pytest.fixture(scope="module")
def bits():
    """Of all pages of a block, bool[rows, bits]."""
    keys = page_keys(BEHEMOTH, np.arange(BEHEMOTH.pages), 3)[:, : BEHEMOTH.page_bytes]
    return np.unpackbits(keys, axis=1, bitorder="little")


def is_even(bits, axis: int) -> None:
    """Ones are half of the bits along an axis, with the scatter of coins."""
    count = bits.shape[axis]
    shares = (bits.mean(axis) - 0.5) * 2 * np.sqrt(count)  # in standard deviations
    assert abs(shares).max() < 6
    assert 0.9 < np.sqrt((shares**2).mean()) < 1.1


def test_pages_and_bit_lines_are_even(bits):
    is_even(bits, 0)
    is_even(bits, 1)


@pytest.mark.parametrize("apart", [1, 2, 3, 4])
def test_neighbours_are_not_alike(bits, apart):
    """Rows, bit lines, and words of one page."""
    for axis in (0, 1):
        is_even(bits[apart:] ^ bits[:-apart], axis)
    is_even(bits[:, apart:] ^ bits[:, :-apart], 1)
    is_even(bits[:, 32 * apart :] ^ bits[:, : -32 * apart], 1)


def test_planes_are_not_alike(bits):
    others = page_keys(BEHEMOTH, np.arange(BEHEMOTH.pages), 2)[:, : BEHEMOTH.page_bytes]
    is_even(bits ^ np.unpackbits(others, axis=1, bitorder="little"), 1)


def test_no_key_is_there_twice():
    keys = page_keys(BEHEMOTH, *np.divmod(np.arange(BEHEMOTH.pages * BEHEMOTH.planes), BEHEMOTH.planes))
    words = np.sort(keys[:, : BEHEMOTH.page_bytes].copy().view("<u4"), axis=None)
    assert (words[1:] != words[:-1]).all()
