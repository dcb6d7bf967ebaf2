"""`FlashWriter`: `torch.distributed.checkpoint` saves to a device."""

import io
import os
from threading import local
from typing import Any

import numpy as np
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from torch.distributed.checkpoint.planner import SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import StorageWriter, WriteResult
from torch.futures import Future

from flashtrain.checkpoint import AppendedCheckpoints, AppendWriter, CheckpointError

from .checkpoint_id import WithCheckpointId
from .metadata_bytes import packed
from .tensor_arrays import array_of

METADATA = ".metadata"
"""The name of the array with DCP's metadata."""


class FlashWriter(WithCheckpointId, StorageWriter):
    """A storage writer of `dcp.save` and `dcp.async_save` on a store of checkpoints.

    The `checkpoint_id` is the name of the checkpoint, and the number that ends it its step. An id that is
    there already is refused with :class:`CheckpointExists`. The checkpoint is in the store when the save has
    ended, and not at all after an error or a loss of power.

    A tensor is an array of the store, by its name in the state dictionary. A device belongs to one process,
    so a process group has one, too.

    checkpoint_id: for saves without one.
    """

    def __init__(self, store: AppendedCheckpoints, checkpoint_id: str | os.PathLike | None = None) -> None:
        super().__init__(checkpoint_id)
        self._store = store
        self._own = local()  # `writer`: of the save of a thread

    def storage_meta(self) -> StorageMeta:
        return StorageMeta(checkpoint_id=self._id.name)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        if not is_coordinator:
            raise CheckpointError("a save by several processes; expected one, that of the device")

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        self._store.require_new(self._id.name)
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        writer = self._store.writer(self._id.name, self._id.step)
        try:
            results = [self._write(writer, planner.resolve_data(item), item.index) for item in plan.items]
        except BaseException:
            writer.abandon()
            raise
        self._own.writer = writer
        done: Future[list[WriteResult]] = Future()
        done.set_result(results)
        return done

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        writer: AppendWriter = self._own.writer
        del self._own.writer
        try:
            metadata.storage_data = {one.index: one.storage_data for own in results for one in own}
            metadata.storage_meta = self.storage_meta()
            writer.add(METADATA, np.frombuffer(packed(metadata), np.uint8))
            writer.finish()
        finally:
            writer.abandon()

    def _write(self, writer: AppendWriter, data: Any, index: MetadataIndex) -> WriteResult:
        array = np.frombuffer(data.getvalue(), np.uint8) if isinstance(data, io.BytesIO) else array_of(data)
        # A tensor in parts has an array of each.
        part = f"{list(index.offset)}" if index.offset is not None and any(index.offset) else ""
        name = index.fqn + part
        writer.add(name, array)
        shape = array.shape if isinstance(data, io.BytesIO) else tuple(data.shape)
        return WriteResult(index, array.nbytes, (name, shape))
