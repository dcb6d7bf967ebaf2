"""Networks: named layers in a row, and the ones that learn 8x8 digits."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.activation_format import ActivationFormat
from flashtrain.training.arrays import (
    FLOAT32,
    Array,
    Arrays,
    ArraySpec,
    FloatArray,
    Shape,
    check_seed,
    integer_dtype,
)
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers import (
    Chain,
    Conv2d,
    Layer,
    LayerNorm,
    Linear,
    MaxPool2d,
    Positions,
    ReLU,
    Reshape,
    Residual,
    SelfAttention,
)
from flashtrain.training.losses import CrossEntropy, Evaluation, Loss

Parameters = dict[str, Arrays]
"""Parameters of a network: layer name, parameter name, array. Layers without parameters are absent.

Running arrays, which are not trained, have the same form.
"""

DIGITS_SHAPE = (8, 8)
DIGITS_CLASSES = 10


@dataclass(frozen=True)
class Network:
    """`layers` in order, from examples of `input_shape` to `outputs` numbers along the last axis.

    With the cross entropy as `loss` these are one logit per class.

    Raises `ShapeError` if a layer cannot take the output of the one before, or if two layers share a name. It
    is also raised if the last axis does not have `outputs` numbers, or if a layer behind the first takes
    integers.
    """

    name: str
    input_shape: Shape
    outputs: int
    layers: tuple[tuple[str, Layer], ...]
    loss: Loss = CrossEntropy()
    activations: ActivationFormat = ActivationFormat.FP32

    def __post_init__(self) -> None:
        names = [name for name, _ in self.layers]
        if not names:
            raise ShapeError(f"network {self.name}: no layers; expected at least one")
        if len(set(names)) != len(names):
            raise ShapeError(f"network {self.name}: layer names are not unique: {', '.join(names)}")
        for name, layer in self.layers[1:]:
            if layer.integers():
                raise ShapeError(
                    f"network {self.name}: layer {name} takes integers; expected it to be the first"
                )
        if self.output_shape[-1:] != (self.outputs,):
            raise ShapeError(
                f"network {self.name}: expected an output of shape (..., {self.outputs}),"
                f" got {self.output_shape}"
            )

    @cached_property
    def output_shape(self) -> Shape:
        """Shape of the output for one example."""
        name, layer = self.layers[-1]
        return layer.output_shape(self.input_shapes[name])

    @cached_property
    def input_shapes(self) -> dict[str, Shape]:
        """Shape of one example as each layer gets it."""
        shapes, shape = {}, self.input_shape
        for name, layer in self.layers:
            shapes[name] = shape
            shape = layer.output_shape(shape)
        return shapes

    def layer(self, name: str) -> Layer:
        return dict(self.layers)[name]

    def input_spec(self, batch: int) -> ArraySpec:
        """Inputs of a batch: integers, as small as they can be, if the first layer takes them."""
        integers = self.layers[0][1].integers()
        return ArraySpec((batch, *self.input_shape), integer_dtype(integers) if integers else FLOAT32)

    def target_spec(self, batch: int) -> ArraySpec:
        """Targets of a batch."""
        return self.loss.target_spec(batch, self.output_shape)

    def initialise(self, seed: int) -> Parameters:
        """Fresh float32 parameters; equal seeds give equal parameters."""
        random = np.random.default_rng(check_seed(seed))
        return {name: layer.initialise(random) for name, layer in self.layers if layer.parameter_shapes()}

    def first_running(self) -> Parameters:
        """Running arrays before the first batch; layers without them are absent."""
        return {name: first for name, layer in self.layers if (first := layer.first_running())}

    def parameter_count(self) -> int:
        return sum(prod(shape) for _, layer in self.layers for shape in layer.parameter_shapes().values())

    def predict(self, parameters: Parameters, x: Array, running: Parameters | None = None) -> FloatArray:
        """The output outside of training, ``[batch, *input_shape]`` to ``[batch, *output_shape]``.

        running: by default as before the first batch.
        """
        running = self.first_running() if running is None else running
        for name, layer in self.layers:
            x = layer.evaluate(parameters.get(name, {}), running.get(name, {}), x)
            if name != self.layers[-1][0]:
                x = self.activations.rounded(x)
        return x

    def evaluate(
        self, parameters: Parameters, x: Array, targets: Array, running: Parameters | None = None
    ) -> Evaluation:
        """Loss and accuracy on these examples."""
        return self.loss.evaluation(self.predict(parameters, x, running), targets)

    def accuracy(
        self, parameters: Parameters, x: Array, labels: NDArray[np.integer], running: Parameters | None = None
    ) -> float:
        """Share of the labels whose logit is the largest, 0 to 1."""
        return float((self.predict(parameters, x, running).argmax(axis=-1) == labels).mean())


def mlp(hidden: int = 64) -> Network:
    """Multilayer perceptron with one hidden layer: 4,810 parameters at the default width."""
    pixels = prod(DIGITS_SHAPE)
    layers = (
        ("vector", Reshape(DIGITS_SHAPE, (pixels,))),
        ("hidden", Linear(pixels, hidden)),
        ("relu", ReLU()),
        ("output", Linear(hidden, DIGITS_CLASSES)),
    )
    return Network("mlp", DIGITS_SHAPE, DIGITS_CLASSES, layers)


def convnet(channels: int = 8) -> Network:
    """Two 3x3 convolutions, each with ReLU and 2x2 pooling, and a linear layer."""
    height, width = DIGITS_SHAPE
    pooled = (height // 4, width // 4, 2 * channels)
    layers = (
        ("image", Reshape(DIGITS_SHAPE, (height, width, 1))),
        ("conv1", Conv2d(1, channels)),
        ("relu1", ReLU()),
        ("pool1", MaxPool2d(2)),
        ("conv2", Conv2d(channels, 2 * channels)),
        ("relu2", ReLU()),
        ("pool2", MaxPool2d(2)),
        ("vector", Reshape(pooled, (prod(pooled),))),
        ("output", Linear(prod(pooled), DIGITS_CLASSES)),
    )
    return Network("convnet", DIGITS_SHAPE, DIGITS_CLASSES, layers)


def attention(width: int = 16, heads: int = 2) -> Network:
    """One transformer block over the rows of the image, normalisation first (Xiong et al., 2020)."""
    tokens, pixels = DIGITS_SHAPE
    attend = Chain((("norm", LayerNorm(width)), ("attend", SelfAttention(tokens, width, heads))))
    think = Chain(
        (
            ("norm", LayerNorm(width)),
            ("expand", Linear(width, 2 * width)),
            ("relu", ReLU()),
            ("contract", Linear(2 * width, width)),
        )
    )
    layers = (
        ("embed", Linear(pixels, width)),
        ("positions", Positions(tokens, width)),
        ("attention", Residual(attend)),
        ("feedforward", Residual(think)),
        ("norm", LayerNorm(width)),
        ("vector", Reshape((tokens, width), (tokens * width,))),
        ("output", Linear(tokens * width, DIGITS_CLASSES)),
    )
    return Network("attention", DIGITS_SHAPE, DIGITS_CLASSES, layers)


NETWORKS = {build.__name__: build for build in (mlp, convnet, attention)}
"""The builders by name; without arguments each builds the network of its defaults."""
