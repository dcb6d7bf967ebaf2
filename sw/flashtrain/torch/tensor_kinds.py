"""Kinds of tensors: which have a storage that holds their values."""

from functools import cache

import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes

from flashtrain.torch.accelerators import host_copy
from flashtrain.torch.tensor_names import short_name


def obstacle(tensor: torch.Tensor) -> str | None:
    """Why the storage of the tensor does not hold its values; None if it does.

    The dispatch keys decide. A tensor whose keys are those of dense tensors of its device has its values in
    its storage, at its offset and strides. Any further key, such as `ZeroTensor`, `Python` or
    `FuncTorchBatched`, says that something else than the storage makes the values. On a device with data the
    storage has them up to the last element, too; one that was resized has not.
    """
    device = tensor.device.type
    further = (torch._C._dispatch_keys(tensor) - _dense_keys(device)).highestPriorityTypeId()
    if further != torch._C.DispatchKey.Undefined:
        return _kind(tensor, further.name)
    if device != "meta" and tensor.numel() and not _has_data(tensor):
        return "has a storage without its data"
    return None


def detached_alias(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without its graph, which would keep itself alive otherwise."""
    detached, kind = tensor.detach(), type(tensor)
    if isinstance(detached, kind) or issubclass(kind, nn.Parameter):
        return detached
    return detached.as_subclass(kind)


def materialized(tensor: torch.Tensor) -> torch.Tensor:
    """The values as a contiguous tensor of the CPU whose storage holds them: the same one if it is such."""
    host = host_copy(tensor).resolve_conj().resolve_neg()
    return (host.clone() if host._is_zerotensor() else host).contiguous()


@cache
def _dense_keys(device: str) -> torch._C.DispatchKeySet:
    """The dispatch keys of dense tensors of a device, PyTorch's lazy conjugates and negatives included."""
    # Modes at work would make another kind of tensor.
    with _disable_current_modes(), torch._C._DisableFuncTorch(), torch.inference_mode(False):
        conjugate = torch.empty(0, dtype=torch.complex64, device=device).conj()
        negative = torch._neg_view(conjugate)  # pyright: ignore[reportPrivateImportUsage]
        return torch._C._dispatch_keys(negative)


def _has_data(tensor: torch.Tensor) -> bool:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    needed = (int(tensor.storage_offset()) + last + 1) * tensor.element_size()
    storage = tensor.untyped_storage()
    return storage.nbytes() >= needed and storage.data_ptr() != 0


def _kind(tensor: torch.Tensor, key: str) -> str:
    """The kind of the tensor, for messages; `key`: the dispatch key that dense tensors do not have."""
    if tensor._is_zerotensor():
        return "is a zero of forward-mode differentiation"
    if tensor.is_quantized:
        return "is quantized"
    if type(tensor) not in (torch.Tensor, nn.Parameter):
        return f"is a {type(tensor).__name__}, of which PyTorch does not have the bytes"
    if tensor.is_nested:
        return "is nested"
    if tensor.layout is not torch.strided:
        return f"has the layout {short_name(tensor.layout)}"
    return f"has the dispatch key {key}, which makes its values"
