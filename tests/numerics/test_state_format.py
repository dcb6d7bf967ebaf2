"""Rounding of state: against the contract, for special values, and by statistics of the random bits."""

from fractions import Fraction
from math import floor, inf, isfinite, isinf, isnan

import numpy as np
import pytest

from flashtrain.numerics.state_format import (
    from_scaled,
    loaded,
    random_bits,
    random_halves,
    rounded,
    scaled_bits,
    scales,
    step_key,
    stochastic_bfloat16,
    stored_bits,
    upper_halves,
)
from flashtrain.spec import state_format
from flashtrain.spec.state_format import (
    E4M3,
    E5M2,
    KEY_BITS,
    PLACE_BITS,
    ROUNDS,
    SCALE_GROUP,
    StateFormat,
)

FP32, BF16, FP8, SPLIT = StateFormat


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def float_of(*bits):
    return np.array(bits, np.uint32).view(np.float32)


def test_random_bits_are_those_of_the_contract(random):
    for _ in range(20):
        key, place = int(random.integers(1 << KEY_BITS)), int(random.integers(1 << PLACE_BITS))
        bits = random_bits(key, np.uint64(place), 40)
        assert bits.tolist() == [state_format.random_bits(key, place, index) for index in range(40)]
        for array in range(3):
            assert random_halves(bits, array).tolist() == [b >> 16 * array & 0xFFFF for b in bits.tolist()]


def test_the_permutation_is_that_of_simon_48():
    """The published round: all 24 bits of the key of a round are XORed, here a constant.

    The test vector of SIMON 48/96 with its key schedule reproduces through the same network.
    """
    # R. Beaulieu et al., The SIMON and SPECK families of lightweight block ciphers, appendix B.
    key = [0x020100, 0x0A0908, 0x121110, 0x1A1918]
    z1 = "10001110111110010011000010110101000111011111001001100001011010"
    mask = (1 << 24) - 1

    def right(x, n):
        return (x >> n | x << 24 - n) & mask

    for number in range(4, 36):
        mixed = right(key[number - 1], 3) ^ key[number - 3]
        mixed ^= right(mixed, 1)
        key.append(~key[number - 4] & mask ^ mixed ^ int(z1[(number - 4) % 62]) ^ 3)
    assert permuted(0x726963 << 24 | 0x20646E, key) == 0x6E06A5 << 24 | 0xACF156


def permuted(value, constants):
    """`permute` with other constants."""
    own = state_format.ROUND_CONSTANTS
    try:
        state_format.ROUND_CONSTANTS = tuple(constants)
        return state_format.permute(value)
    finally:
        state_format.ROUND_CONSTANTS = own


def test_to_nearest_even_as_in_pytorch(random):
    torch = pytest.importorskip("torch")
    raw = random.integers(0, 1 << 32, 200_000, np.uint32)
    raw[:50_000] = raw[:50_000] & 0xFFFF0000 | 0x8000  # halfway between two numbers
    values = raw.view(np.float32)
    bits = stored_bits(BF16, values)
    number = ~np.isnan(values)
    expected = torch.from_numpy(values).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    assert np.array_equal(bits[number], expected[number])
    assert (bits[~number] == 0x7FC0).all()


def test_stochastic_to_one_of_the_neighbours(random):
    """Up with the part that is cut off; numbers of BF16, infinities and the NaN stay."""
    values = random.integers(0, 1 << 32, 200_000, np.uint32).view(np.float32)
    chance = random.integers(0, 1 << 16, values.size, np.uint32)
    bits = stochastic_bfloat16(values, chance)
    raw = values.view(np.uint32)
    up = (raw & 0xFFFF) + chance >= 1 << 16
    number = ~np.isnan(values)
    assert np.array_equal(bits[number], ((raw >> 16) + up)[number].astype(np.uint16))
    same = loaded(BF16, random.integers(0, 1 << 16, 10_000, np.uint16))
    assert np.array_equal(rounded(BF16, same, chance[: same.size]).view(np.uint32), same.view(np.uint32))


