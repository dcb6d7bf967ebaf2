"""Losses that a network is trained with: their targets, their gradient, and the figures of a test."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arrays import Array, ArraySpec, FloatArray, Shape, integer_dtype
from flashtrain.training.layers.loss import mean_squared_error, softmax_cross_entropy


@dataclass(frozen=True)
class Evaluation:
    """A network on test examples: its loss, and the share of right predictions, 0 to 1, if it classifies."""

    loss: float
    accuracy: float | None

    @property
    def text(self) -> str:
        """The figure that says how good the network is."""
        return f"{self.loss:.4f}" if self.accuracy is None else f"{self.accuracy:.1%}"


class Loss(ABC):
    """The loss of a batch, from the outputs of a network and the targets."""

    name: str
    figure: str
    """The name of the text of an evaluation."""

    @abstractmethod
    def target_spec(self, batch: int, output_shape: Shape) -> ArraySpec:
        """Targets of a network with this output for each example."""

    @abstractmethod
    def value(self, outputs: FloatArray, targets: Array) -> tuple[float, FloatArray]:
        """The loss, and its gradient by the outputs."""

    @abstractmethod
    def evaluation(self, outputs: FloatArray, targets: Array) -> Evaluation: ...


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """Of the softmax of the outputs along their last axis, with integer labels."""

    name = "cross entropy"
    figure = "accuracy"

    def target_spec(self, batch: int, output_shape: Shape) -> ArraySpec:
        return ArraySpec((batch, *output_shape[:-1]), integer_dtype(output_shape[-1]))

    def value(self, outputs: FloatArray, targets: NDArray[np.integer]) -> tuple[float, FloatArray]:
        return softmax_cross_entropy(outputs, targets)

    def evaluation(self, outputs: FloatArray, targets: NDArray[np.integer]) -> Evaluation:
        right = float((outputs.argmax(axis=-1) == targets).mean())
        return Evaluation(softmax_cross_entropy(outputs, targets)[0], right)


@dataclass(frozen=True)
class MeanSquaredError(Loss):
    """Over all outputs, with targets of their shape in float32."""

    name = "mean squared error"
    figure = "error"

    def target_spec(self, batch: int, output_shape: Shape) -> ArraySpec:
        return ArraySpec((batch, *output_shape))

    def value(self, outputs: FloatArray, targets: FloatArray) -> tuple[float, FloatArray]:
        return mean_squared_error(outputs, targets)

    def evaluation(self, outputs: FloatArray, targets: FloatArray) -> Evaluation:
        return Evaluation(mean_squared_error(outputs, targets)[0], None)
