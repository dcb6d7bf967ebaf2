"""Tensors, dtypes and layouts in messages, in PyTorch's words."""

import torch


def short_name(kind: torch.dtype | torch.layout) -> str:
    """The name of a dtype or a layout without the package."""
    return str(kind).removeprefix("torch.")


def described(tensor: torch.Tensor) -> str:
    """Dtype and shape."""
    shape = "[...]" if tensor.is_nested else list(tensor.shape)
    return f"{short_name(tensor.dtype)}{shape}"
