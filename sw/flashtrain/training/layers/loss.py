"""Softmax and the cross entropy of its result."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arrays import FloatArray


def softmax(x: FloatArray) -> FloatArray:
    """Exponentials along the last axis, scaled to sum 1; less the maximum first, so that none overflows."""
    exponential = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponential / exponential.sum(axis=-1, keepdims=True)


def softmax_cross_entropy(logits: FloatArray, labels: NDArray[np.integer]) -> tuple[float, FloatArray]:
    """Mean cross entropy of ``softmax(logits)`` against `labels`, and its gradient by the logits.

    `logits` is ``[batch, classes]``, `labels` ``[batch]`` with values below `classes`.
    """
    rows = np.arange(len(logits))
    shifted = logits - logits.max(axis=1, keepdims=True)
    exponential = np.exp(shifted)
    total = exponential.sum(axis=1)
    loss = (np.log(total) - shifted[rows, labels]).mean()
    gradient = exponential / total[:, None]
    gradient[rows, labels] -= 1
    return float(loss), gradient / logits.dtype.type(len(logits))