SPECIAL = [
    # value, with no chance, with the highest chance
    (0x00000000, 0x0000, 0x0000),
    (0x80000000, 0x8000, 0x8000),
    (0x7F800000, 0x7F80, 0x7F80),
    (0xFF800000, 0xFF80, 0xFF80),
    (0x7FC00000, 0x7FC0, 0x7FC0),
    (0xFFC12345, 0x7FC0, 0x7FC0),  # any NaN is the canonical one
    (0x00000001, 0x0000, 0x0001),  # the least subnormal
    (0x007FFFFF, 0x007F, 0x0080),  # the largest one, up to the least normal number
    (0x807FFFFF, 0x807F, 0x8080),
    (0x3F80FFFF, 0x3F80, 0x3F81),
    (0x3FFFFFFF, 0x3FFF, 0x4000),  # to the next exponent
    (0x7F7F0000, 0x7F7F, 0x7F7F),  # the largest finite number
    (0x7F7F0001, 0x7F7F, 0x7F80),  # past it: to infinity
    (0xFF7FFFFF, 0xFF7F, 0xFF80),
]


@pytest.mark.parametrize(("bits", "lowest", "highest"), SPECIAL)
def test_special_values(bits, lowest, highest):
    value = float_of(bits)
    assert stochastic_bfloat16(value, np.zeros(1, np.uint32))[0] == lowest
    assert stochastic_bfloat16(value, np.full(1, 0xFFFF, np.uint32))[0] == highest


def test_rounding_to_nearest_overflows_at_the_half():
    assert stored_bits(BF16, float_of(0x7F7F7FFF, 0x7F7F8000)).tolist() == [0x7F7F, 0x7F80]


def tiles(random, count, parameters):
    """Random bits of tiles at successive places, uint64[count, parameters]."""
    places = np.arange(count, dtype=np.uint64) << np.uint64(12) | np.uint64(5)
    return random_bits(int(random.integers(1 << KEY_BITS)), places, parameters)


SIGMAS = 5.0
"""All of the tests below accept this deviation of a fair source: a false alarm in 1.7 million."""


@pytest.mark.parametrize("array", range(3))
def test_stochastic_rounding_is_unbiased(array, random):
    """Each of 200 numbers is rounded 65,536 times; the mean is the number within 5 standard deviations.

    Power: a probability of rounding up that is off by 0.02 is found in every number (10 standard deviations).
    A bias of all numbers of 0.8 % of a unit is found with a probability of 97.7 % (7 deviations).
    """
    chance = random_halves(tiles(random, 64, 1024).reshape(-1), array)
    low = random.integers(1, 1 << 16, 200).astype(np.uint32)
    up = (low[:, np.newaxis] + chance >= 1 << 16).mean(axis=1)
    probability = low / (1 << 16)
    deviation = np.sqrt(probability * (1 - probability) / chance.size)
    assert (np.abs(up - probability) <= SIGMAS * np.maximum(deviation, 1 / chance.size)).all()
    # The numbers share the random bits: all of the mean's variance is that of one uniform number.
    mean = (chance.astype(np.float64) + 0.5).mean() / (1 << 16) - 0.5
    assert abs(mean) <= SIGMAS / np.sqrt(12 * chance.size)


def test_each_random_half_is_uniform(random):
    """Chi-squared of 65,536 values in 2,048 bins, for each array; found: 1 bin in 16 off by half with
    a probability above 99.9 %."""
    bits = tiles(random, 64, 1024).reshape(-1)
    for array in range(3):
        counts = np.bincount(random_halves(bits, array) >> 5, minlength=2048)
        expected = bits.size / 2048
        chi = float(((counts - expected) ** 2 / expected).sum())
        assert abs(chi - 2047) <= SIGMAS * np.sqrt(2 * 2047)


NEIGHBOURS = {
    "parameters": lambda bits, by: (bits[:, by:], bits[:, :-by]),
    "tiles": lambda bits, by: (bits[by:], bits[:-by]),
}


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("by", [1, 2, 3, 4, 8, 16, 32])
def test_neighbours_round_independently(neighbours, by, random):
    """Bits of neighbours differ in half of the cases; found with 97.7 %: a bit that is off by 1.4 %."""
    ours, theirs = NEIGHBOURS[neighbours](tiles(random, 64, 1024), by)
    differs = (ours ^ theirs).reshape(-1)
    for bit in range(KEY_BITS):
        share = float((differs >> np.uint64(bit) & np.uint64(1)).mean())
        assert abs(share - 0.5) <= SIGMAS * 0.5 / np.sqrt(differs.size), bit


def test_keys_round_independently(random):
    """Steps, groups and seeds that follow each other: their bits differ in half of the cases, and in others
    for each parameter."""
    keys = [step_key(seed, update, group) for seed in (0, 1) for update in (1, 2, 3) for group in (0, 1)]
    assert len(set(keys)) == len(keys)
    place = random.integers(1 << PLACE_BITS, size=1, dtype=np.uint64)
    bits = np.concatenate([random_bits(key, place, 4096) for key in keys])
    for one in range(len(keys)):
        for other in range(one):
            share = np.bitwise_count(bits[one] ^ bits[other]).mean() / KEY_BITS
            assert abs(share - 0.5) <= SIGMAS * 0.5 / np.sqrt(KEY_BITS * bits.shape[1])


