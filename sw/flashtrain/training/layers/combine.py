"""Layers made of layers."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.draw import Draw
from flashtrain.training.layers.layer import Layer

ArrayT = TypeVar("ArrayT")


@dataclass(frozen=True)
class Chain(Layer):
    """Named layers, one after the other. Their parameters, saved and running arrays are its own, as
    ``layer.name``.
    """

    layers: tuple[tuple[str, Layer], ...]

    def integers(self) -> int:
        return self.layers[0][1].integers() if self.layers else 0

    def exact(self) -> tuple[str, ...]:
        return tuple(f"{name}.{key}" for name, layer in self.layers for key in layer.exact())

    def at(self, draw: Draw) -> "Chain":
        return Chain(tuple((name, layer.at(draw.of(name))) for name, layer in self.layers))

    def parameter_shapes(self) -> dict[str, Shape]:
        return {
            f"{name}.{key}": shape
            for name, layer in self.layers
            for key, shape in layer.parameter_shapes().items()
        }

    def initialise(self, random: np.random.Generator) -> Arrays:
        return {
            f"{name}.{key}": a for name, layer in self.layers for key, a in layer.initialise(random).items()
        }

    def first_running(self) -> Arrays:
        return {f"{name}.{key}": a for name, layer in self.layers for key, a in layer.first_running().items()}

    def next_running(self, running: Arrays, saved: Arrays) -> Arrays:
        return {
            f"{name}.{key}": a
            for name, layer in self.layers
            for key, a in layer.next_running(_of(name, running), _of(name, saved)).items()
        }

    def evaluate(self, parameters: Arrays, running: Arrays, x: FloatArray) -> FloatArray:
        for name, layer in self.layers:
            x = layer.evaluate(_of(name, parameters), _of(name, running), x)
        return x

    def output_shape(self, input_shape: Shape) -> Shape:
        for _, layer in self.layers:
            input_shape = layer.output_shape(input_shape)
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        specs = {}
        for name, layer in self.layers:
            specs |= {f"{name}.{key}": spec for key, spec in layer.saved_specs(batch, input_shape).items()}
            input_shape = layer.output_shape(input_shape)
        return specs

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        saved: Arrays = {}
        for name, layer in self.layers:
            x, inner = layer.forward(_of(name, parameters), x)
            saved |= {f"{name}.{key}": array for key, array in inner.items()}
        return x, saved

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        gradients = {}
        for name, layer in reversed(self.layers):
            dy, inner = layer.backward(_of(name, parameters), _of(name, saved), dy)
            gradients |= {f"{name}.{key}": array for key, array in inner.items()}
        return dy, gradients


@dataclass(frozen=True)
class Residual(Layer):
    """``y = x + body(x)``: a path around `body`, which must keep the shape (He et al., 2016)."""

    body: Layer

    def exact(self) -> tuple[str, ...]:
        return self.body.exact()

    def at(self, draw: Draw) -> "Residual":
        return Residual(self.body.at(draw))

    def parameter_shapes(self) -> dict[str, Shape]:
        return self.body.parameter_shapes()

    def initialise(self, random: np.random.Generator) -> Arrays:
        return self.body.initialise(random)

    def output_shape(self, input_shape: Shape) -> Shape:
        output_shape = self.body.output_shape(input_shape)
        if output_shape != input_shape:
            raise ShapeError(f"Residual: body must keep the shape {input_shape}, but returns {output_shape}")
        return output_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        return self.body.saved_specs(batch, input_shape)

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        y, saved = self.body.forward(parameters, x)
        return x + y, saved

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        dx, gradients = self.body.backward(parameters, saved, dy)
        return dy + dx, gradients

    def first_running(self) -> Arrays:
        return self.body.first_running()

    def next_running(self, running: Arrays, saved: Arrays) -> Arrays:
        return self.body.next_running(running, saved)

    def evaluate(self, parameters: Arrays, running: Arrays, x: FloatArray) -> FloatArray:
        return x + self.body.evaluate(parameters, running, x)


def _of(name: str, arrays: dict[str, ArrayT]) -> dict[str, ArrayT]:
    """The arrays of the layer `name`, without its prefix."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
