"""The metadata of `torch.distributed.checkpoint` in bytes, and back without running what the bytes name.

They are pickled, as by PyTorch's own writers, because they change with versions of PyTorch. A pickle may name
any function to be called, and few bytes may ask for much memory. So only the classes of the metadata are
loaded, and nothing takes more memory than its bytes in the pickle account for:

- an entry of the memo has a number below that of its operation; the unpickler has a table up to the highest
- bytes that have a size before them are there (`pickletools` compares the size)
- copies of what the memo has are short: of sizes, and of the members of an object.
"""

import io
import pickle
import pickletools
from collections.abc import Sequence, Sized
from enum import Enum
from typing import Any, TypeVar

import torch
from torch.distributed.checkpoint import metadata as dcp
from torch.distributed.checkpoint.metadata import Metadata

from flashtrain.checkpoint import CheckpointDamaged, CheckpointError

SizedT = TypeVar("SizedT", bound=Sized)

_MOST_COPIED = 64
"""Dimensions of a size, and members of an object."""


def _size(dimensions: Sequence[int] = ()) -> torch.Size:
    return torch.Size(_short(dimensions))


def _short(items: SizedT) -> SizedT:
    if len(items) > _MOST_COPIED:
        raise pickle.UnpicklingError(f"it copies {len(items)} items; expected {_MOST_COPIED} at most")
    return items


def _loader(kind: type) -> type:
    """A class whose new objects become those of `kind` when they get their members."""

    def set_state(self: Any, state: Any) -> None:
        _short(state)
        object.__setattr__(self, "__class__", kind)
        if hasattr(kind, "__setstate__"):
            self.__setstate__(state)
        else:
            self.__dict__.update(state)

    return type(kind.__name__, (kind,), {"__setstate__": set_state})


_CLASSES = {
    ("torch", "Size"): _size,
    ("torch.serialization", "_get_layout"): torch.serialization._get_layout,
} | {
    (kind.__module__, kind.__qualname__): kind if issubclass(kind, Enum) else _loader(kind)
    for kind in (
        dcp.BytesStorageMetadata,
        dcp.ChunkStorageMetadata,
        dcp.Metadata,
        dcp.MetadataIndex,
        dcp.StorageMeta,
        dcp.TensorProperties,
        dcp.TensorStorageMetadata,
        dcp._MEM_FORMAT_ENCODING,
    )
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        known = _CLASSES.get((module_name, global_name))
        if known is None and module_name == "torch":
            known = getattr(torch, global_name, None)
            known = known if isinstance(known, torch.dtype) else None
        if known is None:
            raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")
        return known


def packed(metadata: Metadata) -> bytes:
    """The bytes of the metadata; :class:`CheckpointError` if they could not be loaded again."""
    raw = pickle.dumps(metadata)
    try:
        unpacked(raw)
    except CheckpointDamaged as error:
        raise CheckpointError(f"metadata of a planner that cannot be loaded again: {error}") from error
    return raw


def unpacked(raw: bytes) -> Metadata:
    """The metadata of these bytes; :class:`CheckpointDamaged` if they hold, or name, anything else."""
    try:
        _check(raw)
        metadata = _Unpickler(io.BytesIO(raw)).load()
    except Exception as error:  # the exceptions of damaged pickles are of any kind
        raise CheckpointDamaged(f"the metadata of the checkpoint are malformed: {error}") from error
    if not isinstance(metadata, Metadata):
        raise CheckpointDamaged(f"the metadata of the checkpoint are a {type(metadata).__name__}")
    return metadata


def _check(raw: bytes) -> None:
    """Raise UnpicklingError for operations whose memory their bytes do not account for."""
    for number, (operation, argument, _) in enumerate(pickletools.genops(raw)):
        if operation.name.endswith("PUT") and int(argument or 0) > number:
            raise pickle.UnpicklingError(f"entry {argument} of the memo after {number} operations")
