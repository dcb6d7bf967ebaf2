"""The transformer of gpt.py on several ranks, each with a device: FSDP2, and AdamW on the dies.

    torchrun --nproc-per-node 2 examples/pytorch/ranks.py [steps] [--images FOLDER]

It trains twice: in memory, and then with shards of weights and optimizer state on the dies of each rank. Its
activations and its part of the samples are on the flash, too. With a folder, the flash is kept there, and a
run that was cut goes on. At the end the ranks save a checkpoint, and make one file of it. ranks.txt has the
output of two ranks.
"""

import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from gpt import Transformer, loss_of, samples
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader

from flashtrain.checkpoint import AppendedCheckpoints
from flashtrain.cli.command import at_least_one
from flashtrain.host import Device, StateMissing
from flashtrain.torch import AdamW, FlashDataset, OffloadActivations, ResumableSampler, open_rank_device
from flashtrain.torch.checkpoint import FlashReader, FlashWriter, HostState, RankCheckpoints, consolidate

BATCH = 4


def sharded(model: nn.Module) -> nn.Module:
    for block in (*model.blocks, model):
        fully_shard(block)
    return model


def place() -> dict[str, int]:
    return {"rank": dist.get_rank(), "ranks": dist.get_world_size()}


def mean(loss: torch.Tensor) -> float:
    """The mean of the losses of all ranks."""
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def train_in_memory(model: nn.Module, data: torch.Tensor) -> Iterator[float]:
    """The losses from the first step on."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sampler = ResumableSampler(data, seed=1, **place(), shards=dist.get_world_size())
    for batch in sampler.batches(DataLoader(data, BATCH, sampler=sampler)):
        loss = loss_of(model, batch.long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield mean(loss)


def train_on_flash(
    model: nn.Module, data: torch.Tensor, steps: int, device: Device, activations: OffloadActivations
) -> Iterator[tuple[int, float]]:
    """The losses by the number of the step, from the one on that was not committed."""
    try:
        optimizer = AdamW(model.parameters(), lr=1e-3, device=device, recovered=True)
    except StateMissing:  # on all ranks
        optimizer = AdamW(model.parameters(), lr=1e-3, device=device)
    stored = FlashDataset(data, device, **place(), name="topics")
    sampler = ResumableSampler(stored, seed=1)  # the same order
    loader = DataLoader(stored, BATCH, sampler=sampler)
    host = HostState(sampler=sampler)
    optimizer.host_state = host.pack
    optimizer.resume(host.restore)
    taken = sampler.position // (BATCH * dist.get_world_size())
    for step, batch in zip(range(taken + 1, steps + 1), sampler.batches(loader), strict=False):
        with activations:
            loss = loss_of(model, batch.long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield step, mean(loss)


def save(model: nn.Module, device: Device, name: str, path: str) -> None:
    """Save a checkpoint to the devices of all ranks, and make a file of it."""
    store = AppendedCheckpoints(device)
    if name not in [one.name for one in RankCheckpoints(store).checkpoints]:
        dcp.save(model.state_dict(), checkpoint_id=name, storage_writer=FlashWriter(store))
    consolidate(FlashReader(store), path, name)


def train(steps: int, folder: str) -> None:
    say = print if dist.get_rank() == 0 else lambda *_, **__: None
    torch.manual_seed(1)
    data = samples()
    model = Transformer(int(data.max()) + 1)
    say(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters\n")
    say("step  in memory  on flash")
    models = [sharded(deepcopy(model)) for _ in range(2)]
    with open_rank_device("small", node="update", image=f"{folder}/{{rank}}.img") as device:
        activations = OffloadActivations(device, memory_bytes=4 << 20)
        in_memory = list(islice(train_in_memory(models[0], data), steps))
        for step, on_flash in train_on_flash(models[1], data, steps, device, activations):
            say(f"{step:4}  {in_memory[step - 1]:9.5f}  {on_flash:8.5f}", flush=True)
        traffic = activations.report().total
        say(f"\nactivations of rank 0: {traffic.written_bytes:,} bytes written, {traffic.read_bytes:,} read")
        path, loaded = Path(folder, "model.pt"), Transformer(int(data.max()) + 1)
        save(models[1], device, f"step {steps}", str(path))
        loaded.load_state_dict(torch.load(path))
        pairs = zip(loaded.parameters(), models[1].parameters(), strict=True)
        same = all(torch.equal(one, other.full_tensor()) for one, other in pairs)
        say(f"{path.name} has the weights of all ranks: {same}")


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("steps", nargs="?", type=at_least_one, default=10)
    parser.add_argument("--images", metavar="FOLDER")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="FSDP2-wrapped module")  # of the logits, which nothing changes
    dist.init_process_group("gloo", timeout=timedelta(minutes=2))
    try:
        with TemporaryDirectory() as temporary:
            shared = [options.images or temporary]
            dist.broadcast_object_list(shared)
            train(options.steps, shared[0])
            dist.barrier()
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
