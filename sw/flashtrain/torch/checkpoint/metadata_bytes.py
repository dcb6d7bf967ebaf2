"""The metadata of `torch.distributed.checkpoint` in bytes, and back without running what the bytes name.

They are pickled, as by PyTorch's own writers, because they change with versions of PyTorch. A pickle may name
any function to be called. So only the classes of the metadata are loaded.
"""

import io
import pickle
from typing import Any

import torch
from torch.distributed.checkpoint import metadata as dcp
from torch.distributed.checkpoint.metadata import Metadata

from flashtrain.checkpoint import CheckpointDamaged, CheckpointError

_CLASSES = {
    ("torch", "Size"): torch.Size,
    ("torch.serialization", "_get_layout"): torch.serialization._get_layout,
} | {
    (kind.__module__, kind.__qualname__): kind
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
        metadata = _Unpickler(io.BytesIO(raw)).load()
    except Exception as error:  # the exceptions of damaged pickles are of any kind
        raise CheckpointDamaged(f"the metadata of the checkpoint are malformed: {error}") from error
    if not isinstance(metadata, Metadata):
        raise CheckpointDamaged(f"the metadata of the checkpoint are a {type(metadata).__name__}")
    return metadata
