"""Conv2d and MaxPool2d, on examples of shape ``[height, width, channels]``.

Channels come last. A convolution is therefore one matrix product over unrolled patches (im2col) without a
transposition, and its result is C-contiguous.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from flashtrain.training.arrays import UINT8, Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer, he_uniform
from flashtrain.training.layers.windows import Windows


@dataclass(frozen=True)
class Conv2d(Layer):
    """Convolution with zeros around the image. Without `padding` the kernel size is odd, and with stride 1
    height and width stay.

    Parameters: weight ``[size * size * inputs, outputs]`` (row, column, input channel), bias ``[outputs]``.
    Saved: x; the patches, up to `size * size` times larger, are unrolled again in the backward pass.
    """

    inputs: int
    outputs: int
    size: int = 3
    stride: int = 1
    padding: int | None = None

    def __post_init__(self) -> None:
        if self.size < 1 or (self.padding is None and self.size % 2 == 0):
            odd = "odd and positive" if self.padding is None else "positive"
            raise ShapeError(f"Conv2d: kernel size must be {odd}, got {self.size}")
        _ = self._windows

    def parameter_shapes(self) -> dict[str, Shape]:
        return {"weight": (self.size * self.size * self.inputs, self.outputs), "bias": (self.outputs,)}

    def initialise(self, random: np.random.Generator) -> Arrays:
        shape = self.parameter_shapes()["weight"]
        return {"weight": he_uniform(random, shape, shape[0]), "bias": np.zeros(self.outputs, np.float32)}

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 3 or input_shape[2] != self.inputs:
            raise ShapeError(f"{self}: expected examples of shape (h, w, {self.inputs}), got {input_shape}")
        return (*_counts(self, self._windows, input_shape), self.outputs)

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"x": ArraySpec((batch, *input_shape))}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        y = self._patches(x) @ parameters["weight"] + parameters["bias"]
        return y.reshape(len(x), *self.output_shape(x.shape[1:])), {"x": x}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        x = saved["x"]
        dy_rows = dy.reshape(-1, self.outputs)
        gradients = {"weight": self._patches(x).T @ dy_rows, "bias": dy_rows.sum(axis=0)}
        d_patches = dy_rows @ parameters["weight"].T
        windows = d_patches.reshape(*dy.shape[:3], self.size * self.size, self.inputs)
        return self._windows.add(windows, x.shape), gradients

    def _patches(self, x: FloatArray) -> FloatArray:
        """The kernel's inputs at each output pixel: ``[batch * rows * columns, size * size * inputs]``."""
        return self._windows.take(x, outside=0.0).reshape(-1, self.size * self.size * self.inputs)

    @property
    def _windows(self) -> Windows:
        return Windows(self.size, self.stride, self.size // 2 if self.padding is None else self.padding)


@dataclass(frozen=True)
class MaxPool2d(Layer):
    """Maximum over windows of ``size x size``; the first of equal maxima counts. Without `stride` the windows
    tile the image. `padding` is never the maximum, and no pixel may be left out.

    Saved: the position of each maximum in its window, one byte each (so `size` is at most 16).
    """

    size: int = 2
    stride: int | None = None
    padding: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 16:
            raise ShapeError(f"MaxPool2d: window size must be 1 to 16, got {self.size}")
        _ = self._windows

    def output_shape(self, input_shape: Shape) -> Shape:
        windows = self._windows
        if len(input_shape) != 3 or any(windows.left_out(pixels) for pixels in input_shape[:2]):
            sizes = f"{self.size - 2 * self.padding} and multiples of {windows.stride} more"
            if self.stride is None and not self.padding:
                sizes = f"multiples of {self.size}"
            raise ShapeError(
                f"{self}: expected examples of shape (h, w, channels), h and w {sizes}, got {input_shape}"
            )
        return (*_counts(self, windows, input_shape), input_shape[2])

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"position": ArraySpec((batch, *self.output_shape(input_shape)), UINT8)}

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        windows = self._windows.take(x, outside=-inf)
        position = windows.argmax(axis=3)
        y = np.take_along_axis(windows, position[:, :, :, None], axis=3)[:, :, :, 0]
        return y, {"position": position.astype(np.uint8)}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        batch, rows, columns, channels = dy.shape
        windows = np.zeros((batch, rows, columns, self.size * self.size, channels), dy.dtype)
        position = saved["position"].astype(np.intp)
        np.put_along_axis(windows, position[:, :, :, None], dy[:, :, :, None], axis=3)
        height, width = self._windows.pixels(rows), self._windows.pixels(columns)
        return self._windows.add(windows, (batch, height, width, channels)), {}

    @property
    def _windows(self) -> Windows:
        return Windows(self.size, self.size if self.stride is None else self.stride, self.padding)


def _counts(layer: Layer, windows: Windows, input_shape: Shape) -> Shape:
    counts = tuple(windows.count(pixels) for pixels in input_shape[:2])
    if min(counts) < 1:
        raise ShapeError(
            f"{layer}: expected examples of at least {windows.pixels(1)} pixels, got {input_shape}"
        )
    return counts
