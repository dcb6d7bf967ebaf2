"""ReLU, GELU and Softmax."""

from dataclasses import dataclass
from math import pi, prod, sqrt

import numpy as np

from flashtrain.training.arrays import UINT8, Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer
from flashtrain.training.layers.loss import softmax


@dataclass(frozen=True)
class ReLU(Layer):
    """``y = max(x, 0)``. Saved: the sign of each element as one bit, a 32nd of the activation itself."""

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"positive": ArraySpec((-(-batch * prod(input_shape) // 8),), UINT8)}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        positive = x > 0
        return np.where(positive, x, x.dtype.type(0)), {"positive": np.packbits(positive)}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        positive = np.unpackbits(saved["positive"], count=dy.size).reshape(dy.shape)
        return np.where(positive, dy, dy.dtype.type(0)), {}


@dataclass(frozen=True)
class GELU(Layer):
    """``y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``: the form with tanh (Hendrycks and
    Gimpel, 2016), as `torch.nn.GELU(approximate="tanh")`. Saved: x.
    """

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"x": ArraySpec((batch, *input_shape))}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        x = np.ascontiguousarray(x)
        half, one = x.dtype.type(0.5), x.dtype.type(1)
        return half * x * (one + self._tanh(x)), {"x": x}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        x = saved["x"]
        half, one = x.dtype.type(0.5), x.dtype.type(1)
        t = self._tanh(x)
        inner = x.dtype.type(_SCALE) * (one + x.dtype.type(3 * _CUBIC) * x * x)
        return dy * (half * (one + t) + half * x * (one - t * t) * inner), {}

    def _tanh(self, x: FloatArray) -> FloatArray:
        return np.tanh(x.dtype.type(_SCALE) * (x + x.dtype.type(_CUBIC) * x * x * x))


_SCALE, _CUBIC = sqrt(2 / pi), 0.044715


@dataclass(frozen=True)
class Softmax(Layer):
    """Exponentials along the last axis, scaled to sum 1. Saved: y.

    The loss of a classifier has a softmax of its own (`CrossEntropy`); this one is for the inside of a
    network.
    """

    def output_shape(self, input_shape: Shape) -> Shape:
        if not input_shape:
            raise ShapeError(f"{self}: expected examples of at least one axis, got {input_shape}")
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"y": ArraySpec((batch, *input_shape))}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        y = softmax(np.ascontiguousarray(x))
        return y, {"y": y}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        y = saved["y"]
        return y * (dy - (dy * y).sum(axis=-1, keepdims=True)), {}
