"""Constants of a step: their values, their words, and hyperparameters that are refused."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from flashtrain.numerics import HyperparameterError
from flashtrain.spec.optimizer import AdamConstant as A
from flashtrain.spec.optimizer import LinearConstant as L
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.optimizer import ScheduleFreeConstant as FREE
from flashtrain.spec.optimizer import SgdConstant as S
from flashtrain.training.optimizers import (
    SGD,
    SGDW,
    Adam,
    AdamW,
    AdamWScheduleFree,
    Constants,
    Linear,
    Lion,
    Momentum,
    Nesterov,
)
from flashtrain.training.optimizers.schedule_free import Average

F = np.float32


def test_sgd():
    for optimizer in (SGD(0.3, 0.01), Momentum(0.3, 0.8, 0.01), Nesterov(0.3, 0.8, 0.01)):
        c = optimizer.constants(5, unscale=0.5, clip=0.1)
        assert c.code is optimizer.code
        assert (c[S.SCALE], c[S.DECAY], c[S.STEP]) == (F(0.05), F(0.01), F(-0.3))
        assert c[S.MOMENTUM] == (0 if isinstance(optimizer, SGD) else F(0.8))


def test_linear():
    c = Linear(1.1, 1.2, 1.3, 1.4, 1.5).constants(1)
    assert [c[i] for i in (L.SCALE, L.M_M, L.M_G, L.W_W, L.W_M, L.W_G)] == [
        F(x) for x in (1, 1.1, 1.2, 1.3, 1.4, 1.5)
    ]


@pytest.mark.parametrize("t", [1, 2, 1000, 10**9])
def test_adam(t):
    c = Adam(0.001, 0.9, 0.99, 1e-6, weight_decay=0.02).constants(t)
    assert (c.code, c[A.SCALE], c[A.DECAY]) == (OptimizerCode.ADAM, 1, F(0.02))
    assert (c[A.MEAN_GAIN], c[A.SQUARE_KEEP], c[A.SQUARE_GAIN]) == (F(1 - 0.9), F(0.99), F(1 - 0.99))
    # Against exact arithmetic: half a unit, and what doubles lose on the way.
    step = Fraction(1, 1000) / (1 - Fraction(9, 10) ** min(t, 5000))
    bias_squared = 1 - Fraction(99, 100) ** min(t, 5000)
    assert float(c[A.BIAS]) == pytest.approx(float(bias_squared) ** 0.5, rel=1.001 * 2.0**-24)
    assert c[A.EPSILON] == F(1e-6)
    assert float(c[A.STEP]) == pytest.approx(-float(step), rel=1.001 * 2.0**-24)


def test_lion():
    c = Lion(0.1, 0.9, 0.99, weight_decay=0.2).constants(3, unscale=0.5)
    assert c.code is OptimizerCode.LION
    assert list(c.values) == [F(x) for x in (0.5, 1 - 0.1 * 0.2, 0.9, 1 - 0.9, 0.99, 1 - 0.99, -0.1)]


def test_schedule_free():
    c = AdamWScheduleFree(0.1, 0.8, 0.99, 1e-6, weight_decay=0.2).constants(4, unscale=0.5)
    bias = (1 - 0.99**4) ** 0.5
    values = (0.5, -0.1 * 0.2, 0.99, 1 - 0.99, 1e-6 * bias, -0.1 * bias, 1 / 4, 1 - 0.8 * (1 - 1 / 4))
    assert c.code is OptimizerCode.ADAMW_SCHEDULE_FREE
    assert list(c.values) == [F(x) for x in values]


@pytest.mark.parametrize("warmup", [0, 1, 5])
@pytest.mark.parametrize(("r", "power"), [(0.0, 2.0), (0.5, 2.0), (1.0, 0.0)])
def test_share_of_a_step_in_the_average(warmup, r, power):
    """Of a constant learning rate: by its definition, and step by step; far steps take no time."""
    optimizer = AdamWScheduleFree(0.02, warmup_steps=warmup, r=r, weight_lr_power=power)
    average, weights = Average(), []
    for t in range(1, 31):
        weights.append(t**r * min(1.0, t / warmup if warmup else 1.0) ** power)
        one, other = optimizer.constants(t), optimizer.next_constants(average)
        average = optimizer.after(average)
        assert one[FREE.MIX] == pytest.approx(weights[-1] / sum(weights), rel=1e-6)
        assert [float(value) for value in one.values] == pytest.approx(
            [float(v) for v in other.values], rel=1e-6
        )
    if not r:
        assert optimizer.constants(10**9)[FREE.MIX] == pytest.approx(1e-9, rel=1e-5)


def test_a_rate_of_zero_has_no_share():
    optimizer = AdamWScheduleFree(0.0)
    assert optimizer.next_constants(Average())[FREE.MIX] == 0
    with pytest.raises(HyperparameterError, match=r"beta1 is 0\.0; expected a finite number above 0"):
        AdamWScheduleFree(beta1=0.0)


def test_weight_decay_of_adamw_shrinks_the_weight():
    c = AdamW(0.1, weight_decay=0.2).constants(1)
    assert (c.code, c[A.DECAY]) == (OptimizerCode.ADAMW, F(1 - 0.1 * 0.2))


def test_weight_decay_of_sgdw_shrinks_the_weight():
    c = SGDW(0.1, weight_decay=0.2).constants(1)
    assert (c.code, c[S.DECAY], c[S.STEP]) == (OptimizerCode.SGDW, F(1 - 0.1 * 0.2), F(-0.1))


@pytest.mark.parametrize(
    ("beta1", "fast", "gain"),
    [
        (0.5, True, -0.5),
        (0.0, True, 0.0),
        (0.25, True, -0.25),
        (0.75, False, 0.25),
        (0.50001, False, 0.49999),
    ],
)
def test_small_beta1_reckons_from_the_gradient(beta1, fast, gain):
    for kind, codes in (
        (Adam, (OptimizerCode.ADAM, OptimizerCode.ADAM_FAST)),
        (AdamW, (OptimizerCode.ADAMW, OptimizerCode.ADAMW_FAST)),
    ):
        c = kind(beta1=beta1).constants(1)
        assert c.code is codes[fast]
        assert c[A.MEAN_GAIN] == F(gain)


def test_a_learning_rate_of_zero():
    c = Adam(0.0).constants(1)
    assert (c[A.STEP], c[A.EPSILON], c[A.BIAS]) == (0, F(1e-8), F(0.001**0.5))


def test_words_are_the_bits():
    c = SGD(0.5, 0.25).constants(1, unscale=2.0)
    assert c.words == (0x40000000, 0x3E800000, 0xBF000000, 0, 0, 0, 0, 0)
    for constants in (c, Adam().constants(3), Linear().constants(1)):
        assert Constants.from_words(constants.code, constants.words) == constants


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SGD(-0.1), "learning_rate is -0.1; expected a finite number, 0 or more"),
        (lambda: SGD(float("nan")), "learning_rate is nan; expected a finite number, 0 or more"),
        (lambda: SGD(float("inf")), "learning_rate is inf; expected a finite number, 0 or more"),
        (lambda: SGD(weight_decay=-1), "weight_decay is -1; expected a finite number, 0 or more"),
        (lambda: Momentum(momentum=-0.9), "momentum is -0.9; expected a finite number, 0 or more"),
        (lambda: Nesterov(momentum=float("inf")), "momentum is inf; expected a finite number, 0 or more"),
        (lambda: Linear(w_m=float("nan")), "w_m is nan; expected a finite number"),
        (lambda: Linear(m_g=float("-inf")), "m_g is -inf; expected a finite number"),
        (lambda: Adam(beta1=1.0), "beta1 is 1.0; expected 0 or more, below 1"),
        (lambda: Adam(beta2=-0.1), "beta2 is -0.1; expected 0 or more, below 1"),
        (lambda: Adam(beta2=float("nan")), "beta2 is nan; expected 0 or more, below 1"),
        (lambda: AdamW(epsilon=-1e-8), "epsilon is -1e-08; expected a finite number, 0 or more"),
        (lambda: AdamW(weight_decay=float("inf")), "weight_decay is inf; expected a finite number, 0"),
        (lambda: SGD().constants(0), "iteration is 0; expected an integer, 1 or more"),
        (lambda: SGD().constants(1.5), "iteration is 1.5; expected an integer, 1 or more"),
        (lambda: SGD().constants(1, unscale=0), "unscale is 0; expected a finite number above 0"),
        (lambda: SGD().constants(1, unscale=float("nan")), "unscale is nan; expected a finite number"),
        (lambda: SGD().constants(1, clip=-1), "clip is -1; expected a finite number, 0 or more"),
        (lambda: SGD().constants(1, 1e300, 1e300), r"unscale \* clip is inf; expected a finite number"),
        (lambda: SGD().constants(1, 1e39), r"SCALE is 1e\+39; expected a number within the range of float32"),
        (lambda: SGD(1e39).constants(1), r"STEP is -1e\+39; expected a number within the range of float32"),
        (lambda: Adam(1e38).constants(1), r"STEP is -1\..*e\+39; expected a number within"),
        (lambda: Adam(epsilon=1e39).constants(1), r"EPSILON is 1e\+39; expected a number within the range"),
        (lambda: SGD(1e-46), "learning_rate is 1e-46, which rounds to 0; expected 0 or a magnitude"),
        (lambda: Adam(weight_decay=-1e-46), "weight_decay is -1e-46, which rounds to 0"),
        (lambda: SGD().constants(1, unscale=1e-46), "unscale is 1e-46, which rounds to 0"),
        (lambda: SGD().constants(1, clip=7e-46), "clip is 7e-46, which rounds to 0"),
        (lambda: SGD().constants(1, 1e-30, 1e-30), r"SCALE is 1.*e-60, which rounds to 0"),
        (lambda: SGD("0.1"), r"learning_rate is '0.1' \(str\); expected a number"),
        (lambda: SGD(None), r"learning_rate is None \(NoneType\); expected a number"),
        (lambda: SGD(True), r"learning_rate is True \(bool\); expected a number"),
        (lambda: SGD(np.ones(1)), r"learning_rate is array\(\[1.\]\) \(ndarray\); expected a number"),
        (lambda: SGD(10**400), "learning_rate is too large for a float; expected a finite number"),
        (lambda: SGD().constants(1, unscale="1"), r"unscale is '1' \(str\); expected a number"),
        (lambda: Constants(OptimizerCode.SGD, (F(1),)), "constants of SGD are .*; expected 4 of type"),
    ],
)  # fmt: skip
def test_bad_hyperparameters(make, message):
    with pytest.raises(HyperparameterError, match=message):
        make()


@pytest.mark.parametrize("kind", [SGD, SGDW, Momentum, Nesterov, Linear, Adam, AdamW])
def test_numpy_hyperparameters_are_computed_with_in_double_precision(kind):
    values = {field.name: F(0.9 - 0.1 * number) for number, field in enumerate(fields(kind))}
    single, double = kind(**values), kind(**{name: float(value) for name, value in values.items()})
    assert single == double
    assert all(type(getattr(single, name)) is float for name in values)
    for t in (1, 7, 1000):
        assert single.constants(t, F(0.3), F(0.7)) == double.constants(t, float(F(0.3)), float(F(0.7)))


def test_the_smallest_hyperparameters_that_float32_has():
    c = SGD(2.0**-149, weight_decay=0.0).constants(1, unscale=1.1 * 2.0**-150)
    assert (-c[S.STEP], c[S.SCALE]) == (F(2.0**-149), F(2.0**-149))
