"""SelfAttention, on examples of shape ``[tokens, width]``."""

from dataclasses import dataclass

import numpy as np

from flashtrain.training.arrays import Arrays, ArraySpec, FloatArray, Shape
from flashtrain.training.errors import ShapeError
from flashtrain.training.layers.layer import Layer, expect_shape
from flashtrain.training.layers.loss import softmax


@dataclass(frozen=True)
class SelfAttention(Layer):
    """Scaled dot-product attention of every token to all tokens of its example, in `heads` heads (Vaswani et
    al., 2017). With `causal`, to itself and to the tokens before it.

    Parameters: query, key, value, output ``[width, width]``. Saved: x; query, key, value and the attention
    weights by head; and the mixed values that enter the output projection.
    """

    tokens: int
    width: int
    heads: int = 1
    causal: bool = False

    def __post_init__(self) -> None:
        if self.heads < 1 or self.width % self.heads:
            raise ShapeError(f"{self}: heads must divide width {self.width}")

    def parameter_shapes(self) -> dict[str, Shape]:
        return dict.fromkeys(("query", "key", "value", "output"), (self.width, self.width))

    def initialise(self, random: np.random.Generator) -> Arrays:
        deviation = 1 / np.sqrt(self.width)
        return {
            name: random.normal(0.0, deviation, shape).astype(np.float32)
            for name, shape in self.parameter_shapes().items()
        }

    def output_shape(self, input_shape: Shape) -> Shape:
        expect_shape(self, input_shape, (self.tokens, self.width))
        return input_shape

    def saved_specs(self, batch: int, input_shape: Shape) -> dict[str, ArraySpec]:
        by_head = ArraySpec((batch, self.heads, self.tokens, self.width // self.heads))
        return {
            "x": ArraySpec((batch, *input_shape)),
            "query": by_head,
            "key": by_head,
            "value": by_head,
            "weights": ArraySpec((batch, self.heads, self.tokens, self.tokens)),
            "mixed": ArraySpec((batch, *input_shape)),
        }

    def forward(self, parameters: Arrays, x: FloatArray) -> tuple[FloatArray, Arrays]:
        query, key, value = (self._split(x @ parameters[name]) for name in ("query", "key", "value"))
        scores = query @ key.swapaxes(-1, -2) * self._scale(x)
        if self.causal:
            later = np.triu(np.ones((self.tokens, self.tokens), bool), k=1)
            scores = np.where(later, scores.dtype.type(-np.inf), scores)
        weights = softmax(scores)
        mixed = self._merge(weights @ value)
        saved: Arrays = {
            "x": x,
            "query": query,
            "key": key,
            "value": value,
            "weights": weights,
            "mixed": mixed,
        }
        return mixed @ parameters["output"], saved

    def backward(self, parameters: Arrays, saved: Arrays, dy: FloatArray) -> tuple[FloatArray, Arrays]:
        query, key, value, weights = saved["query"], saved["key"], saved["value"], saved["weights"]
        d_mixed = self._split(dy @ parameters["output"].T)
        d_weights = d_mixed @ value.swapaxes(-1, -2)
        d_scores = weights * (d_weights - (d_weights * weights).sum(axis=-1, keepdims=True)) * self._scale(dy)
        d_projections = {
            "query": self._merge(d_scores @ key),
            "key": self._merge(d_scores.swapaxes(-1, -2) @ query),
            "value": self._merge(weights.swapaxes(-1, -2) @ d_mixed),
        }
        rows = saved["x"].reshape(-1, self.width)
        gradients = {name: rows.T @ d.reshape(-1, self.width) for name, d in d_projections.items()}
        gradients["output"] = saved["mixed"].reshape(-1, self.width).T @ dy.reshape(-1, self.width)
        dx = np.zeros_like(dy)
        for name, d in d_projections.items():
            dx += d @ parameters[name].T
        return dx, gradients

    def _scale(self, like: FloatArray) -> np.floating:
        return like.dtype.type(1 / np.sqrt(self.width // self.heads))

    def _split(self, x: FloatArray) -> FloatArray:
        """``[batch, tokens, width]`` to ``[batch, heads, tokens, width / heads]``"""
        parted = x.reshape(len(x), self.tokens, self.heads, self.width // self.heads)
        return np.ascontiguousarray(parted.swapaxes(1, 2))

    def _merge(self, x: FloatArray) -> FloatArray:
        """Undo `_split`."""
        return np.ascontiguousarray(x.swapaxes(1, 2)).reshape(len(x), self.tokens, self.width)
