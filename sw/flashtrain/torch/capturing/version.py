"""The version of a tensor's data, by the counters that PyTorch has for changes in place."""

import torch
from torch.autograd.grad_mode import _unsafe_preserve_version_counter
from torch.autograd.graph import increment_version
from torch.utils._python_dispatch import _disable_current_modes


class Version:
    """The version that a tensor has now; it does not keep the data.

    Views share a counter, but for pieces of operations such as `unsafe_chunk`: each has a counter of its own.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        with _disable_current_modes():
            self._counted = tensor.detach()
            self._counted.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        self._count = tensor._version

    def is_of(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor has this counter, and no change since."""
        if not self._count == self._counted._version == tensor._version:
            return False
        # PyTorch does not tell counters apart: increment one, and look at the other.
        with _unsafe_preserve_version_counter(tensor):
            increment_version(tensor)
            return self._counted._version != self._count
