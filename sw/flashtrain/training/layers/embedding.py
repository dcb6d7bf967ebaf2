"""Embedding and Positions: vectors for tokens, and for their places."""

from dataclasses import dataclass

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape, integer_dtype
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer, expect_shape


@dataclass(frozen=True)
class Embedding(Layer):
    """One learned vector for each of `vocabulary` tokens. It takes integers: it is a network's first layer.

    Parameter: vectors ``[vocabulary, width]``. Saved: the tokens. Gradients of a token that comes several
    times are added in the order of the batch.
    """

    vocabulary: int
    width: int

    def __post_init__(self) -> None:
        if self.vocabulary < 1 or self.width < 1:
            raise ShapeError(f"{self}: expected a vocabulary and a width of at least 1")

    def integers(self) -> int:
        return self.vocabulary

    def parameter_shapes(self) -> dict[str, Shape]:
        return {"vectors": (self.vocabulary, self.width)}

    def initialise(self, random: np.random.Generator) -> Arrays:
        return {"vectors": random.normal(0.0, 0.1, (self.vocabulary, self.width)).astype(np.float32)}

    def output_shape(self, input_shape: Shape) -> Shape:
        return (*input_shape, self.width)

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"tokens": ArraySpec((batch, *input_shape), integer_dtype(self.vocabulary))}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        return parameters["vectors"][x.astype(np.intp)], {"tokens": x}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        gradient = np.zeros_like(parameters["vectors"])
        np.add.at(gradient, saved["tokens"].reshape(-1), dy.reshape(-1, self.width))
        return np.zeros(dy.shape[:-1], dy.dtype), {"vectors": gradient}


@dataclass(frozen=True)
class Positions(Layer):
    """Adds one learned vector per token, by which the attention distinguishes tokens. Saves nothing.

    Parameter: offset ``[tokens, width]``.
    """

    tokens: int
    width: int

    def parameter_shapes(self) -> dict[str, Shape]:
        return {"offset": (self.tokens, self.width)}

    def initialise(self, random: np.random.Generator) -> Arrays:
        return {"offset": random.normal(0.0, 0.1, (self.tokens, self.width)).astype(np.float32)}

    def output_shape(self, input_shape: Shape) -> Shape:
        expect_shape(self, input_shape, (self.tokens, self.width))
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        return x + parameters["offset"], {}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        return dy, {"offset": dy.sum(axis=0)}
