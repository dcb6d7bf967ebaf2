"""Dropout."""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.draw import Draw
from flashtrain.training.layers.layer import Layer


@dataclass(frozen=True)
class Dropout(Layer):
    """Zeros a share `rate` of the elements, and scales the others by ``1 / (1 - rate)`` (Srivastava et al.,
    2014). The identity outside of training.

    Saves nothing: the backward pass draws the same elements again. An element is dropped if its 32-bit word
    of :class:`Draw` is below ``rate * 2**32``.
    """

    rate: float = 0.5
    draw: Draw = field(default=Draw(), repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rate < 1:
            raise ShapeError(f"Dropout: the rate must be at least 0 and below 1, got {self.rate}")

    def at(self, draw: Draw) -> "Dropout":
        return replace(self, draw=draw)

    def output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        return self._dropped(x), {}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        return self._dropped(dy), {}

    def evaluate(self, parameters: Arrays, running: Arrays, x: FloatArray) -> FloatArray:
        return x

    def _dropped(self, x: FloatArray) -> FloatArray:
        words = self.draw.words(len(x), prod(x.shape[1:])).reshape(x.shape)
        kept = words >= np.uint32(min(round(self.rate * 2**32), 2**32 - 1))
        return np.where(kept, x * x.dtype.type(1 / (1 - self.rate)), x.dtype.type(0))
