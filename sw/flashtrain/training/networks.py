"""Networks: named layers in a row, and the ones that learn 8x8 digits."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arrays import Arrays, FloatArray, Shape, check_seed
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

Parameters = dict[str, Arrays]
"""Parameters of a network: layer name, parameter name, array. Layers without parameters are absent."""

DIGITS_SHAPE = (8, 8)
DIGITS_CLASSES = 10


@dataclass(frozen=True)
class Network:
    """A classifier: `layers` in order, from examples of `input_shape` to one logit per class.

    Raises `ShapeError` if a layer cannot take the output of the one before, or if two layers share a name.
    It is also raised if the last layer does not return `classes` numbers.
    """

    name: str
    input_shape: Shape
    classes: int
    layers: tuple[tuple[str, Layer], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.layers]
        if len(set(names)) != len(names):
            raise ShapeError(f"network {self.name}: layer names are not unique: {', '.join(names)}")
        output_shape = self.input_shape
        for _, layer in self.layers:
            output_shape = layer.output_shape(output_shape)
        if output_shape != (self.classes,):
            raise ShapeError(
                f"network {self.name}: expected an output of shape {(self.classes,)}, got {output_shape}"
            )

    def layer(self, name: str) -> Layer:
        return dict(self.layers)[name]

    def input_shapes(self) -> dict[str, Shape]:
        """Shape of one example as each layer gets it."""
        shapes, shape = {}, self.input_shape
        for name, layer in self.layers:
            shapes[name] = shape
            shape = layer.output_shape(shape)
        return shapes

    def initialise(self, seed: int) -> Parameters:
        """Fresh float32 parameters; equal seeds give equal parameters."""
        random = np.random.default_rng(check_seed(seed))
        return {name: layer.initialise(random) for name, layer in self.layers if layer.parameter_shapes()}

    def parameter_count(self) -> int:
        return sum(prod(shape) for _, layer in self.layers for shape in layer.parameter_shapes().values())

    def logits(self, parameters: Parameters, x: FloatArray) -> FloatArray:
        """Forward pass that saves nothing, ``[batch, *input_shape]`` to ``[batch, classes]``."""
        for name, layer in self.layers:
            x, _ = layer.forward(parameters.get(name, {}), x)
        return x

    def accuracy(self, parameters: Parameters, x: FloatArray, labels: NDArray[np.integer]) -> float:
        """Share of the examples whose largest logit is that of their label, 0 to 1."""
        return float((self.logits(parameters, x).argmax(axis=1) == labels).mean())


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
