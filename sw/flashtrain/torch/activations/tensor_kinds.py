"""Kinds of tensors: which have bytes that can be stored."""

import torch
from torch import nn

from flashtrain.torch.tensor_names import short_name

_DISPATCH = "__torch_dispatch__"


def obstacle(tensor: torch.Tensor) -> str | None:
    """Why the tensor's bytes cannot be stored; None if they can."""
    if tensor.is_quantized:
        return "is quantized"
    if tensor.is_nested:
        return "is nested"
    if tensor.layout is not torch.strided:
        return f"has the layout {short_name(tensor.layout)}"
    if tensor.device.type != "cpu":
        return f"lies on device {str(tensor.device)!r}"
    if getattr(type(tensor), _DISPATCH) is not getattr(torch.Tensor, _DISPATCH):
        return f"is a {type(tensor).__name__}, of which PyTorch does not have the bytes"
    return None


def detached_alias(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without its graph, which would keep itself alive otherwise."""
    detached, kind = tensor.detach(), type(tensor)
    if isinstance(detached, kind) or issubclass(kind, nn.Parameter):
        return detached
    return detached.as_subclass(kind)
