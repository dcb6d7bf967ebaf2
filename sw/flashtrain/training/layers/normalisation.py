"""LayerNorm and BatchNorm."""

from dataclasses import dataclass

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer


@dataclass(frozen=True)
class _Norm(Layer):
    """A scale and a shift for each of `width` features along the last axis."""

    width: int

    def parameter_shapes(self) -> dict[str, Shape]:
        return {"scale": (self.width,), "shift": (self.width,)}

    def initialise(self, random: np.random.Generator) -> Arrays:
        return {"scale": np.ones(self.width, np.float32), "shift": np.zeros(self.width, np.float32)}

    def output_shape(self, input_shape: Shape) -> Shape:
        if not input_shape or input_shape[-1] != self.width:
            raise ShapeError(f"{self}: expected examples of shape (..., {self.width}), got {input_shape}")
        return input_shape


@dataclass(frozen=True)
class LayerNorm(_Norm):
    """Each vector along the last axis to mean 0 and variance 1, then scaled and shifted (Ba et al., 2016).

    Parameters: scale, shift ``[width]``. Saved: the normalised vectors, and 1 / standard deviation of each.
    """

    epsilon: float = 1e-5

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {
            "normal": ArraySpec((batch, *input_shape)),
            "inverse": ArraySpec((batch, *input_shape[:-1], 1)),
        }

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        inverse = 1 / np.sqrt(variance + self.epsilon)
        normal = centred * inverse
        return normal * parameters["scale"] + parameters["shift"], {"normal": normal, "inverse": inverse}

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        normal, inverse = saved["normal"], saved["inverse"]
        batch_axes = tuple(range(dy.ndim - 1))
        gradients = {"scale": (dy * normal).sum(axis=batch_axes), "shift": dy.sum(axis=batch_axes)}
        d_normal = dy * parameters["scale"]
        along_mean = d_normal.mean(axis=-1, keepdims=True)
        along_normal = normal * (d_normal * normal).mean(axis=-1, keepdims=True)
        return (d_normal - along_mean - along_normal) * inverse, gradients


@dataclass(frozen=True)
class BatchNorm(_Norm):
    """Features of the last axis to mean 0 and variance 1 over the other axes, then scaled and shifted
    (Ioffe and Szegedy, 2015). It is `torch.nn.BatchNorm1d` and `BatchNorm2d` with the features last.

    Parameters: scale, shift ``[width]``. Saved: the normalised batch, and its statistics ``[2, width]``: mean
    and variance, exact in all formats of activations.

    Running: mean and variance ``[width]``. A batch moves them by the share `momentum` of its mean and its
    unbiased variance. `evaluate` normalises with them.
    """

    momentum: float = 0.1
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        if not 0 < self.momentum <= 1:
            raise ShapeError(f"{self}: the momentum must be above 0 and at most 1")

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return {"normal": ArraySpec((batch, *input_shape)), "statistics": ArraySpec((2, self.width))}

    def exact(self) -> tuple[str, ...]:
        return ("statistics",)

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        axes = tuple(range(x.ndim - 1))
        mean = x.mean(axis=axes)
        centred = x - mean
        variance = (centred * centred).mean(axis=axes)
        normal = np.ascontiguousarray(centred * self._inverse(variance))
        saved: Arrays = {"normal": normal, "statistics": np.stack([mean, variance])}
        return normal * parameters["scale"] + parameters["shift"], saved

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        normal, inverse = saved["normal"], self._inverse(saved["statistics"][1])
        axes = tuple(range(dy.ndim - 1))
        gradients = {"scale": (dy * normal).sum(axis=axes), "shift": dy.sum(axis=axes)}
        d_normal = dy * parameters["scale"]
        along_normal = normal * (d_normal * normal).mean(axis=axes)
        return (d_normal - d_normal.mean(axis=axes) - along_normal) * inverse, gradients

    def first_running(self) -> Arrays:
        return {"mean": np.zeros(self.width, np.float32), "variance": np.ones(self.width, np.float32)}

    def next_running(self, running: Arrays, saved: Arrays) -> Arrays:
        mean, variance = saved["statistics"]
        rows = saved["normal"].size // self.width
        unbiased = variance * np.float32(rows / max(1, rows - 1))
        keep, take = np.float32(1 - self.momentum), np.float32(self.momentum)
        return {
            "mean": running["mean"] * keep + mean * take,
            "variance": running["variance"] * keep + unbiased * take,
        }

    def evaluate(self, parameters: Arrays, running: Arrays, x: FloatArray) -> FloatArray:
        normal = (x - running["mean"]) * self._inverse(running["variance"])
        return normal * parameters["scale"] + parameters["shift"]

    def _inverse(self, variance: FloatArray) -> FloatArray:
        return 1 / np.sqrt(variance + variance.dtype.type(self.epsilon))
