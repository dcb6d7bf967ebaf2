"""A function that saves any tensors, and gives what the backward pass gets."""

from typing import Any

import torch
from torch import Tensor


class _Save(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, restored: list[list[Tensor]], *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        ctx.restored = restored
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        tensors = list(ctx.saved_tensors)
        ctx.restored.append(tensors)
        return gradients[0], None, *(None for _ in tensors)


class Saved:
    """Tensors that a graph has saved; :meth:`restore` runs the backward pass.

    The tensors are not kept alive.
    """

    def __init__(self, *tensors: Tensor) -> None:
        self._restored: list[list[Tensor]] = []
        self._out = _Save.apply(torch.ones((), requires_grad=True), self._restored, *tensors)

    def restore(self, retain_graph: bool = False) -> list[Tensor]:
        self._out.backward(retain_graph=retain_graph)
        return self._restored.pop()
