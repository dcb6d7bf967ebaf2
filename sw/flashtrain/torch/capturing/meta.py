"""A model without data: on the meta device."""

from itertools import chain

import torch
from torch import nn


def move_to_meta(model: nn.Module) -> None:
    """Move parameters and buffers in place. Modules that share one share it afterwards, unlike with `to`."""
    moved: dict[int, torch.Tensor] = {}
    for module in model.modules():
        for name, tensor in chain(module._parameters.items(), module._buffers.items()):
            if tensor is not None and not tensor.is_meta:
                if id(tensor) not in moved:
                    moved[id(tensor)] = _on_meta(tensor)
                setattr(module, name, moved[id(tensor)])


def _on_meta(tensor: torch.Tensor) -> torch.Tensor:
    there = tensor.detach().to("meta")
    return nn.Parameter(there, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else there
