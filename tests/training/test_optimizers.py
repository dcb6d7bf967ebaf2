"""Optimizers: the documented order of operations, one rounding each, against exact rational arithmetic."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from flashtrain.training.optimizers import OPTIMIZERS, SGD, Adam, Momentum

F = np.float32


def rounded(value: Fraction) -> Fraction:
    """Nearest float32 to a rational number, ties to even, from the definition (24 significant bits)."""
    if value == 0:
        return value
    exponent = -149
    magnitude = abs(value)
    while magnitude >= Fraction(2) ** (exponent + 24):
        exponent += 1
    units = round(magnitude / Fraction(2) ** exponent)  # Python rounds halves to even
    return units * Fraction(2) ** exponent * (1 if value > 0 else -1)


def rounded_root(value: Fraction) -> Fraction:
    """Nearest float32 to the square root of a float32: from a root with 80 bits more than it needs."""
    scale = 1 << 200
    return rounded(Fraction(isqrt(int(value * scale * scale)), scale))


def exact(array):
    return [Fraction(float(x)) for x in array]


def vectors(seed=11, n=64):
    random = np.random.default_rng(seed)
    w, g, m = (random.standard_normal(n).astype(F) for _ in range(3))
    v = (random.standard_normal(n).astype(F) ** 2 + F(1e-6)).astype(F)
    return w, g, m, v


def test_sgd_rounds_as_documented():
    w, g, _, _ = vectors()
    step = Fraction(float(F(-0.3)))
    expected = [rounded(a + rounded(step * b)) for a, b in zip(exact(w), exact(g), strict=True)]
    assert exact(SGD(0.3).step(w, g, {}, 1)[0]) == expected


def test_momentum_rounds_as_documented():
    w, g, m, _ = vectors()
    b, step = Fraction(float(F(0.9))), Fraction(float(F(-0.1)))
    m_expected = [rounded(rounded(b * y) + x) for x, y in zip(exact(g), exact(m), strict=True)]
    w_expected = [rounded(x + rounded(step * y)) for x, y in zip(exact(w), m_expected, strict=True)]
    w_new, state = Momentum(0.1, 0.9).step(w, g, {"m": m}, 1)
    assert exact(state["m"]) == m_expected
    assert exact(w_new) == w_expected


@pytest.mark.parametrize("decay", [0.0, 0.01])
@pytest.mark.parametrize("t", [1, 7, 1000])
def test_adam_rounds_as_documented(t, decay):
    w, g, m, v = vectors()
    optimizer = Adam(weight_decay=decay)
    c = {name: Fraction(float(value)) for name, value in optimizer.constants(t).items()}
    w_new, state = optimizer.step(w, g, {"m": m, "v": v}, t)
    r = rounded
    for i, (wi, gi, mi, vi) in enumerate(zip(exact(w), exact(g), exact(m), exact(v), strict=True)):
        v_expected = r(r(c["b2"] * vi) + r(c["c2"] * r(gi * gi)))
        m_expected = r(r(c["b1"] * mi) + r(c["c1"] * gi))
        divisor = r(r(rounded_root(v_expected) * c["bc2"]) + c["eps"])
        w_expected = r(r(c["keep"] * wi) + r(r(c["step"] * m_expected) / divisor))
        assert Fraction(float(state["v"][i])) == v_expected
        assert Fraction(float(state["m"][i])) == m_expected
        assert Fraction(float(w_new[i])) == w_expected


def test_adam_first_step_moves_by_the_learning_rate():
    w, g, _, _ = vectors()
    optimizer = Adam(learning_rate=0.01)
    new, _ = optimizer.step(w, g, optimizer.initial_state(w), 1)
    np.testing.assert_allclose(new, w - 0.01 * np.sign(g), atol=1e-6)


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())
def test_steps_are_pure_and_stay_in_float32(optimizer):
    w, g, _, _ = vectors()
    state = optimizer.initial_state(w)
    assert tuple(state) == optimizer.state_names
    before = [a.tobytes() for a in (w, g, *state.values())]
    first = optimizer.step(w, g, state, 3)
    second = optimizer.step(w, g, state, 3)
    assert [a.tobytes() for a in (w, g, *state.values())] == before
    assert first[0].tobytes() == second[0].tobytes()
    assert first[0].dtype == np.float32
    assert tuple(first[1]) == optimizer.state_names
    assert all(a.dtype == np.float32 for a in first[1].values())
    assert all(constant.dtype == np.float32 for constant in optimizer.constants(3).values())
