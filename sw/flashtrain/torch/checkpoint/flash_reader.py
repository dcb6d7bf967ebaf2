"""`FlashReader`: `torch.distributed.checkpoint` loads from a device, or from those of all ranks."""

import io
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint.metadata import Metadata, TensorStorageMetadata
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, LoadPlanner, ReadItem
from torch.distributed.checkpoint.storage import StorageReader
from torch.futures import Future

from flashtrain.checkpoint import CheckpointDamaged, CheckpointSource, NoCheckpoint, OpenedCheckpoint
from flashtrain.torch.accelerators import bytes_of
from flashtrain.torch.ranks.rank_group import RankGroup

from .checkpoint_id import WithCheckpointId
from .flash_writer import METADATA
from .metadata_bytes import unpacked
from .parts import holders
from .tensor_arrays import tensor_of


class _Wanted(NamedTuple):
    """An array of a part of a checkpoint, of which a rank needs a box for its item; in sorted order
    equal arrays follow each other."""

    part: str
    array: str
    rank: int
    item: int
    offsets: tuple[int, ...]
    lengths: tuple[int, ...]


class FlashReader(WithCheckpointId, StorageReader):
    """A storage reader of `dcp.load` for checkpoints of :class:`FlashWriter`.

    Of tensors only those that are asked for are read from the flash. Ranks send each other what the others
    need. So any number of ranks loads a checkpoint, if they have opened all devices that it is on.

    store: of this rank, or several, :class:`ServedCheckpoints` among them, or none (an empty sequence);
    checkpoint_id: for loads without one; group: the ranks that load, by default all of `torch.distributed`,
    or this process alone.

    Members
    -------
    ranks: that load.
    """

    def __init__(
        self,
        store: CheckpointSource | Sequence[CheckpointSource],
        checkpoint_id: str | os.PathLike | None = None,
        group: "dist.ProcessGroup | None" = None,
    ) -> None:
        super().__init__(checkpoint_id)
        self._stores = list(store) if isinstance(store, Sequence) else [store]
        self.ranks = RankGroup(group)
        self._metadata: Metadata | None = None
        self._holders: Mapping[str, CheckpointSource] = {}
        self._owners: dict[str, int] = {}

    # Without arguments, DCP does not ask for metadata of a single rank after an error.
    def read_metadata(self) -> Metadata:  # pyright: ignore[reportIncompatibleMethodOverride]
        found = self.ranks.agreed(self._found)
        self._owners = {name: rank for rank, (_, names) in enumerate(found) for name in names}
        raws = [raw for raw, _ in found if raw is not None]
        if not raws:
            known = ", ".join(self._owners) or "none"
            raise NoCheckpoint(
                f"no checkpoint {self._id.name!r} on the devices of the ranks; they have {known}"
            )
        metadata = unpacked(raws[0])
        parts = {part for part, *_ in (metadata.storage_data or {}).values()}
        if missing := sorted(parts - self._owners.keys()):
            raise CheckpointDamaged(
                f"checkpoint {self._id.name!r} has no part {missing[0]!r}; expected all devices that it was"
                " saved to, each open on a rank"
            )
        return metadata

    def set_up_storage_reader(
        self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any
    ) -> None:
        self._metadata = metadata

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        wanted = self.ranks.agreed(lambda: [self._wanted(*item) for item in enumerate(plan.items)])
        source = _Source(self._metadata_read, self._holders)
        failure: Exception | None = None
        for one in sorted(one for own in wanted for one in own):
            owner, rank, data = self._owners[one.part], self.ranks.rank, None
            if rank == owner:
                try:
                    data = source.read(one)
                except Exception as error:
                    failure = failure or error
            if owner != one.rank and rank in (owner, one.rank):
                data = self._moved(data, owner, one.rank)
            if rank == one.rank and data is not None:
                self._give(plan.items[one.item], data, planner)
        if failure is not None:
            raise failure
        done: Future[None] = Future()
        done.set_result(None)
        return done

    @property
    def _metadata_read(self) -> Metadata:
        assert self._metadata is not None, "DCP has read the metadata before"
        return self._metadata

    def _found(self) -> tuple[bytes | None, list[str]]:
        """The metadata, if this rank has them, and the names of all that is in its stores."""
        name, self._holders = self._id.name, holders(self._stores)
        if name not in self._holders and (self.ranks.count > 1 or len(self._stores) != 1):
            return None, list(self._holders)
        opened = self._holders.get(name, self._stores[0]).open(name)
        return opened.read(opened.manifest.entry(METADATA)).tobytes(), list(self._holders)

    def _wanted(self, index: int, item: ReadItem) -> _Wanted:
        part, array, shape = self._metadata_read.storage_data[item.storage_index]
        offsets, lengths = tuple(item.storage_offsets), tuple(item.lengths)
        if item.type is LoadItemType.BYTE_IO:
            offsets, lengths = (0,), shape
        return _Wanted(part, array, self.ranks.rank, index, offsets, lengths)

    def _moved(self, data: Tensor | None, owner: int, to: int) -> Tensor | None:
        """Bytes that the owner sends and another rank receives; None if the owner cannot read them."""
        size = torch.tensor([-1 if data is None else data.numel()])
        if self.ranks.rank == owner:
            self.ranks.send(size, to)
            if data is not None and data.numel():
                self.ranks.send(data, to)
            return data
        self.ranks.receive(size, owner)
        if size.item() < 0:
            return None
        received = torch.empty(int(size), dtype=torch.uint8)
        if received.numel():
            self.ranks.receive(received, owner)
        return received

    def _give(self, item: ReadItem, data: Tensor, planner: LoadPlanner) -> None:
        if item.type is LoadItemType.BYTE_IO:
            planner.load_bytes(item, io.BytesIO(data.numpy().tobytes()))
            return
        target = planner.resolve_tensor(item).detach()
        about = self._metadata_read.state_dict_metadata[item.storage_index.fqn]
        assert isinstance(about, TensorStorageMetadata), "an item of a tensor is one"
        target.copy_(data.view(about.properties.dtype).reshape(tuple(item.lengths)))
        planner.commit_tensor(item, target)


class _Source:
    """Arrays of the parts in the stores of this rank; the last one is kept."""

    def __init__(self, metadata: Metadata, held: Mapping[str, CheckpointSource]) -> None:
        self._held = held
        self._opened: dict[str, OpenedCheckpoint] = {}
        self._last: tuple[str, str] | None = None
        self._array: Tensor = torch.empty(0)
        self._kinds: dict[tuple[str, str], tuple[torch.dtype, tuple[int, ...]]] = {}
        for index, (part, array, shape) in (metadata.storage_data or {}).items():
            about = metadata.state_dict_metadata[index.fqn]
            dtype = about.properties.dtype if isinstance(about, TensorStorageMetadata) else torch.uint8
            self._kinds[part, array] = dtype, shape

    def read(self, one: _Wanted) -> Tensor:
        """The bytes of a box."""
        key = one.part, one.array
        if key != self._last:
            opened = self._opened.get(one.part) or self._held[one.part].open(one.part)
            self._opened[one.part] = opened
            raw = opened.read(opened.manifest.entry(one.array))
            self._array, self._last = tensor_of(raw, *self._kinds[key]), key
        box = tuple(
            slice(first, first + length) for first, length in zip(one.offsets, one.lengths, strict=True)
        )
        return bytes_of(self._array[box].contiguous())
