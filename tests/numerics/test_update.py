"""The interpreter of the micro-programs against SoftFloat; formats, shapes, what is refused."""

import numpy as np
import pytest

from flashtrain.numerics.errors import OperandError
from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.softfloat import Operation as SoftFloat
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, Input, Op, Operation, OptimizerCode
from flashtrain.training.optimizers import (
    OPTIMIZERS,
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
    update,
)

PARAMETERS = 4000
SOFTFLOAT = {
    Op.MUL: SoftFloat.MULTIPLY,
    Op.ADD: SoftFloat.ADD,
    Op.SUB: SoftFloat.SUBTRACT,
    Op.FMA: SoftFloat.MULTIPLY_ADD,
    Op.DIV: SoftFloat.DIVIDE,
    Op.SQRT: SoftFloat.SQUARE_ROOT,
    Op.SIGN: SoftFloat.SIGN,
}
EACH_CODE = {
    optimizer.code: optimizer
    for optimizer in (
        SGD(0.3, weight_decay=0.01),
        SGDW(0.3, weight_decay=0.01),
        Momentum(0.1, 0.9, weight_decay=0.02),
        Nesterov(0.1, 0.8, weight_decay=0.03),
        Linear(0.9, 0.1, 0.99, -0.3, -0.2),
        Adam(0.001, weight_decay=0.01),
        AdamW(0.001, weight_decay=0.1),
        Adam(0.001, beta1=0.5, weight_decay=0.01),
        AdamW(0.001, beta1=0.25, weight_decay=0.1),
        Lion(0.001, weight_decay=0.1),
        AdamWScheduleFree(0.001, weight_decay=0.1),
    )
}
EVERY = {**OPTIMIZERS, "adamw_schedule_free": AdamWScheduleFree(weight_decay=0.1)}


def softfloat_run(program, constants, inputs):
    """The new w, m and v as bits, by SoftFloat."""
    length = len(inputs[Input.W])
    results = {}

    def value(operand):
        if isinstance(operand, Operation):
            return results[operand]
        if isinstance(operand, Input):
            return inputs[operand]
        return np.full(length, constants.words[operand], np.uint32)

    for operation in program.operations:
        operands = [value(operand) for operand in operation.operands]
        results[operation] = SOFTFLOAT[operation.op](*operands).results
    return [results[output] for output in program.outputs]


def run_both(code, t, bits):
    """New w, m, v as bits, by `update` and by SoftFloat."""
    program, constants = PROGRAMS[code], EACH_CODE[code].constants(t, unscale=2.0**-10, clip=0.7)
    inputs = dict(zip((Input.W, Input.M, Input.V, Input.G), bits, strict=True))
    w, m, v, g = (column.view(np.float32) for column in bits)
    after = update(
        constants, g, w, m if program.m is not None else None, v if program.v is not None else None
    )
    got = [array.view(np.uint32) for array in (after.w, after.m, after.v) if array is not None]
    return got, softfloat_run(program, constants, inputs)


@pytest.mark.parametrize("code", OptimizerCode)
@pytest.mark.parametrize("t", [1, 1000])
def test_any_bits_as_softfloat(code, t, seed):
    """Weights, state and gradients of every kind: subnormal, infinite, NaN, far and near exponents."""
    random = np.random.default_rng(seed)
    bits = [float_vectors.values(random, PARAMETERS) for _ in range(4)]
    got, expected = run_both(code, t, bits)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("code", OptimizerCode)
def test_plausible_numbers_as_softfloat(code, seed):
    random = np.random.default_rng(seed)
    numbers = [random.standard_normal(PARAMETERS) * scale for scale in (1.0, 0.01, 1e-4, 10.0)]
    numbers[2] = np.abs(numbers[2])
    got, expected = run_both(code, 7, [column.astype(np.float32).view(np.uint32) for column in numbers])
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("optimizer", EVERY.values(), ids=EVERY)
def test_steps_are_pure_and_stay_in_float32(optimizer, seed):
    random = np.random.default_rng(seed)
    w, g = (random.standard_normal(64).astype(np.float32) for _ in range(2))
    state = optimizer.initial_state(w)
    assert tuple(state) == optimizer.state_names
    before = [array.tobytes() for array in (w, g, *state.values())]
    first, second = (optimizer.step(w, g, state, 3) for _ in range(2))
    assert [array.tobytes() for array in (w, g, *state.values())] == before
    assert first[0].tobytes() == second[0].tobytes()
    assert first[0].dtype == np.float32
    assert tuple(first[1]) == optimizer.state_names
    assert all(array.dtype == np.float32 for array in first[1].values())


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (8, 3), (1023,), ()])
@pytest.mark.parametrize("code", OptimizerCode)
def test_each_parameter_is_computed_alone(code, shape, seed):
    """Arrays of any shape: the bits are those of each parameter by itself."""
    random = np.random.default_rng(seed)
    optimizer = EACH_CODE[code]
    w, g = (random.standard_normal(shape).astype(np.float32) for _ in range(2))
    state = {name: np.abs(random.standard_normal(shape).astype(np.float32)) for name in optimizer.state_names}
    new, new_state = optimizer.step(w, g, state, 5)
    assert new.shape == w.shape
    for index in list(np.ndindex(shape))[:: max(1, w.size // 9)]:
        alone = {name: array[index].reshape(1) for name, array in state.items()}
        one, one_state = optimizer.step(w[index].reshape(1), g[index].reshape(1), alone, 5)
        assert one.tobytes() == new[index].tobytes()
        for name in state:
            assert one_state[name].tobytes() == new_state[name][index].tobytes()


@pytest.mark.parametrize("values", [[1.5, -0.0, np.inf, -np.inf, np.nan, 2.0**-24, -65504.0]])
def test_gradient_formats_hold_the_same_numbers(values):
    g = np.array(values, np.float32)
    w = np.ones_like(g)
    as_bf16 = np.array([1.5, -0.0, np.inf, -np.inf, np.nan, 2.0**-24], np.float32).view(np.uint32) >> 16
    constants = SGD(0.5).constants(1)
    expected = update(constants, g, w).w
    assert update(constants, g.astype(np.float16), w).w.tobytes() == expected.tobytes()
    assert update(constants, as_bf16.astype(np.uint16), w[:6]).w.tobytes() == expected[:6].tobytes()


def test_copy_is_the_new_weight_in_sixteen_bits():
    """Ties to even, overflow, subnormals and NaN of either format."""
    w = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1e5, 2.0**-25, 3 * 2.0**-25, np.nan], np.float32)
    constants = SGD(0.0).constants(1)
    half = update(constants, np.zeros_like(w), w, copy=CopyFormat.FP16).copy
    assert half is not None and half.dtype == np.float16
    assert half.view(np.uint16).tolist() == [0x3C04, 0x3C0C, 0x3C00, 0x7C00, 0x0000, 0x0002, 0x7E00]
    brain = update(constants, np.zeros_like(w), w, copy=CopyFormat.BF16).copy
    assert brain is not None and brain.dtype == np.uint16
    assert brain.tolist() == [0x3F80, 0x3F82, 0x3F80, 0x47C3, 0x3300, 0x33C0, 0x7FC0]
    assert update(constants, np.zeros_like(w), w).copy is None


