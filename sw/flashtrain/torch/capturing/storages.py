"""Identities of storages: views share one, and an address that is used again does not."""

from dataclasses import dataclass
from enum import Enum, auto

import torch
from torch._subclasses.fake_tensor import FakeTensor

from flashtrain.torch.errors import CaptureError
from flashtrain.torch.tensor_kinds import obstacle
from flashtrain.torch.tensor_names import described
from flashtrain.torch.weak_storages import WeakStorages


class Origin(Enum):
    """The origin of a storage."""

    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT = auto()
    """Another tensor that the model holds."""
    INPUT = auto()
    OPERATION = auto()
    GRADIENT = auto()
    """Of a parameter."""


@dataclass(eq=False)
class StorageRecord:
    """A storage and its history so far.

    - `module`, `operation`, `made`: of the last write in the forward pass.
    - `released`: the last operation of the forward pass that needs it.
    """

    bytes: int
    origin: Origin
    owner: str | int = ""
    """The name of a parameter, or the index of an input."""
    module: str = ""
    operation: str = ""
    made: int = 0
    released: int = 0
    relu: bool = False


class StorageLedger:
    """The records of one capture. A record goes with its storage object."""

    def __init__(self) -> None:
        self._records = WeakStorages[StorageRecord]()

    def of(self, tensor: torch.Tensor, where: str) -> StorageRecord | None:
        """The record of the storage of a tensor; None if it has not been recorded.

        `CaptureError` if the tensor has no plain storage; `where` is for the message.
        """
        return self._records.get(plain_storage(tensor, where))

    def add(self, tensor: torch.Tensor, where: str, origin: Origin, owner: str | int = "") -> StorageRecord:
        """A record for a storage that has none."""
        storage = plain_storage(tensor, where)
        record = StorageRecord(storage.nbytes(), origin, owner)
        self._records.put(storage, record)
        return record


def plain_storage(tensor: torch.Tensor, where: str) -> torch.UntypedStorage:
    """The storage of a tensor, which holds its values; `CaptureError` for any other kind of tensor.

    A fake tensor of the meta device has the storage of the tensor that it stands for.
    """
    is_fake = isinstance(tensor, FakeTensor)
    if is_fake and tensor.is_meta:
        return tensor.untyped_storage()
    if reason := obstacle(tensor):
        expected = "a tensor of the meta device" if is_fake else "a plain, strided tensor"
        raise CaptureError(f"{where}: {described(tensor)} {reason}; expected {expected}")
    return tensor.untyped_storage()
