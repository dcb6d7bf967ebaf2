"""The work of an operation of PyTorch's dispatcher: floating-point operations and bytes moved."""

from collections.abc import Sequence
from typing import Any

import torch

from flashtrain.training.offload.processor import Work

_ATEN = torch.ops.aten


_GATHERS = (_ATEN.embedding, _ATEN.index_select, _ATEN.gather, _ATEN.index, _ATEN.nll_loss_forward)
"""Operations that take as many elements of their first argument as they give, or fewer."""

_ALLOCATIONS = (
    _ATEN.empty, _ATEN.empty_like, _ATEN.empty_strided, _ATEN.new_empty, _ATEN.new_empty_strided,
)  # fmt: skip
"""Operations that move nothing."""


def work_of(func: Any, flops: int, taken: Sequence[torch.Tensor], given: Sequence[torch.Tensor]) -> Work:
    """The work of `func`, of `flops`; `taken` and `given` are the tensors among its arguments and results.

    Bytes are those of all arguments and results, each once; of a gather the elements that it takes.
    """
    packet, results = func.overloadpacket, sum(map(_bytes, given))
    if packet in _ALLOCATIONS:
        return Work(0, 0)
    if packet in _GATHERS:
        return Work(0, sum(map(_bytes, taken[1:])) + 2 * results)
    return Work(flops, sum(map(_bytes, taken)) + results)


def _bytes(tensor: torch.Tensor) -> int:
    """Bytes that the tensor occupies: those of an expanded one count once."""
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())
