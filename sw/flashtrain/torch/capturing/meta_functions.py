"""Functions of PyTorch on the meta device as they are on accelerators."""

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves

from flashtrain.torch.errors import CaptureError


class MetaFunctions(TorchFunctionMode):
    """While entered, functions of meta tensors are those of accelerators, or are refused.

    Dropout is one operation, whose mask has a byte for each element. Its form on the CPU saves a mask of the
    tensor's dtype. Autocast, which PyTorch does not have on the meta device, is a `CaptureError`.

    where: the place of a function, for messages.
    """

    def __init__(self, where: Callable[[object], str]) -> None:
        super().__init__()
        self._where = where

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch._C._is_any_autocast_enabled() and _takes_meta(args, kwargs):
            raise CaptureError(
                f"{self._where(resolve_name(func))}: autocast has no effect on the meta device; expected a"
                " model in its dtype, as by `model.to(torch.bfloat16)`, or a capture of real tensors"
            )
        if func is torch.nn.functional.dropout:
            return _dropout(func, *args, **kwargs)
        return func(*args, **kwargs)


def _takes_meta(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return any(isinstance(leaf, torch.Tensor) and leaf.is_meta for leaf in tree_leaves((args, kwargs)))


def _dropout(
    func: Any, input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    if input.is_meta and training and not inplace and 0 < p < 1:
        return torch.native_dropout(input, p, True)[0]
    return func(input, p, training, inplace)
