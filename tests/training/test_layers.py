"""Layers: gradients against finite differences in float64, declared sizes, and repeatability to the bit."""

import numpy as np
import pytest

from flashtrain.training.errors import ShapeError
from flashtrain.training.layers import (
    GELU,
    BatchNorm,
    Chain,
    Conv2d,
    Dropout,
    Embedding,
    LayerNorm,
    Linear,
    MaxPool2d,
    Positions,
    ReLU,
    Reshape,
    Residual,
    SelfAttention,
    Softmax,
    mean_squared_error,
    softmax_cross_entropy,
)

BATCH = 3
LAYERS = {
    "linear": (Linear(5, 4), (5,)),
    "linear_tokens": (Linear(5, 4), (3, 5)),
    "relu": (ReLU(), (3, 5)),
    "gelu": (GELU(), (3, 5)),
    "softmax": (Softmax(), (3, 5)),
    "dropout": (Dropout(0.4), (3, 5)),
    "embedding": (Embedding(7, 4), (3,)),
    "reshape": (Reshape((2, 6), (3, 4)), (2, 6)),
    "conv": (Conv2d(2, 3), (4, 5, 2)),
    "conv1": (Conv2d(2, 3, size=1), (4, 5, 2)),
    "conv_stride": (Conv2d(2, 3, stride=2), (5, 6, 2)),
    "conv_even": (Conv2d(2, 3, size=2, stride=3, padding=1), (6, 5, 2)),
    "conv_valid": (Conv2d(2, 3, padding=0), (4, 5, 2)),
    "pool": (MaxPool2d(2), (4, 6, 3)),
    "pool_stride": (MaxPool2d(3, stride=2, padding=1), (5, 3, 3)),
    "positions": (Positions(4, 6), (4, 6)),
    "norm": (LayerNorm(6), (4, 6)),
    "batch_norm": (BatchNorm(6), (6,)),
    "batch_norm_image": (BatchNorm(2), (3, 4, 2)),
    "attention": (SelfAttention(4, 6), (4, 6)),
    "attention_heads": (SelfAttention(4, 6, heads=3), (4, 6)),
    "attention_causal": (SelfAttention(4, 6, heads=2, causal=True), (4, 6)),
    "chain_of_new": (
        Residual(Chain((("norm", BatchNorm(6)), ("gelu", GELU()), ("drop", Dropout())))),
        (4, 6),
    ),
    "chain": (Chain((("in", Linear(6, 4)), ("relu", ReLU()), ("out", Linear(4, 3)))), (6,)),
    "residual": (Residual(Chain((("norm", LayerNorm(6)), ("linear", Linear(6, 6))))), (4, 6)),
}
each_layer = pytest.mark.parametrize(("layer", "shape"), LAYERS.values(), ids=LAYERS.keys())


def case(layer, shape, dtype):
    random = np.random.default_rng(7)
    parameters = {
        name: (array + 0.1 * random.standard_normal(array.shape)).astype(dtype)
        for name, array in layer.initialise(random).items()
    }
    x = random.standard_normal((BATCH, *shape)).astype(dtype)
    if layer.integers():
        x = random.integers(0, layer.integers(), x.shape).astype(np.uint8)
    dy = random.standard_normal((BATCH, *layer.output_shape(shape))).astype(dtype)
    return parameters, x, dy


def numeric_gradient(function, array, step=1e-6):
    """Central differences of the scalar `function` by every element of `array`."""
    gradient = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        below = function()
        array[index] = kept
        gradient[index] = (above - below) / (2 * step)
    return gradient


@each_layer
def test_gradients_match_finite_differences(layer, shape):
    parameters, x, dy = case(layer, shape, np.float64)
    _, saved = layer.forward(parameters, x)
    dx, gradients = layer.backward(parameters, {name: a.copy() for name, a in saved.items()}, dy)

    def objective():
        return (layer.forward(parameters, x)[0] * dy).sum()

    assert dx.shape == x.shape
    if not layer.integers():
        np.testing.assert_allclose(dx, numeric_gradient(objective, x), rtol=1e-6, atol=1e-7)
    assert gradients.keys() == parameters.keys()
    for name, gradient in gradients.items():
        np.testing.assert_allclose(
            gradient, numeric_gradient(objective, parameters[name]), rtol=1e-6, atol=1e-7, err_msg=name
        )


@each_layer
def test_forward_keeps_its_promises(layer, shape):
    parameters, x, _ = case(layer, shape, np.float32)
    y, saved = layer.forward(parameters, x)
    assert y.shape == (BATCH, *layer.output_shape(shape))
    assert y.dtype == np.float32
    specs = layer.saved_specs(BATCH, shape)
    assert saved.keys() == specs.keys()
    for name, array in saved.items():
        specs[name].check(name, array)
        assert array.flags.c_contiguous, name
    assert {name: a.shape for name, a in parameters.items()} == layer.parameter_shapes()


@each_layer
def test_passes_give_the_same_bits_from_copies_at_any_address(layer, shape):
    """Tensors come back from storage at other addresses: that must not change a bit."""
    parameters, x, dy = case(layer, shape, np.float32)
    y, saved = layer.forward(parameters, x)
    dx, gradients = layer.backward(parameters, saved, dy)
    for offset in (4, 16, 36):
        there = {name: at_offset(a, offset) for name, a in parameters.items()}
        y2, saved2 = layer.forward(there, at_offset(x, offset))
        back = {name: at_offset(a, offset) for name, a in saved2.items()}
        dx2, gradients2 = layer.backward(there, back, at_offset(dy, offset))
        assert y2.tobytes() == y.tobytes()
        assert dx2.tobytes() == dx.tobytes()
        for name in saved:
            assert saved2[name].tobytes() == saved[name].tobytes(), name
        for name in gradients:
            assert gradients2[name].tobytes() == gradients[name].tobytes(), name


