"""The randomizer: pages are stored as data XOR a pseudo-random key.

Cells of a string, and those of neighbouring word lines, disturb each other most when many of them hold the
same. Activations behind a ReLU are zeros, weights are equal. So pages go to the arrays as data XOR a *key*,
and come back through the same XOR. It is no cipher, and hides nothing.

The key depends on the place in the array: page of the block, plane, and *word*, four bytes of the page. It
does not depend on the block, because a copyback moves a page to another block of its plane without a change.
It does not depend on die and channel, whose cells share nothing. Each word's key is computed from these
numbers alone, so words may be taken in any order and any number at a time.

Channels apply and remove keys. A die stores and gives pages as they come, and applies keys itself only to
the tiles that it updates. Gradients, constants, copies and statistics are in no array and have no key.

Data and the identity behind them are randomized. Parity is not: it is that of randomized data. The bits of
`PageIdentity.version` stay as they are, so that neither ones (an erased page) nor zeros read as an identity,
whatever the key.

A word's key are the halves of a Feistel network: at first `word`, and `page` below `plane`; then `ROUNDS`
times `left, right = right ^ (left <<< 1 & left <<< 8) ^ left <<< 2 ^ constant, left`, with rotations of 16
bits. So no two words of a block have equal keys, and a bit of a round takes four bits of the one before.
"""

from .geometry import Geometry
from .identity import PageIdentity

WORD_BYTES = 4
HALF_BITS = 16
PAGE_BITS = 12
"""Above the page, in its half, is the plane."""

ROUND_CONSTANTS = (
    0x243F, 0x6A88, 0x85A3, 0x08D3, 0x1319, 0x8A2E, 0x0370, 0x7344, 0xA409, 0x3822,
)  # fmt: skip
"""The first digits of pi behind the point. With two rounds less, words of neighbouring pages are still a
little alike."""
ROUNDS = len(ROUND_CONSTANTS)

_VERSION_WORD, _VERSION_LOW = divmod(PageIdentity.version.low, 8 * WORD_BYTES)
PLAIN_BITS = (1 << PageIdentity.version.width) - 1 << _VERSION_LOW
"""Bits of the word with the version that have no key."""


def key_words(geometry: Geometry) -> int:
    """Words of a page that have a key: data, then identity."""
    return geometry.identified_page_bytes // WORD_BYTES


def plain_word(geometry: Geometry) -> int:
    """The word with the version of the identity."""
    return geometry.page_bytes // WORD_BYTES + _VERSION_WORD


def word_key(page: int, plane: int, word: int) -> int:
    """The key of a word, but for what `PLAIN_BITS` says."""
    left, right = word, page | plane << PAGE_BITS
    for constant in ROUND_CONSTANTS:
        mixed = (_rotated(left, 1) & _rotated(left, 8)) ^ _rotated(left, 2)
        left, right = right ^ mixed ^ constant, left
    return left << HALF_BITS | right


def page_key(geometry: Geometry, page: int, plane: int) -> bytes:
    """The key of the data and the identity of a page."""
    return _key(geometry, page, plane, range(key_words(geometry)))


def identity_key(geometry: Geometry, page: int, plane: int) -> bytes:
    """The end of it, that of the identity."""
    return _key(geometry, page, plane, range(geometry.page_bytes // WORD_BYTES, key_words(geometry)))


def _key(geometry: Geometry, page: int, plane: int, words: range) -> bytes:
    plain = {plain_word(geometry): PLAIN_BITS}
    keys = (word_key(page, plane, word) & ~plain.get(word, 0) for word in words)
    return b"".join(key.to_bytes(WORD_BYTES, "little") for key in keys)


def _rotated(half: int, bits: int) -> int:
    return (half << bits | half >> (HALF_BITS - bits)) & ((1 << HALF_BITS) - 1)
