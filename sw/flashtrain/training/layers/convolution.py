"""Conv2d and MaxPool2d, on examples of shape ``[height, width, channels]``.

Channels come last. A convolution is therefore one matrix product over unrolled patches (im2col) without a
transposition, and its result is C-contiguous.
"""

from dataclasses import dataclass

import numpy as np

from flashtrain.training.arrays import UINT8, Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer, he_uniform


@dataclass(frozen=True)
class Conv2d(Layer):
    """Convolution of odd kernel size, stride 1, zero padding that keeps height and width.

    Parameters: weight ``[size * size * inputs, outputs]`` (row, column, input channel), bias ``[outputs]``.
    Saved: x; the patches, `size * size` times larger, are unrolled again in the backward pass.
    """

    inputs: int
    outputs: int
    size: int = 3

    def __post_init__(self) -> None:
        if self.size < 1 or self.size % 2 == 0:
            raise ShapeError(f"Conv2d: kernel size must be odd and positive, got {self.size}")

    def parameter_shapes(self) -> dict[str, Shape]:
        return {"weight": (self.size * self.size * self.inputs, self.outputs), "bias": (self.outputs,)}

    def initialise(self, random: np.random.Generator) -> Arrays:
        shape = self.parameter_shapes()["weight"]
        return {"weight": he_uniform(random, shape, shape[0]), "bias": np.zeros(self.outputs, np.float32)}

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 3 or input_shape[2] != self.inputs:
            raise ShapeError(f"{self}: expected examples of shape (h, w, {self.inputs}), got {input_shape}")
        return (*input_shape[:2], self.outputs)

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"x": ArraySpec((batch, *input_shape))}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        y = self._patches(x) @ parameters["weight"] + parameters["bias"]
        return y.reshape(*x.shape[:3], self.outputs), {"x": x}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        x = saved["x"]
        dy_rows = dy.reshape(-1, self.outputs)
        gradients = {"weight": self._patches(x).T @ dy_rows, "bias": dy_rows.sum(axis=0)}
        return self._scatter(dy_rows @ parameters["weight"].T, x.shape), gradients

    def _patches(self, x: FloatArray) -> FloatArray:
        """The kernel's inputs at each output pixel: ``[batch * height * width, size * size * inputs]``."""
        batch, height, width, _ = x.shape
        margin = self.size // 2
        padded = np.pad(x, ((0, 0), (margin, margin), (margin, margin), (0, 0)))
        windows = [padded[:, r : r + height, c : c + width] for r, c in self._taps()]
        return np.concatenate(windows, axis=3).reshape(batch * height * width, -1)

    def _scatter(self, d_patches: FloatArray, shape: Shape) -> FloatArray:
        """The adjoint of `_patches`: add every patch back to the pixels that it was read from."""
        batch, height, width, channels = shape
        margin = self.size // 2
        padded = np.zeros((batch, height + 2 * margin, width + 2 * margin, channels), d_patches.dtype)
        taps = d_patches.reshape(batch, height, width, self.size * self.size, channels)
        for tap, (r, c) in enumerate(self._taps()):
            padded[:, r : r + height, c : c + width] += taps[:, :, :, tap]
        return np.ascontiguousarray(padded[:, margin : margin + height, margin : margin + width])

    def _taps(self) -> list[tuple[int, int]]:
        return [(row, column) for row in range(self.size) for column in range(self.size)]


@dataclass(frozen=True)
class MaxPool2d(Layer):
    """Maximum over windows of ``size x size`` that do not overlap; the first of equal maxima counts.

    Saved: the position of each maximum in its window, one byte each (so `size` is at most 16).
    """

    size: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 16:
            raise ShapeError(f"MaxPool2d: window size must be 1 to 16, got {self.size}")

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 3 or input_shape[0] % self.size or input_shape[1] % self.size:
            raise ShapeError(
                f"{self}: expected examples of shape (h, w, channels), h and w multiples of {self.size},"
                f" got {input_shape}"
            )
        return (input_shape[0] // self.size, input_shape[1] // self.size, input_shape[2])

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"position": ArraySpec((batch, *self.output_shape(input_shape)), UINT8)}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        windows = self._windows(x)
        position = windows.argmax(axis=3)
        y = np.take_along_axis(windows, position[:, :, :, None], axis=3)[:, :, :, 0]
        return y, {"position": position.astype(np.uint8)}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        batch, height, width, channels = dy.shape
        windows = np.zeros((batch, height, width, self.size * self.size, channels), dy.dtype)
        position = saved["position"].astype(np.intp)
        np.put_along_axis(windows, position[:, :, :, None], dy[:, :, :, None], axis=3)
        split = windows.reshape(batch, height, width, self.size, self.size, channels)
        dx = split.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height * self.size, width * self.size, channels)
        return dx, {}

    def _windows(self, x: FloatArray) -> FloatArray:
        """``[batch, height / size, width / size, size * size, channels]``"""
        batch, height, width, channels = x.shape
        split = x.reshape(batch, height // self.size, self.size, width // self.size, self.size, channels)
        rows = split.transpose(0, 1, 3, 2, 4, 5)
        return rows.reshape(batch, height // self.size, width // self.size, self.size * self.size, channels)
