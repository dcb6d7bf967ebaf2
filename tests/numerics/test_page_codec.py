"""The page codec against codes and decoders that are not ours, and against what theory says."""

from itertools import combinations
from math import comb, sqrt

import bchlib
import galois
import numpy as np
import pytest

from flashtrain.numerics.errors import OperandError
from flashtrain.numerics.page_codec import PageCodec, Verdict
from flashtrain.spec import PRESETS
from flashtrain.spec.ecc import PageCode

SMALL_CODE = PageCode(data_bytes=16, strength=2, word_bytes=8)
"""Two code words of 128 bits, 16 of them parity, in GF(256)."""
PRESET_CODES = {name: PRESETS[f"{name}_ecc"].code for name in ("tiny", "small")}


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


@pytest.fixture(params=PRESET_CODES)
def codec(request):
    return PageCodec(PRESET_CODES[request.param])


def random_page(codec, random):
    return codec.encode(random.integers(0, 256, codec.code.data_bytes, np.uint8))


def flip(page, code, word, bits):
    """Change these bits of a code word, counted from its first."""
    places = np.r_[code.data(word), code.parity(word)]
    for bit in bits:
        page[places[bit // 8]] ^= np.uint8(1 << bit % 8)


def inverted(page, part):
    return bytes(~page[part])


def test_parity_is_that_of_bchlib(codec, random):
    """Its bytes, inverted, with ones behind them."""
    code = codec.code
    theirs = bchlib.BCH(code.strength, m=code.field.bits, swap_bits=True)
    assert (theirs.prim_poly, theirs.ecc_bits) == (code.field.polynomial, code.parity_bits)
    for _ in range(5):
        page = random_page(codec, random)
        for word in range(code.words):
            expected = bytes(theirs.encode(inverted(page, code.data(word)))).ljust(code.parity_bytes, b"\0")
            assert inverted(page, code.parity(word)) == expected


def test_what_galois_corrects(random):
    """Its decoder says the same of words with 0 to 5 wrong bits: the same positions, or none."""
    code, codec = SMALL_CODE, PageCodec(SMALL_CODE)
    # Calculated in Python: to compile it for a few words takes longer.
    field = galois.GF(
        2**code.field.bits, irreducible_poly=code.field.polynomial, primitive_element=2, verify=False,
        compile="python-calculate",
    )  # fmt: skip
    theirs = galois.BCH(field.order - 1, d=2 * code.strength + 1, extension_field=field, alpha=field(2))
    assert int(theirs.generator_poly) == code.generator
    pages = [random_page(codec, random) for _ in range(120)]
    for number, page in enumerate(pages):
        flip(page, code, 0, random.choice(code.word_bits(0), number % 6, replace=False))
    places = np.r_[code.data(0), code.parity(0)]
    words = np.array([np.unpackbits(~page[places], bitorder="little") for page in pages])
    corrected, counts = theirs.decode(galois.GF2(words), output="codeword", errors=True)
    for page, difference, count in zip(pages, words ^ np.array(corrected), counts, strict=True):
        expected = None if count < 0 else np.flatnonzero(difference).tolist()
        found = codec.errors(page, 0)
        assert (None if found is None else found.tolist()) == expected
    assert {0, 1, 2, -1} == {int(count) for count in counts}


def test_every_single_and_double_error(random):
    codec = PageCodec(SMALL_CODE)
    page = random_page(codec, random)
    bits = range(SMALL_CODE.word_bits(1))
    for wrong in [*combinations(bits, 1), *combinations(bits, 2)]:
        read = page.copy()
        flip(read, SMALL_CODE, 1, wrong)
        assert codec.errors(read, 1).tolist() == list(wrong)
        assert codec.errors(read, 0).tolist() == []


def test_up_to_strength_errors(codec, random):
    code = codec.code
    for count in [*range(code.strength + 1), *[code.strength] * 5]:
        page = random_page(codec, random)
        read = page.copy()
        for word in range(code.words):
            flip(read, code, word, random.choice(code.word_bits(word), count, replace=False))
        assert codec.decode(read) == [Verdict(corrected=count)] * code.words
        assert (read == page).all()


def test_positions_are_those_of_bchlib(codec, random):
    code = codec.code
    theirs = bchlib.BCH(code.strength, m=code.field.bits, swap_bits=True)
    for _ in range(5):
        page = random_page(codec, random)
        wrong = random.choice(8 * (code.last_bytes + 8), code.strength, replace=False)
        flip(page, code, code.words - 1, wrong)
        data = bytearray(inverted(page, code.data(code.words - 1)))
        parity = bytearray(inverted(page, code.parity(code.words - 1))[: theirs.ecc_bytes])
        assert theirs.decode(data, parity) == code.strength
        assert sorted(theirs.errloc) == codec.errors(page, code.words - 1).tolist()


def test_one_error_more_is_detected(codec, random):
    """One wrong code word in (n choose t) / 2^(m t) would be taken for another: some 10^-14 of them here."""
    code = codec.code
    for count in range(code.strength + 1, code.strength + 6):
        page = random_page(codec, random)
        flip(page, code, 0, random.choice(code.word_bits(0), count, replace=False))
        read = page.copy()
        assert codec.decode(read) == [Verdict(corrected=None)] + [Verdict()] * (code.words - 1)
        assert (read == page).all()


def test_miscorrection_as_often_as_theory_says(random):
    """Of words far from any code word, that share which lies within `strength` bits of one.

    Syndromes of random words are uniform, and those of up to `strength` errors are all different.
    """
    codec, code = PageCodec(SMALL_CODE), SMALL_CODE
    bits, tries = code.word_bits(0), 3000
    share = sum(comb(bits, count) for count in range(code.strength + 1)) / 2**code.parity_bits
    taken = 0
    for _ in range(tries):
        page = random.integers(0, 256, code.page_bytes, np.uint8)
        found = codec.errors(page, 0)
        if found is not None:
            taken += 1
            flip(page, code, 0, found)
            assert not codec.syndromes(page, 0).any()  # what it is taken for is a code word
    assert abs(taken - share * tries) < 4 * sqrt(tries * share * (1 - share)), (taken, share * tries)


def test_erased_page(codec, random):
    """Nothing but ones is a page of clean code words, and a few zeros are corrected to ones."""
    code = codec.code
    erased = np.full(code.page_bytes, 0xFF, np.uint8)
    assert (codec.encode(erased[: code.data_bytes]) == erased).all()
    read = erased.copy()
    assert codec.decode(read) == [Verdict()] * code.words
    for word in range(code.words):
        flip(read, code, word, random.choice(code.word_bits(word), code.strength - word, replace=False))
    assert codec.decode(read) == [Verdict(corrected=code.strength - word) for word in range(code.words)]
    assert (read == erased).all()


def test_pages_of_another_length():
    with pytest.raises(OperandError, match=r"a page of uint8 \(16,\); expected uint8 \(32,\)"):
        PageCodec(SMALL_CODE).decode(np.zeros(16, np.uint8))