def test_arrays_of_a_parameter_round_independently(random):
    """Correlations of the halves of w, m and v; found with 97.7 %: one of 0.027."""
    bits = tiles(random, 64, 1024).reshape(-1)
    halves = [random_halves(bits, array).astype(np.float64) for array in range(3)]
    found = np.corrcoef(halves)
    assert (np.abs(found[np.triu_indices(3, 1)]) <= SIGMAS / np.sqrt(bits.size)).all()


def test_fewer_rounds_are_found(monkeypatch, random):
    """The tests above can fail: with three rounds less neighbours round alike."""
    from flashtrain.numerics import state_format as numerics

    monkeypatch.setattr(numerics, "ROUND_CONSTANTS", state_format.ROUND_CONSTANTS[: ROUNDS - 3])
    with pytest.raises(AssertionError):
        for by in (1, 2, 4):
            test_neighbours_round_independently("parameters", by, random)


def test_a_repeated_step_has_the_same_key():
    assert step_key(7, 3, 1) == step_key(7, 3, 1) < 1 << KEY_BITS


# FP8 with shared scales.

SCALED_FORMATS = pytest.mark.parametrize("form", [E4M3, E5M2], ids=["e4m3", "e5m2"])


def any_groups(random, groups):
    """float32[groups, SCALE_GROUP] of every kind: of a size, of all sizes, at edges, any bits, and ties."""
    shape = groups, SCALE_GROUP
    size = np.exp2(random.integers(-140, 127, (groups, 1)).astype(float))
    spread = np.exp2(random.integers(-40, 1, shape) * random.integers(0, 2, (groups, 1)))
    sized = (random.normal(size=shape) * spread * size).astype(np.float32).view(np.uint32)
    edges = np.array([0, 1, 0x7FFFFF, 0x800000, 0x7F600000, 0x7F600001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000])
    signed = random.choice(edges, shape).astype(np.uint32) | random.integers(0, 2, shape, np.uint32) << 31
    bits = random.integers(0, 1 << 32, shape, np.uint32)
    special = np.where(random.random(shape) < 0.05, signed, sized)
    ties = (random.integers(16, 32, shape) / 16 * size).astype(np.float32).view(np.uint32)
    kinds = [sized, special, signed, bits, ties]
    return np.choose(random.integers(0, len(kinds), (groups, 1)), kinds).view(np.float32)


def exact(form, code, scale):
    """The number of a code, by the standards: a Fraction, an infinity or NaN."""
    sign = -1 if code & 0x80 else 1
    exponent, mantissa = (code & 0x7F) >> form.mantissa_bits, code & (1 << form.mantissa_bits) - 1
    top = (1 << 7 - form.mantissa_bits) - 1
    if scale == 0xFF or (exponent == top and form is E5M2 and mantissa) or code & 0x7F == 0x7F:
        return float("nan")
    if exponent == top and form is E5M2:
        return sign * inf
    units = mantissa + (1 << form.mantissa_bits if exponent else 0)
    power = max(exponent, 1) - form.bias - form.mantissa_bits + max(scale, form.least_scale) - 127
    return sign * units * Fraction(2) ** power


def stored(form, values, chances):
    """Codes and scale of a group, by exact arithmetic over all codes that there are."""
    finite = [abs(Fraction(v)) for v in values if isfinite(v)]
    largest = {E4M3: Fraction(448), E5M2: Fraction(57344)}[form]
    scale = form.least_scale
    while max(finite, default=0) > largest * Fraction(2) ** (scale - 127):
        scale += 1
    codes = []
    grid = [exact(form, code, scale) for code in range(0x80)]
    for value, chance in zip(values, chances, strict=True):
        sign = 0x80 if np.signbit(value) else 0
        if isnan(value) or (isinf(value) and form is E4M3):
            codes.append(0x7F)
        elif isinf(value):
            codes.append(0x7C | sign)
        else:
            below = max(code for code, number in enumerate(grid) if number <= abs(Fraction(value)))
            unit = grid[below + 1] - grid[below] if isfinite(grid[below + 1]) else None
            part = (abs(Fraction(value)) - grid[below]) / unit if unit else Fraction(0)
            if chance is None:
                up = part > Fraction(1, 2) or (part == Fraction(1, 2) and below % 2 == 1)
            else:
                up = floor(part * (1 << 16) + Fraction(1, 2)) + chance >= 1 << 16
            code = below + up
            codes.append((1 if code == 0 and value and form is E5M2 else code) | sign)
    return codes, scale


