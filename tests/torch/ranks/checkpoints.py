"""What ranks do with distributed checkpoints in the tests."""

from contextlib import ExitStack
from datetime import timedelta
from unittest.mock import patch

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from flashtrain.checkpoint import AppendedCheckpoints, CheckpointDamaged, Retention, StoredCheckpoint
from flashtrain.host import DeviceStream, open_device
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import Adam
from flashtrain.torch.checkpoint import (
    FlashReader,
    FlashWriter,
    RankCheckpoints,
    ServedCheckpoints,
    consolidate,
)
from flashtrain.torch.checkpoint.flash_writer import METADATA
from flashtrain.torch.ranks.rank_group import RankGroup
from tests.torch.compare import bits
from tests.torch.ranks.scenarios import backward, sharded

SAVED = 4


def full_state(seed):
    random = torch.Generator().manual_seed(seed)
    return {
        "rows": torch.randn(13, 5, generator=random), "columns": torch.randn(3, 10, generator=random),
        "half": torch.randn(9, 2, generator=random).bfloat16(), "few": torch.randn(2, generator=random),
        "replica": torch.arange(7), "flags": torch.randn(6, generator=random) > 0, "empty": torch.empty(0, 4),
    }  # fmt: skip


PLACEMENTS = {"rows": Shard(0), "columns": Shard(1), "half": Shard(0), "few": Shard(0), "flags": Shard(0)}


def distributed(state, count, other=False):
    """The tensors on all ranks; `other`: with other placements, and of zeros."""
    mesh = init_device_mesh("cpu", (count,))
    given = {}
    for name, tensor in state.items():
        placement = PLACEMENTS.get(name)
        if placement is None:
            given[name] = torch.zeros_like(tensor) if other else tensor
            continue
        if other:
            placement = Replicate() if name == "half" else Shard(tensor.ndim - 1 - placement.dim)
        given[name] = distribute_tensor(torch.zeros_like(tensor) if other else tensor, mesh, [placement])
    return given


def devices(stack, folder, numbers, preset="tiny"):
    """The stores on the devices of these ranks."""
    options = {"node": UPDATE_NODE, "memory_bytes": 1 << 19}
    opened = (open_device(preset, image=f"{folder}/{n}.img", **options) for n in numbers)
    return [AppendedCheckpoints(stack.enter_context(one)) for one in opened]


def saved(rank, count, folder):
    """Two checkpoints, the second one in the background, and a third that fails on a rank."""
    group = dist.new_group(timeout=timedelta(seconds=20))
    with ExitStack() as stack:
        (store,) = devices(stack, folder, [rank])
        writer, mine = FlashWriter(store), RankCheckpoints(store)
        for step in (1, 2, 3):
            state = {
                "tensors": distributed(full_state(step), count),
                "step": step,
                "by rank": {f"r{rank}": rank},
            }
            if step == 2:
                dcp.async_save(
                    state, checkpoint_id="run/2", storage_writer=writer, process_group=group
                ).result()
            else:
                dcp.save(state, checkpoint_id=f"run/{step}", storage_writer=writer)
        failing = patch.object(DeviceStream, "append_async", side_effect=OSError("no page"))
        said = []
        with failing if rank == 1 else ExitStack():
            try:
                dcp.save(state, checkpoint_id="run/4", storage_writer=writer)
            except CheckpointException as error:
                said.append(str(error.failures[1][0]))
        whole = [one.name for one in mine.checkpoints]
        parts = len(store.checkpoints)
        mine.reclaim()
        pruned = [one.name for one in mine.prune(Retention(last=2))]
        try:
            dcp.save(state, checkpoint_id="run/3", storage_writer=writer)
        except CheckpointException as error:
            said.append(str(error.failures[0][0]))
        return said, whole, pruned, parts - len(store.checkpoints), [one.name for one in mine.checkpoints]


