"""The work of an operation of PyTorch's dispatcher: floating-point operations and bytes moved."""

from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any, NamedTuple

import torch
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

_ATEN = torch.ops.aten


class Work(NamedTuple):
    """FLOPs of matrix products and convolutions, a multiplication and an addition each counting as one; and
    bytes of all arguments and results, each once."""

    flops: int
    bytes: int


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    return sdpa_flop_count(query.shape, key.shape, value.shape)


def _attention_backward(gradient: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    return sdpa_backward_flop_count(gradient.shape, query.shape, key.shape, value.shape)


def _matrix_vector(matrix: Any, vector: Any, *_: Any, **__: Any) -> int:
    return 2 * prod(matrix.shape)


def _recurrent(input: Any, *weights: Any, **_: Any) -> int:
    """A layer of LSTM cells on the CPU: all gates of all steps, from the input and from the state."""
    return 2 * prod(input.shape[:2]) * sum(weight.numel() for weight in weights[:2])


def _recurrent_backward(input: Any, *weights: Any, **_: Any) -> int:
    return 2 * _recurrent(input, *weights)


FORMULAS: dict[Any, Callable[..., int]] = {
    _ATEN._scaled_dot_product_flash_attention_for_cpu: _attention,
    _ATEN._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
    _ATEN.mv: _matrix_vector,
    _ATEN.mkldnn_rnn_layer: _recurrent,
    _ATEN.mkldnn_rnn_layer_backward: _recurrent_backward,
    **flop_registry,
}
"""FLOPs by operation: PyTorch's formulas, and those that it lacks. Any other operation counts none."""


def work_of(
    func: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    result: Any,
    taken: Iterable[torch.Tensor],
    given: Iterable[torch.Tensor],
) -> Work:
    """The work of `func`; `taken` and `given` are the tensors among its arguments and results."""
    formula = FORMULAS.get(func.overloadpacket)
    flops = 0 if formula is None else int(formula(*args, **kwargs, out_val=result))
    return Work(flops, sum(map(_bytes, taken)) + sum(map(_bytes, given)))


def _bytes(tensor: torch.Tensor) -> int:
    """Bytes that the tensor occupies: those of an expanded one count once."""
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())