def at_offset(array, offset):
    """A copy that starts `offset` bytes into its memory."""
    memory = np.zeros(array.nbytes + offset, np.uint8)
    copy = memory[offset:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@each_layer
def test_passes_leave_their_arguments_alone(layer, shape):
    parameters, x, dy = case(layer, shape, np.float32)
    _, saved = layer.forward(parameters, x)
    arrays = [*parameters.values(), *saved.values(), x, dy]
    before = [a.tobytes() for a in arrays]
    layer.forward(parameters, x)
    layer.backward(parameters, saved, dy)
    assert [a.tobytes() for a in arrays] == before


def test_loss_gradient_matches_finite_differences():
    random = np.random.default_rng(3)
    logits, labels = random.standard_normal((4, 5)), np.array([0, 4, 2, 2], np.uint8)
    loss, gradient = softmax_cross_entropy(logits, labels)
    assert loss == pytest.approx(
        -np.log(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))[range(4), labels].mean()
    )
    numeric = numeric_gradient(lambda: softmax_cross_entropy(logits, labels)[0], logits)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-9)


def test_loss_of_tokens_is_that_of_the_same_rows():
    random = np.random.default_rng(3)
    logits, labels = random.standard_normal((2, 3, 5)), random.integers(0, 5, (2, 3))
    loss, gradient = softmax_cross_entropy(logits, labels)
    rows_loss, rows_gradient = softmax_cross_entropy(logits.reshape(6, 5), labels.reshape(6))
    assert loss == rows_loss and np.array_equal(gradient.reshape(6, 5), rows_gradient)


def test_squared_error_matches_finite_differences():
    random = np.random.default_rng(3)
    outputs, targets = random.standard_normal((4, 3)), random.standard_normal((4, 3))
    loss, gradient = mean_squared_error(outputs, targets)
    assert loss == pytest.approx(((outputs - targets) ** 2).mean())
    numeric = numeric_gradient(lambda: mean_squared_error(outputs, targets)[0], outputs)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-9)


def test_loss_survives_large_logits():
    loss, gradient = softmax_cross_entropy(np.array([[1e4, -1e4]], np.float32), np.array([0], np.uint8))
    assert loss == 0.0
    assert np.isfinite(gradient).all()


def test_relu_saves_one_bit_per_element():
    x = np.array([[-1.0, 0.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.0]], np.float32)
    _, saved = ReLU().forward({}, x)
    assert saved["positive"].tolist() == [0b00110111, 0b10000000]


def test_pool_takes_the_first_of_equal_maxima():
    x = np.ones((1, 2, 2, 1), np.float32)
    y, saved = MaxPool2d(2).forward({}, x)
    dx, _ = MaxPool2d(2).backward({}, saved, np.full_like(y, 5))
    assert dx.ravel().tolist() == [5, 0, 0, 0]


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (Linear(5, 4), (6,), r"Linear\(inputs=5, outputs=4\): expected .* \(\.\.\., 5\), got \(6,\)"),
        (Conv2d(2, 3), (4, 4, 1), r"Conv2d.*\(h, w, 2\), got \(4, 4, 1\)"),
        (MaxPool2d(2), (4, 5, 1), r"MaxPool2d.*multiples of 2, got \(4, 5, 1\)"),
        (MaxPool2d(3, 2, 1), (4, 4, 1), r"h and w 1 and multiples of 2 more, got \(4, 4, 1\)"),
        (Conv2d(1, 1, 5, padding=0), (4, 8, 1), r"expected examples of at least 5 pixels, got \(4, 8, 1\)"),
        (BatchNorm(3), (4,), r"BatchNorm.*\(\.\.\., 3\), got \(4,\)"),
        (Softmax(), (), r"Softmax\(\): expected examples of at least one axis, got \(\)"),
        (SelfAttention(4, 6), (5, 6), r"SelfAttention.*\(4, 6\), got \(5, 6\)"),
        (Residual(Linear(5, 4)), (5,), r"Residual: body must keep the shape \(5,\), but returns \(4,\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(layer, shape, message):
    with pytest.raises(ShapeError, match=message):
        layer.output_shape(shape)


def test_configurations_that_make_no_sense_are_refused():
    with pytest.raises(ShapeError, match="kernel size must be odd and positive, got 2"):
        Conv2d(1, 1, size=2)
    with pytest.raises(ShapeError, match="kernel size must be positive, got 0"):
        Conv2d(1, 1, size=0, padding=0)
    with pytest.raises(ShapeError, match="stride must be at least 1, got 0"):
        Conv2d(1, 1, stride=0)
    with pytest.raises(ShapeError, match="padding must be 0 to 2, got 3"):
        MaxPool2d(3, padding=3)
    with pytest.raises(ShapeError, match=r"rate must be at least 0 and below 1, got 1\.0"):
        Dropout(1.0)
    with pytest.raises(ShapeError, match="momentum must be above 0 and at most 1"):
        BatchNorm(4, momentum=0)
    with pytest.raises(ShapeError, match="expected a vocabulary and a width of at least 1"):
        Embedding(0, 4)
    with pytest.raises(ShapeError, match="heads must divide width 6"):
        SelfAttention(4, 6, heads=4)
    with pytest.raises(ShapeError, match="6 elements cannot become 8"):
        Reshape((2, 3), (2, 4))
