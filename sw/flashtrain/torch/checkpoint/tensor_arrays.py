"""Tensors as arrays of NumPy, of which not all dtypes are, and back."""

import torch
from numpy.typing import NDArray
from torch import Tensor

from flashtrain.checkpoint import CheckpointError
from flashtrain.torch.accelerators import bytes_of
from flashtrain.torch.tensor_kinds import materialized, obstacle


def array_of(tensor: Tensor) -> NDArray:
    """The numbers of a tensor, which may share memory with it; its bytes if NumPy lacks the dtype (BF16)."""
    if (reason := obstacle(tensor)) and not tensor._is_zerotensor():
        raise CheckpointError(f"a tensor {reason}; expected a plain, strided one")
    host = materialized(tensor)
    try:
        return host.numpy()
    except TypeError:
        return bytes_of(host).numpy()


def tensor_of(array: NDArray, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    """The tensor of this dtype and shape from its array, with which it shares memory."""
    tensor = torch.from_numpy(array)
    return tensor if tensor.dtype is dtype else tensor.reshape(-1).view(dtype).reshape(shape)
