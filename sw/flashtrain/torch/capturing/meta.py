"""A model without data: on the meta device."""

from collections.abc import Callable
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from flashtrain.torch.capturing.recorder import first_line
from flashtrain.torch.errors import CaptureError


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
    empty = tensor.detach().to("meta")
    return nn.Parameter(empty, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else empty


def built_on_meta(target: str, function: Callable[[], object]) -> object:
    """The result of a function that builds a model, with the meta device as PyTorch's default.

    `CaptureError` for an operation that fails there, with the class of the module that is being built.
    """
    operations = _Operations()
    try:
        with torch.device("meta"), operations:
            return function()
    except Exception as error:
        if error is not operations.error:
            raise
        raise CaptureError(
            f"{target}: building {_class_of(error)}: {operations.failed}: {first_line(error)};"
            ' expected values from tensors of device="cpu", or a capture of real tensors'
        ) from error


class _Operations(TorchDispatchMode):
    """Sees which operation fails, and how."""

    error: Exception | None = None
    failed: object = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            self.failed, self.error = func, error
            raise


def _class_of(error: Exception) -> str:
    """The class of the innermost module in the trace of an error."""
    found, trace = "the model", error.__traceback__
    while trace is not None:
        owner = trace.tb_frame.f_locals.get("self")
        found = f"module {type(owner).__name__}" if isinstance(owner, nn.Module) else found
        trace = trace.tb_next
    return found
