"""`FlashReader`: `torch.distributed.checkpoint` loads from a device."""

import io
import os
from typing import Any

from torch.distributed.checkpoint.metadata import Metadata, TensorStorageMetadata
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, LoadPlanner, ReadItem
from torch.distributed.checkpoint.storage import StorageReader
from torch.futures import Future

from flashtrain.checkpoint import AppendedCheckpoints, StoredCheckpoint

from .checkpoint_id import WithCheckpointId
from .flash_writer import METADATA
from .metadata_bytes import unpacked
from .tensor_arrays import tensor_of


class FlashReader(WithCheckpointId, StorageReader):
    """A storage reader of `dcp.load` for checkpoints of :class:`FlashWriter`.

    Of tensors only those that are asked for are read from the flash, each once.

    checkpoint_id: for loads without one.
    """

    def __init__(self, store: AppendedCheckpoints, checkpoint_id: str | os.PathLike | None = None) -> None:
        super().__init__(checkpoint_id)
        self._store = store
        self._metadata: Metadata | None = None
        self._opened: StoredCheckpoint | None = None

    # Without arguments, DCP does not ask for metadata of a single rank after an error.
    def read_metadata(self) -> Metadata:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._opened = opened = self._store.open(self._id.name)
        return unpacked(opened.read(opened.manifest.entry(METADATA)).tobytes())

    def set_up_storage_reader(
        self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any
    ) -> None:
        self._metadata = metadata

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        assert self._metadata is not None and self._opened is not None, "DCP has read the metadata before"
        storage = self._metadata.storage_data
        wanted: dict[str, list[ReadItem]] = {}
        for item in plan.items:
            wanted.setdefault(storage[item.storage_index][0], []).append(item)
        for entry in self._opened.manifest.arrays:
            if entry.name in wanted:
                array = self._opened.read(entry)
                for item in wanted[entry.name]:
                    self._give(item, array, storage[item.storage_index][1], planner)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _give(self, item: ReadItem, array: Any, shape: tuple[int, ...], planner: LoadPlanner) -> None:
        if item.type is LoadItemType.BYTE_IO:
            planner.load_bytes(item, io.BytesIO(array.tobytes()))
            return
        assert self._metadata is not None
        about = self._metadata.state_dict_metadata[item.storage_index.fqn]
        assert isinstance(about, TensorStorageMetadata), "an item of a tensor is one"
        part = tuple(
            slice(first, first + length)
            for first, length in zip(item.storage_offsets, item.lengths, strict=True)
        )
        target = planner.resolve_tensor(item).detach()
        target.copy_(tensor_of(array, about.properties.dtype, shape)[part])
        planner.commit_tensor(item, target)
