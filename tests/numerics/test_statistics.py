"""Statistics of gradients: counts, largest magnitude, interleaved sums of squares against SoftFloat."""

import numpy as np
import pytest

from flashtrain.numerics.statistics import Totals, add_squares
from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.softfloat import Operation as SoftFloat
from flashtrain.spec.optimizer import PARTIAL_SUMS
from flashtrain.training.optimizers import Statistics, statistics

F = np.float32


def softfloat_squares(g, sums):
    """Partial sums as bits, gradient by gradient."""
    totals = [np.zeros(1, np.uint32) for _ in range(sums)]
    for index, bits in enumerate(g.view(np.uint32)):
        one = np.array([bits])
        totals[index % sums] = SoftFloat.MULTIPLY_ADD(one, one, totals[index % sums]).results
    return [int(total[0]) for total in totals]


@pytest.mark.parametrize("sums", [1, 3, PARTIAL_SUMS])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 1000])
def test_squares_as_softfloat(length, sums, seed):
    g = np.random.default_rng(seed).standard_normal(length).astype(F)
    got = statistics(g, sums)
    assert [int(square.view(np.uint32)) for square in got.squares] == softfloat_squares(g, sums)
    assert got.sum_of_squares == pytest.approx(float(np.sum(g.astype(np.float64) ** 2)), rel=1e-5)
    assert (got.nans, got.infinities, got.overflow) == (0, 0, False)
    assert got.largest == np.max(np.abs(g), initial=0)


def test_any_bits(seed):
    g = float_vectors.values(np.random.default_rng(seed), 2000).view(F)
    got = statistics(g)
    assert got.nans == np.isnan(g).sum() > 0
    assert got.infinities == np.isinf(g).sum() > 0
    assert got.largest == np.inf
    assert got.overflow
    assert [int(square.view(np.uint32)) for square in got.squares] == softfloat_squares(g, PARTIAL_SUMS)


def test_sums_are_rounded_once():
    """In doubles the sum would first be rounded to halfway between two float32, and then down."""
    g = np.zeros(16, F)
    g[0], g[8] = 2.0**-30, 1 + 2.0**-12
    assert statistics(g).squares[0] == 1 + 2.0**-11 + 2.0**-23


def test_subnormal_sums(seed):
    g = (np.random.default_rng(seed).standard_normal(4000) * 1e-21).astype(F)
    got = [int(square.view(np.uint32)) for square in statistics(g).squares]
    assert got == softfloat_squares(g, PARTIAL_SUMS)
    assert 0 < max(got) < 1 << 23


def test_sums_go_on_over_several_arrays(seed):
    """Squares of several dies at once, tile after tile: as die by die, all at once."""
    random = np.random.default_rng(seed)
    first, second = (random.standard_normal((3, length)).astype(F) for length in (85, 16))
    sums = add_squares(add_squares(np.zeros((3, 8), F), first), second)
    for die in range(3):
        # The second tile begins at sum 0: its place after 85 gradients is that of a multiple of eight.
        row = np.concatenate([first[die], np.zeros(3, F), second[die]])
        assert sums[die].tolist() == list(statistics(row).squares)


def test_non_finite_gradients_propagate_into_their_sum():
    g = np.ones(16, F)
    g[1], g[2] = np.nan, -np.inf
    got = statistics(g)
    assert (got.nans, got.infinities, got.largest, got.overflow) == (1, 1, np.inf, True)
    assert np.isnan(got.squares[1]) and got.squares[2] == np.inf
    assert [got.squares[i] for i in (0, 3, 4, 5, 6, 7)] == [2] * 6


def test_squares_that_overflow_are_an_overflow():
    got = statistics(np.array([3e19], F))
    assert (got.nans, got.infinities, got.largest) == (0, 0, F(3e19))
    assert got.overflow


def test_largest_leaves_nans_out():
    assert statistics(np.array([np.nan, -2, 1], F)).largest == 2
    assert statistics(np.array([np.nan], F)).largest == 0
    assert statistics(np.array([-1e-45, 0], F)).largest == F(1e-45)


def test_formats_are_converted_first():
    g = np.array([1.5, -2, np.inf], F)
    assert statistics(g.astype(np.float16)) == statistics(g)
    assert statistics((g.view(np.uint32) >> 16).astype(np.uint16)) == statistics(g)


def test_norm_of_several_dies_and_unscaled():
    parts = [statistics(np.array([3], F)), statistics(np.array([4], F))]
    assert Totals.of(parts).norm() == 5
    assert Totals.of(parts).norm(unscale=0.5) == 2.5
    assert Totals.of([Statistics(0, 0, F(0), (F(0),))]).norm() == 0
