"""Softmax, the cross entropy of its result, and the mean squared error."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arrays import FloatArray


def softmax(x: FloatArray) -> FloatArray:
    """Exponentials along the last axis, scaled to sum 1; less the maximum first, so that none overflows."""
    exponential = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponential / exponential.sum(axis=-1, keepdims=True)


def softmax_cross_entropy(logits: FloatArray, labels: NDArray[np.integer]) -> tuple[float, FloatArray]:
    """Mean cross entropy of ``softmax(logits)`` against `labels`, and its gradient by the logits.

    `logits` is ``[..., classes]``, `labels` ``[...]`` with values below `classes`.
    """
    flat, expected = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
    rows = np.arange(len(flat))
    shifted = flat - flat.max(axis=1, keepdims=True)
    exponential = np.exp(shifted)
    total = exponential.sum(axis=1)
    loss = (np.log(total) - shifted[rows, expected]).mean()
    gradient = exponential / total[:, None]
    gradient[rows, expected] -= 1
    return float(loss), (gradient / logits.dtype.type(len(flat))).reshape(logits.shape)


def mean_squared_error(outputs: FloatArray, targets: FloatArray) -> tuple[float, FloatArray]:
    """Mean of the squared differences over all elements, and its gradient by the outputs."""
    difference = outputs - targets
    gradient = difference * outputs.dtype.type(2 / difference.size)
    return float((difference * difference).mean()), gradient