def test_nan_and_infinity_stay_in_their_place():
    w = np.ones(5, np.float32)
    g = np.array([1, np.nan, np.inf, -np.inf, 1], np.float32)
    for optimizer in EVERY.values():
        new, state = optimizer.step(w, g, optimizer.initial_state(w), 1)
        for array in (new, *state.values()):
            # The step of Lion is a sign, so an infinite gradient leaves its weights finite.
            bounded = isinstance(optimizer, Lion) and array is new
            assert np.isfinite(array).tolist() == [True, False, bounded, bounded, True], optimizer
            assert array[np.isnan(array)].view(np.uint32).tolist() == [0x7FC00000] * np.isnan(array).sum()


def test_a_learning_rate_of_zero_moves_nothing(seed):
    random = np.random.default_rng(seed)
    w, g = (random.standard_normal(100).astype(np.float32) for _ in range(2))
    g[::3] = 0
    for optimizer in (SGD(0.0), Momentum(0.0), Nesterov(0.0), Adam(0.0), AdamW(0.0), AdamWScheduleFree(0.0)):
        new, _ = optimizer.step(w, g, optimizer.initial_state(w), 1)
        assert new.tobytes() == w.tobytes(), optimizer


def test_unscaling_by_a_power_of_two_and_clipping_are_one_factor(seed):
    random = np.random.default_rng(seed)
    w, g = (random.standard_normal(100).astype(np.float32) for _ in range(2))
    clip = np.float32(0.3)
    for optimizer in EVERY.values():
        state = optimizer.initial_state(w)
        plain, plain_state = optimizer.step(w, clip * g, state, 2)
        scaled, scaled_state = optimizer.step(w, 1024 * g, state, 2, unscale=1 / 1024, clip=float(clip))
        assert plain.tobytes() == scaled.tobytes()
        assert all(plain_state[name].tobytes() == scaled_state[name].tobytes() for name in state)


def test_linear_combinations_build_other_optimizers():
    m, w, g = (np.array([x], np.float32) for x in (2, 3, 5))
    accumulate = Linear(m_m=1, m_g=1)
    assert accumulate.state_names == ("m",)
    assert accumulate.step(w, g, {"m": m}, 1) == (3, {"m": 7})
    general = Linear(m_m=0.5, m_g=2, w_w=0.25, w_m=-1, w_g=4)
    # m = 1 + 10, w = 0.75 - 11 + 20
    assert general.step(w, g, {"m": m}, 1) == (9.75, {"m": 11})


F4, F8 = np.zeros(4, np.float32), np.zeros(4, np.float64)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"g": F8, "w": F4, "m": F4},
            r"the gradient g is float64; expected float32, float16, or uint16 that holds BF16: ",
        ),
        ({"g": F4, "w": F8, "m": F4}, r"w is float64\[4\]; expected float32\[4\]"),
        ({"g": F4, "w": F4, "m": F4[:3]}, r"m is float32\[3\]; expected float32\[4\]"),
        ({"g": F4[:1], "w": F4, "m": F4}, r"g is float32\[1\]; expected float32\[4\]"),
        ({"g": F4, "w": F4}, "m of MOMENTUM: expected an array"),
        ({"g": F4, "w": F4, "m": F4, "v": F4}, "v of MOMENTUM: expected none"),
    ],
)
def test_wrong_arrays_are_refused(arrays, message):
    constants = Momentum().constants(1)
    assert isinstance(constants, Constants)
    with pytest.raises(OperandError, match=message):
        update(constants, **arrays)
