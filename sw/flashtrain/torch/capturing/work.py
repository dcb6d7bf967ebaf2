"""The work of an operation of PyTorch's dispatcher: floating-point operations and bytes moved."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

from flashtrain.training.offload.processor import Work

_ATEN = torch.ops.aten


_GATHERS = (_ATEN.embedding, _ATEN.index_select, _ATEN.gather, _ATEN.index, _ATEN.nll_loss_forward)
"""Operations that take as many elements of their first argument as they give, or fewer."""

_ALLOCATIONS = (
    _ATEN.empty, _ATEN.empty_like, _ATEN.empty_strided, _ATEN.new_empty, _ATEN.new_empty_strided,
)  # fmt: skip
"""Operations that move nothing."""


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
    taken: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor],
) -> Work:
    """The work of `func`; `taken` and `given` are the tensors among its arguments and results.

    Bytes are those of all arguments and results, each once; of a gather the elements that it takes.
    """
    formula = FORMULAS.get(func.overloadpacket)
    flops = 0 if formula is None else int(formula(*args, **kwargs, out_val=result))
    packet, results = func.overloadpacket, sum(map(_bytes, given))
    if packet in _ALLOCATIONS:
        return Work(0, 0)
    if packet in _GATHERS:
        return Work(0, sum(map(_bytes, taken[1:])) + 2 * results)
    return Work(flops, sum(map(_bytes, taken)) + results)


def _bytes(tensor: torch.Tensor) -> int:
    """Bytes that the tensor occupies: those of an expanded one count once."""
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())
