"""The contract of a layer."""

from abc import ABC, abstractmethod

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.draw import Draw


class Layer(ABC):
    """A function with parameters, its derivative, and the sizes of everything it needs and leaves.

    Shapes are given per example; arrays carry the batch as their first axis. A layer is immutable and
    stateless:

    - ``forward(parameters, x)`` returns ``(y, saved)``. `saved` holds exactly the arrays that `saved_specs`
      describes, each C-contiguous. An array and its copy from storage are then the same in memory too.
    - ``backward(parameters, saved, dy)`` returns ``(dx, gradients)``, with one gradient per parameter, of its
      shape.

    Both compute in the dtype of `x` (float32 in training; tests use float64). Neither changes an argument.
    Both execute the same operations in the same order every time. Equal arguments therefore give equal
    results, to the last bit.

    Four more methods have defaults that suit most layers:

    - ``at(draw)`` returns the layer that draws its random numbers there.
    - ``evaluate(parameters, running, x)`` is the forward pass outside of training.
    - `first_running` and `next_running` give arrays that follow the batches and are not trained.
    """

    def parameter_shapes(self) -> dict[str, Shape]:
        """Shape of each parameter, in the order in which `arrays.pack` lays them out."""
        return {}

    def initialise(self, random: np.random.Generator) -> Arrays:
        """Fresh float32 parameters."""
        return {}

    def integers(self) -> int:
        """How many integers, from 0 on, a layer takes as input; 0 for one that takes floats."""
        return 0

    def exact(self) -> tuple[str, ...]:
        """The names of the saved arrays that keep float32 in all formats of activations."""
        return ()

    def at(self, draw: Draw) -> "Layer":
        """The layer at a position in the random numbers of a run."""
        return self

    @abstractmethod
    def output_shape(self, input_shape: Shape) -> Shape:
        """Shape of one example after the layer; `ShapeError` if the layer cannot take `input_shape`."""

    @abstractmethod
    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        """Specs of the arrays `saved` that `forward` returns for `batch` examples of `input_shape`."""

    @abstractmethod
    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]: ...

    @abstractmethod
    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]: ...

    def first_running(self) -> Arrays:
        """The running arrays, float32, before the first batch."""
        return {}

    def next_running(self, running: Arrays, saved: Arrays) -> Arrays:
        """The running arrays after a batch, from those before and what its forward pass saved."""
        return {}

    def evaluate(self, parameters: Arrays, running: Arrays, x: FloatArray) -> FloatArray:
        """The output outside of training, where no example depends on the others."""
        return self.forward(parameters, x)[0]


def expect_shape(layer: Layer, input_shape: Shape, expected: Shape) -> None:
    """Raise `ShapeError` unless the shape of one example is `expected`."""
    if input_shape != expected:
        raise ShapeError(f"{layer}: expected examples of shape {expected}, got {input_shape}")


def he_uniform(random: np.random.Generator, shape: Shape, fan_in: int) -> FloatArray:
    """Uniform values of variance 2 / fan_in: ReLU layers keep the scale (He et al., 2015, section 2.2)."""
    bound = np.sqrt(6.0 / fan_in)
    return random.uniform(-bound, bound, shape).astype(np.float32)