def loaded(rank, count, folder):
    """Both checkpoints on as many ranks as there are, with other placements; the first one as a file."""
    with ExitStack() as stack:
        stores = devices(stack, folder, range(rank, SAVED, count))
        reader = FlashReader(stores)
        load_both(reader, count)
        consolidate(reader, f"{folder}/{count}.pt", "run/2")
        numbers = range(rank, SAVED, count)
        some = [store for number, store in zip(numbers, stores, strict=True) if number != SAVED - 1]
        read = StoredCheckpoint.read

        def damaged(self, entry):
            if rank == 0 and entry.name != METADATA:
                raise CheckpointDamaged(f"array {entry.name!r}: its checksum is wrong")
            return read(self, entry)

        with patch.object(StoredCheckpoint, "read", damaged):
            state = {"tensors": distributed(full_state(3), count, other=True)}
            wrong = message(reader, "run/3", state)
        return message(FlashReader(some), "run/3"), message(reader, "run/9"), wrong


def load_both(reader, count):
    """Load two checkpoints with other placements, and compare them."""
    for step in (2, 3):
        expected = full_state(step)
        state = {"tensors": distributed(expected, count, other=True), "step": 0}
        dcp.load(state, checkpoint_id=f"run/{step}", storage_reader=reader)
        assert state["step"] == step
        for name, tensor in state["tensors"].items():
            full = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
            assert full.dtype == expected[name].dtype and bits(full) == bits(expected[name]), name


def loaded_from_served(rank, count, folder, ports, silent):
    """Both checkpoints; devices of ranks that are no more are served. The messages of wrong targets follow.

    ports: of the targets, by rank; silent: one of somebody who does not answer.
    """
    with ExitStack() as stack:
        (store,) = devices(stack, folder, [rank])
        own, other = (f"flash://127.0.0.1:{ports[number]}" for number in (rank, 1 - rank))
        served = ServedCheckpoints(own)
        load_both(FlashReader([store, served]), count)
        wrong = {
            "absent": ServedCheckpoints("flash://127.0.0.1:9"),
            "silent": ServedCheckpoints(f"flash://127.0.0.1:{silent}", timeout=0.5),
            "stream": ServedCheckpoints(f"{own}/taught"),
            "rights": ServedCheckpoints(f"{own}/inputs"),
            "target": ServedCheckpoints(own, nqn="nqn.2014-08.org.example:none"),
            "device": ServedCheckpoints(other),
        }
        stores = {name: one if rank else served for name, one in wrong.items()}
        found = {name: message(FlashReader([store, one]), "run/3") for name, one in stores.items()}
        for one in (served, *wrong.values()):
            one.close()
        return found


def message(reader, name, state=None):
    """The message of a load that is refused."""
    try:
        dcp.load(state or {"step": 0}, checkpoint_id=name, storage_reader=reader)
    except (CheckpointException, AssertionError) as error:
        return str(error).strip().rpartition("\n")[2]
    return "nothing"


def optimizer_saved(rank, count, folder):
    """A training whose optimizer is saved by DCP, and another one that goes on from there."""
    results = []
    with ExitStack() as stack:
        (store,) = devices(stack, folder, [rank], "small")
        trained = [sharded(count) for _ in range(2)]
        for number, model in enumerate(trained):
            device = stack.enter_context(open_device("tiny", node=UPDATE_NODE))
            optimizer = Adam(model.parameters(), 0.01, device=device)
            state = {"model": model, "optimizer": optimizer}
            backward(model, number, rank)
            optimizer.step()
            if number == 0:
                dcp.save(state, checkpoint_id="a", storage_writer=FlashWriter(store))
            else:
                dcp.load(state, checkpoint_id="a", storage_reader=FlashReader(store))
            optimizer.zero_grad()
            backward(model, 7, rank)
            optimizer.step()
            results.append([bits(parameter.to_local()) for parameter in model.parameters()])
    assert results[0] == results[1]
    return RankGroup().count
