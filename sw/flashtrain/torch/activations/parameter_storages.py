"""Storages of parameters and buffers, which are in memory anyway."""

from itertools import chain

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from flashtrain.torch.ranks.shards import shard
from flashtrain.torch.tensor_kinds import obstacle
from flashtrain.torch.weak_storages import WeakStorages


class ParameterStorages:
    """The storages of parameters, buffers and other leaves that require gradients."""

    def __init__(self) -> None:
        self._storages = WeakStorages[bool]()

    def note(self, module: nn.Module) -> None:
        """Note the parameters and buffers of a module and of all modules in it, as far as storages hold them.

        The others are wrappers, such as those of `torch.func.vmap`. Autograd saves what these hold.
        """
        for tensor in chain(module.parameters(), module.buffers()):
            if not is_lazy(tensor) and obstacle(part := shard(tensor)) is None:
                self._note(part.untyped_storage())

    def has(self, tensor: torch.Tensor) -> bool:
        """Whether a strided tensor, or a distributed one, is one of them, or a view of one."""
        storage = shard(tensor).untyped_storage()
        base = tensor._base
        if _is_leaf(tensor) or (base is not None and _is_leaf(base)):
            self._note(storage)
        return self._storages.get(storage) is not None

    def _note(self, storage: torch.UntypedStorage) -> None:
        if self._storages.get(storage) is None:
            self._storages.put(storage, True)


def _is_leaf(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, nn.Parameter) or (tensor.is_leaf and tensor.requires_grad)
