"""Dropout on the meta device in the form that it has on accelerators."""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class FusedDropout(TorchFunctionMode):
    """While entered, dropout of meta tensors is one operation, whose mask has a byte for each element.

    PyTorch has this form on accelerators alone. Its form on the CPU saves a mask of the tensor's dtype.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.nn.functional.dropout:
            return _dropout(func, *args, **kwargs)
        return func(*args, **kwargs)


def _dropout(
    func: Any, input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    if input.is_meta and training and not inplace and 0 < p < 1:
        return torch.native_dropout(input, p, True)[0]
    return func(input, p, training, inplace)