@SCALED_FORMATS
@pytest.mark.parametrize("is_random", [False, True])
def test_scaled_numbers_are_those_of_exact_arithmetic(form, is_random, random):
    groups = any_groups(random, 24)
    chance = random.integers(0, 1 << 16, groups.shape, np.uint32) if is_random else None
    codes, shared = scaled_bits(form, groups, chance)
    for number, group in enumerate(groups.tolist()):
        chances = [None] * SCALE_GROUP if chance is None else chance[number].tolist()
        assert (codes[number].tolist(), shared[number, 0]) == stored(form, group, chances), number


@SCALED_FORMATS
def test_every_code_with_every_scale_is_loaded_exactly(form):
    codes = np.tile(np.arange(256, dtype=np.uint8), (256, 1))
    shared = np.repeat(np.arange(256, dtype=np.uint8)[:, np.newaxis], 256 // SCALE_GROUP, axis=1)
    loaded_numbers = from_scaled(form, codes, shared)
    for scale in (
        0,
        form.least_scale - 1,
        form.least_scale,
        form.least_scale + 1,
        127,
        247,
        248,
        253,
        254,
        255,
    ):
        for code, number in enumerate(loaded_numbers[scale].tolist()):
            expected = exact(form, code, scale)
            if isinstance(expected, Fraction):
                past = abs(expected) >= Fraction(2) ** 128
                expected = float(expected) if not past else inf if expected > 0 else -inf
                assert np.signbit(number) == (code >= 0x80), "also of zeros"
            assert number == expected or (isnan(number) and isnan(expected)), (scale, code)
    nan = np.isnan(loaded_numbers)
    assert (loaded_numbers.view(np.uint32)[nan] == 0x7FC00000).all()
    # A unit of the smallest numbers is the least normal number of binary32: no subnormal is loaded.
    assert not ((np.abs(loaded_numbers) > 0) & (np.abs(loaded_numbers) < np.float32(2.0**-126))).any()


@SCALED_FORMATS
def test_what_was_loaded_is_stored_as_the_same_number(form, random):
    """By both roundings, whatever the random bits are: a step that changes nothing keeps every number."""
    groups = any_groups(random, 2000)
    once = from_scaled(form, *scaled_bits(form, groups))
    once = np.where(np.isinf(once) & (form is E4M3), 0, once).astype(np.float32)
    for chance in (None, random.integers(0, 1 << 16, groups.shape, np.uint32)):
        again = from_scaled(form, *scaled_bits(form, once, chance))
        assert np.array_equal(again.view(np.uint32), once.view(np.uint32))


SCALED_SPECIAL = [
    # a number beside 1.0, its codes in E4M3 and E5M2 to nearest
    (0x00000000, 0x00, 0x00),
    (0x80000000, 0x80, 0x80),
    (0x7F800000, 0x7F, 0x7C),  # E4M3 has no infinity
    (0xFF800000, 0x7F, 0xFC),
    (0x7FC00000, 0x7F, 0x7F),
    (0xFFC12345, 0x7F, 0x7F),
    (0x00000001, 0x00, 0x01),  # v is never stored as zero unless it is
    (0x80000001, 0x80, 0x81),
    (0x3F800000, 0x78, 0x78),  # 1.0 itself: 256 and 32,768 of the scale
    (0x3FE00000, 0x7E, 0x7B),  # 1.75: the largest of both
    (0x3FE00001, 0x76, 0x77),  # past it the scale is the next one, in which that is half as much
]


@pytest.mark.parametrize(("bits", "of_m", "of_v"), SCALED_SPECIAL)
def test_special_values_in_a_group(bits, of_m, of_v):
    group = np.ones(SCALE_GROUP, np.float32)
    group[7] = float_of(bits)[0]
    for form, code in ((E4M3, of_m), (E5M2, of_v)):
        codes, shared = scaled_bits(form, group)
        assert codes[7] == code
        up = bits == 0x3FE00001
        assert shared.tolist() == [127 - form.largest_exponent + up]
        assert set(np.delete(codes, 7)) == {(0x78 if not up else 0x70 if form is E4M3 else 0x74)}


@SCALED_FORMATS
def test_a_scale_has_ends_and_never_overflows(form):
    """Zeros, subnormals, and infinities and NaN alone have the least; the largest numbers have 247 or 240."""
    largest = float_of(0x7F7FFFFF)[0]
    for value in (0.0, float_of(1)[0], inf, float("nan")):
        assert scales(form, np.full(SCALE_GROUP, value, np.float32)).tolist() == [form.least_scale]
    assert scales(form, np.full(SCALE_GROUP, largest)).tolist() == [255 - form.largest_exponent]
    codes, shared = scaled_bits(form, np.full(SCALE_GROUP, largest))
    assert np.isinf(from_scaled(form, codes, shared)).all(), "as of BF16: rounded to 2^128"


@SCALED_FORMATS
def test_scaled_rounding_is_unbiased(form, random):
    """Each of 31 numbers is rounded 65,536 times; the mean is the number within 5 standard deviations.

    Power: a probability of rounding up that is off by 0.02 is found in every number (10 deviations).
    """
    chance = random_halves(tiles(random, 64, 1024).reshape(-1), 1)
    parts = random.random(SCALE_GROUP - 1)
    unit = 2.0**-form.mantissa_bits
    group = np.float32([1.0, *(1.0 + unit * parts)])
    repeated = np.broadcast_to(group, (chance.size, SCALE_GROUP))
    random_of = np.broadcast_to(chance[:, np.newaxis], repeated.shape)
    values = from_scaled(form, *scaled_bits(form, repeated, random_of))
    up = (values[:, 1:] > 1).mean(axis=0)
    assert set(np.unique(values)) == {1.0, 1.0 + unit}
    deviation = np.sqrt(parts * (1 - parts) / chance.size)
    assert (np.abs(up - parts) <= SIGMAS * np.maximum(deviation, 1 / chance.size) + 2.0**-17).all()


def test_small_numbers_are_unbiased_down_to_a_unit_of_the_smallest(random):
    """m by chance 0 or a unit; v a unit at least, and unbiased above."""
    chance = np.broadcast_to(np.arange(1 << 16, dtype=np.uint32)[:, np.newaxis], (1 << 16, SCALE_GROUP))
    for form in (E4M3, E5M2):
        unit = 2.0 ** (1 - form.bias - form.mantissa_bits - form.largest_exponent)
        quarters = np.arange(SCALE_GROUP - 1) / 4
        group = np.float32([1.0, *(unit * quarters)])
        values = from_scaled(form, *scaled_bits(form, np.broadcast_to(group, chance.shape), chance))
        means = values[:, 1:].astype(np.float64).mean(axis=0) / unit
        expected = np.where((quarters > 0) & (quarters < 1) & form.keeps_least, 1, quarters)
        assert np.array_equal(means, expected)


def test_halves_of_a_weight(random):
    """Any number comes back; the upper half is the nearest number of BF16, away from zero halfway."""
    special = float_of(
        0, 1 << 31, 1, 0x80000001, 0x00007FFF, 0x00008000, 0x007FFFFF, 0x7F7F7FFF, 0x7F7F8000, 0xFF7FFFFF,
        0x7F800000, 0xFF800000, 0x7FC00000, 0x3F808000, 0x3F818000, 0xBF808000,
    )  # fmt: skip
    assert upper_halves(special).tolist() == [
        0, 0x8000, 0, 0x8000, 0, 1, 0x0080, 0x7F7F, 0x7F80, 0xFF80,
        0x7F80, 0xFF80, 0x7FC0, 0x3F81, 0x3F82, 0xBF81,
    ]  # fmt: skip
    any_bits = random.integers(0, 1 << 32, 100_000, np.uint32).view(np.float32)
    values = np.concatenate([special, any_bits])
    upper, lower = np.split(stored_bits(SPLIT, values), 2)
    number = ~np.isnan(values)
    assert np.array_equal(lower[number], (values.view(np.uint32) & 0xFFFF)[number].astype(np.uint16))
    assert np.array_equal(
        loaded(SPLIT, stored_bits(SPLIT, values))[number].view(np.uint32), values[number].view(np.uint32)
    )
    assert (loaded(SPLIT, stored_bits(SPLIT, values))[~number].view(np.uint32) == 0x7FC00000).all()
    halfway = lower == 0x8000
    assert np.array_equal(upper[~halfway], stored_bits(BF16, values)[~halfway])


def test_numbers_of_a_split_weight_are_not_rounded_by_chance(random):
    values = random.normal(size=1000).astype(np.float32)
    chance = random.integers(0, 1 << 16, 1000, np.uint32)
    assert np.array_equal(rounded(SPLIT, values, chance), values)
