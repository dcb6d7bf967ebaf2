"""Fake tensors in the place of those of the meta device, during a capture."""

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

_META = torch.device("meta")
_ROW_ALIGNMENT = 16
"""Of the rows that a grouped product gives, in bytes."""
_GROUPED_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
"""Of grouped products on devices with data."""


class FakeTensors(TorchDispatchMode):
    """While entered, operations on the meta device give fake tensors.

    The type of a fake tensor says that it has no values. A model that reads some, such as those of a mask of
    padding, then takes the branch of `torch.export`. The arithmetic is that of the meta device.
    """

    def __init__(self) -> None:
        super().__init__()
        self._mode = FakeTensorMode()

    def of(self, tree: Any) -> Any:
        """The tree with a fake tensor on the same storage for each tensor of the meta device."""
        return tree_map_only(torch.Tensor, self._fake, tree)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kernel = _grouped_product if _lacks_kernel(func, args) else func
        with torch._C._DisableTorchDispatch():
            result = kernel(*args, **(kwargs or {}))
        return self.of(result)

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta and not isinstance(tensor, FakeTensor):
            return FakeTensor(self._mode, tensor.detach(), _META)
        return tensor


def _lacks_kernel(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether it is a grouped product, which PyTorch has on the meta device in bfloat16 only."""
    return (
        func.overloadpacket is torch.ops.aten._grouped_mm
        and args[0].is_meta
        and all(each.dtype in _GROUPED_DTYPES for each in args[:2])
        and args[0].shape[-1] == args[1].shape[-2]
    )


def _grouped_product(
    left: torch.Tensor,
    right: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The result of `torch._grouped_mm`, with rows as its kernels lay them out."""
    # Groups are a dimension of both operands, or parts of the inner one, which the result then has.
    groups = ()
    if left.dim() == right.dim():
        groups = (left.shape[0],) if offs is None else tuple(offs.shape)
    rows, columns = left.shape[-2], right.shape[-1]
    dtype = out_dtype or left.dtype
    width = -(-columns * dtype.itemsize // _ROW_ALIGNMENT) * _ROW_ALIGNMENT // dtype.itemsize
    strides = (rows * width, width, 1)[-2 - len(groups) :]
    return torch.empty_strided((*groups, rows, columns), strides, dtype=dtype, device=left.device)
