"""PyTorch's count of in-place changes, kept without the data that it counts for."""

from typing import Any

import torch
from torch.autograd.grad_mode import _unsafe_preserve_version_counter
from torch.autograd.graph import increment_version
from torch.utils._python_dispatch import _disable_current_modes

from flashtrain.torch.ranks.shards import is_distributed


class ChangeCounter:
    """The version counter of a tensor and of its views, and the count at the time of saving.

    PyTorch does not compare versions of tensors that hooks have packed, so the hooks do. The counter outlives
    the data: a change is seen although the tensor is gone when the backward pass begins. Dispatch modes do
    not see how it is made.

    with_data: keep the data alive, too. PyTorch cannot part them in tensors that are not plain.
    """

    def __init__(self, tensor: torch.Tensor, with_data: bool = False) -> None:
        self.saved = tensor._version
        with _disable_current_modes():
            self._counted = tensor.detach()
            if not with_data:
                # Another storage under the same counter.
                empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
                if is_distributed(self._counted):
                    # The shard counts no changes of the whole, and `data` is not the shard.
                    whole: Any = self._counted
                    whole._local_tensor = empty
                else:
                    self._counted.data = empty

    @property
    def now(self) -> int:
        return self._counted._version

    @property
    def changed(self) -> bool:
        """Whether the data were changed since they were saved."""
        return self.now != self.saved

    def matches(self, tensor: torch.Tensor) -> bool:
        """Whether it is the counter of `tensor`, and the data were not changed since they were saved.

        Tensors on one storage may have several counters, such as the chunks of `unsafe_chunk`. PyTorch does
        not tell them apart, so this increments one and compares the other.
        """
        if not self.saved == self.now == tensor._version:
            return False
        with _unsafe_preserve_version_counter(tensor):
            increment_version(tensor)
            return self.changed
