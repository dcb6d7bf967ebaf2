"""`FlashWriter`: `torch.distributed.checkpoint` saves to a device, or to that of each rank."""

import io
import os
from dataclasses import replace
from threading import local
from typing import Any

import numpy as np
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from torch.distributed.checkpoint.planner import SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import StorageWriter, WriteResult
from torch.futures import Future

from flashtrain.checkpoint import AppendedCheckpoints, AppendWriter

from .checkpoint_id import WithCheckpointId
from .metadata_bytes import packed
from .parts import Part
from .tensor_arrays import array_of

METADATA = ".metadata"
"""The name of the array with DCP's metadata."""


class FlashWriter(WithCheckpointId, StorageWriter):
    """A storage writer of `dcp.save` and `dcp.async_save` on a store of checkpoints.

    The `checkpoint_id` is the name of the checkpoint, and the number that ends it its step. An id that is
    there already is refused with :class:`CheckpointExists`. The checkpoint is in the store when the save has
    ended, and not at all after an error or a loss of power.

    A tensor is an array of the store, by its name in the state dictionary. Of several ranks each has a store
    on its device, and saves a part to it; the checkpoint is there when all parts are.

    checkpoint_id: for saves without one.
    """

    def __init__(self, store: AppendedCheckpoints, checkpoint_id: str | os.PathLike | None = None) -> None:
        super().__init__(checkpoint_id)
        self._store = store
        self._own = local()  # of the save of a thread: `coordinates`, `part`, `writer`

    def storage_meta(self) -> StorageMeta:
        return StorageMeta(checkpoint_id=self._id.name)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self._own.coordinates = is_coordinator

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        if self._own.coordinates:
            self._store.require_new(self._id.name)
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        parts = Part.all(len(plans))
        return [replace(plan, storage_data=part) for plan, part in zip(plans, parts, strict=True)]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        part: Part = plan.storage_data
        name = part.name(self._id.name)
        writer = self._store.writer(name, self._id.step)
        try:
            results = [
                self._write(writer, name, planner.resolve_data(item), item.index) for item in plan.items
            ]
            if part.ranks > 1:
                writer.finish()
        except BaseException:
            writer.abandon()
            raise
        self._own.part, self._own.writer = part, writer
        done: Future[list[WriteResult]] = Future()
        done.set_result(results)
        return done

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        part: Part = self._own.part
        writer: AppendWriter = self._own.writer
        del self._own.writer
        if part.ranks > 1:
            writer = self._store.writer(self._id.name, self._id.step)
        try:
            metadata.storage_data = {one.index: one.storage_data for own in results for one in own}
            metadata.storage_meta = self.storage_meta()
            writer.add(METADATA, np.frombuffer(packed(metadata), np.uint8))
            writer.finish(part.mark if part.ranks > 1 else b"")
        finally:
            writer.abandon()

    def _write(self, writer: AppendWriter, part: str, data: Any, index: MetadataIndex) -> WriteResult:
        array = np.frombuffer(data.getvalue(), np.uint8) if isinstance(data, io.BytesIO) else array_of(data)
        # A tensor in parts has an array of each.
        offset = f"{list(index.offset)}" if index.offset is not None and any(index.offset) else ""
        name = index.fqn + offset
        writer.add(name, array)
        shape = array.shape if isinstance(data, io.BytesIO) else tuple(data.shape)
        return WriteResult(index, array.nbytes, (part, name, shape))
