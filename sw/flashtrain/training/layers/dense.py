"""Linear and Reshape."""

from dataclasses import dataclass
from math import prod

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer, expect_shape, he_uniform


@dataclass(frozen=True)
class Linear(Layer):
    """``y = x @ weight + bias`` over the last axis; any axes before it are kept.

    Parameters: weight ``[inputs, outputs]``, bias ``[outputs]``. Saved: x.
    """

    inputs: int
    outputs: int

    def parameter_shapes(self) -> dict[str, Shape]:
        return {"weight": (self.inputs, self.outputs), "bias": (self.outputs,)}

    def initialise(self, random: np.random.Generator) -> Arrays:
        return {
            "weight": he_uniform(random, (self.inputs, self.outputs), self.inputs),
            "bias": np.zeros(self.outputs, np.float32),
        }

    def output_shape(self, input_shape: Shape) -> Shape:
        if not input_shape or input_shape[-1] != self.inputs:
            raise ShapeError(f"{self}: expected examples of shape (..., {self.inputs}), got {input_shape}")
        return (*input_shape[:-1], self.outputs)

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"x": ArraySpec((batch, *input_shape))}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        rows = x.reshape(-1, self.inputs)
        y = rows @ parameters["weight"] + parameters["bias"]
        return y.reshape(*x.shape[:-1], self.outputs), {"x": x}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        x = saved["x"]
        rows, dy_rows = x.reshape(-1, self.inputs), dy.reshape(-1, self.outputs)
        gradients = {"weight": rows.T @ dy_rows, "bias": dy_rows.sum(axis=0)}
        return (dy_rows @ parameters["weight"].T).reshape(x.shape), gradients


@dataclass(frozen=True)
class Reshape(Layer):
    """Each example of shape `before` as one of shape `after`, in C order. Saves nothing."""

    before: Shape
    after: Shape

    def __post_init__(self) -> None:
        if prod(self.before) != prod(self.after):
            raise ShapeError(f"{self}: {prod(self.before)} elements cannot become {prod(self.after)}")

    def output_shape(self, input_shape: Shape) -> Shape:
        expect_shape(self, input_shape, self.before)
        return self.after

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        return x.reshape(len(x), *self.after), {}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        return dy.reshape(len(dy), *self.before), {}
