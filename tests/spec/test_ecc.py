"""The code of a page: its layout, its generator, and the strength that follows from error rates."""

from math import comb

import pytest

from flashtrain.spec import PRESETS, ConfigError
from flashtrain.spec.ecc import LANE_BYTES, PageCode, derivation, lost_words, needed_strength
from flashtrain.spec.galois_field import POLYNOMIALS, GaloisField, multiply_polynomials

SMALL = PageCode.of(PRESETS["small"].geometry, 13)


@pytest.mark.parametrize("bits", POLYNOMIALS)
def test_x_generates_the_field(bits):
    field = GaloisField(bits)
    assert sorted(field.powers) == list(range(1, 1 << bits))


def test_arithmetic():
    field = GaloisField(8)
    assert multiply_polynomials(0b101, 0b11) == 0b1111
    assert field.multiply(0x80, 2) == 0x11D ^ 0x100
    for a, b in ((1, 255), (7, 100), (200, 3)):
        assert field.divide(field.multiply(a, b), b) == a
    assert field.multiply(5, 0) == field.divide(0, 5) == 0
    with pytest.raises(ZeroDivisionError, match=r"GF\(2\^8\)"):
        field.divide(1, 0)


def test_a_page_of_4_kib():
    """Four code words of 1 KiB, the identity with the last; 182 bits of parity in 24 bytes each."""
    assert (SMALL.words, SMALL.field.bits, SMALL.parity_bits, SMALL.parity_bytes) == (4, 14, 182, 24)
    assert [SMALL.data(word) for word in (0, 3)] == [slice(0, 1024), slice(3072, 4112)]
    assert [SMALL.parity(word) for word in (0, 3)] == [slice(4112, 4136), slice(4184, 4208)]
    assert [SMALL.word_bits(word) for word in (0, 3)] == [8 * 1048, 8 * 1064]


@pytest.mark.parametrize("name", [name for name, config in PRESETS.items() if config.code])
def test_presets(name):
    """Every byte of a page is in one code word, parts begin at lanes, and all of it fits the spare bytes."""
    geometry = PRESETS[name].geometry
    code = PRESETS[name].code
    assert code == PageCode.of(geometry, PRESETS[name].code_strength)
    parts = [code.data(word) for word in range(code.words)] + [
        code.parity(word) for word in range(code.words)
    ]
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == code.page_bytes <= geometry.raw_page_bytes
    assert all(part.start % LANE_BYTES == 0 for part in parts)


def test_strengths_of_presets_follow():
    for name in ("small_ecc", "behemoth_ecc"):
        config = PRESETS[name]
        assert config.code_strength == needed_strength(config.geometry.identified_page_bytes)
    # `tiny` has no room for what it would need.
    tiny = PRESETS["tiny"].geometry
    assert needed_strength(tiny.identified_page_bytes) == 10
    with pytest.raises(
        ConfigError, match=r"config.code_strength is 10; expected parity that fits 16 spare bytes, not 24"
    ):
        PageCode.of(tiny, 10)


def test_more_than_strength_errors():
    """The tail, against a sum of the other terms where there are few of them, and against exact numbers."""
    assert lost_words(10, 3, 0.3) == pytest.approx(
        1 - sum(comb(10, count) * 0.3**count * 0.7 ** (10 - count) for count in range(4))
    )
    bits, raw = 8512, 1e-4
    exact = sum(comb(bits, count) * raw**count * (1 - raw) ** (bits - count) for count in range(14, 40))
    assert lost_words(bits, 13, raw) == pytest.approx(exact, rel=1e-9)


def test_derivation():
    """With one bit less the last code word of a page would be lost too often."""
    lines = derivation(4112).splitlines()
    (chosen,) = (line for line in lines if line.endswith("<"))
    assert chosen.split()[0] == "13"
    rates = {int(line.split()[0]): float(line.removesuffix("<").split()[-1]) for line in lines[2:]}
    assert rates[13] < 1e-16 < 1e-15 < rates[12]


def test_code_words_that_are_too_long():
    with pytest.raises(ConfigError, match=r"code.word_bytes is 4096; expected a shorter code word"):
        PageCode(4096, 4, word_bytes=4096)
    with pytest.raises(ConfigError, match=r"code.data_bytes is 4100; expected a multiple of 8"):
        PageCode(4100, 4)
