"""Kinds of tensors: which have bytes that can be stored."""

import torch
from torch import nn

_DISPATCH = "__torch_dispatch__"


def described(tensor: torch.Tensor) -> str:
    """Type and shape, for messages."""
    shape = "[...]" if tensor.is_nested else list(tensor.shape)
    return f"{str(tensor.dtype).removeprefix('torch.')}{shape}"


def obstacle(tensor: torch.Tensor) -> str | None:
    """Why the tensor's bytes cannot be stored; None if they can."""
    if tensor.is_quantized:
        return "is quantized"
    if tensor.is_nested:
        return "is nested"
    if tensor.layout is not torch.strided:
        return f"has the layout {str(tensor.layout).removeprefix('torch.')}"
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
