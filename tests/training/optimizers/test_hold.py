"""A step with the constants of `hold` changes nothing."""

import numpy as np
import pytest

from flashtrain.sim.bench import float_vectors
from flashtrain.training.optimizers import update
from flashtrain.training.optimizers.hold import hold


@pytest.mark.parametrize("arrays", [1, 2, 3])
def test_finite_numbers_stay(arrays, seed):
    random = np.random.default_rng(seed)
    w, m, v = (float_vectors.values(random, 5000).view(np.float32) for _ in range(3))
    finite = np.isfinite(w) & np.isfinite(m) & np.isfinite(v)
    given = [w[finite], m[finite], np.abs(v[finite])][:arrays]
    # The smallest, -0.0 included: the root and the quotient of such a step must not move a weight.
    given[0][:2] = -0.0, np.float32(1e-45)
    after = update(hold(arrays), np.zeros_like(given[0]), *given)
    for old, new in zip(given, (after.w, after.m, after.v), strict=False):
        assert new is not None
        np.testing.assert_array_equal(new, old)
