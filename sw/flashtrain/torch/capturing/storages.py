"""Identities of storages: views share one, and an address that is used again does not."""

from dataclasses import dataclass
from enum import Enum, auto

import torch

from flashtrain.torch.errors import CaptureError

_STAMP = "_flashtrain_capture"


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

    ledger: "StorageLedger"
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
    """The records of one capture. A record is an attribute of the storage object and goes with it."""

    def of(self, tensor: torch.Tensor, where: str) -> StorageRecord | None:
        """The record of the storage of a tensor; None if it has not been recorded.

        `CaptureError` if the tensor has no plain storage; `where` is for the message.
        """
        record = getattr(plain_storage(tensor, where), _STAMP, None)
        return record if record is not None and record.ledger is self else None

    def add(self, tensor: torch.Tensor, where: str, origin: Origin, owner: str | int = "") -> StorageRecord:
        """A record for a storage that has none."""
        storage = plain_storage(tensor, where)
        record = StorageRecord(self, storage.nbytes(), origin, owner)
        setattr(storage, _STAMP, record)
        return record


def plain_storage(tensor: torch.Tensor, where: str) -> torch.UntypedStorage:
    """The storage of a strided tensor; `CaptureError` for any other layout or class."""
    if tensor.layout is not torch.strided or tensor.is_quantized:
        kind = "quantized" if tensor.is_quantized else str(tensor.layout).removeprefix("torch.")
        raise CaptureError(f"{where}: {described(tensor)} is {kind}; expected a strided tensor")
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError) as error:
        kind = type(tensor).__name__
        raise CaptureError(
            f"{where}: {described(tensor)} is a {kind} without a storage; expected a plain tensor"
        ) from error


def described(tensor: torch.Tensor) -> str:
    """Dtype and shape, for messages."""
    return f"{dtype_name(tensor)}{list(tensor.shape)}"


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
