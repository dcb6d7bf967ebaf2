"""A small training under FSDP2 on each rank's device, with its commands, collectives and simulated time.

The activations of each operation go to the flash at once and come back for it, as with `save_on_flash`.
AdamW's steps happen on the dies. `flashtrain.platform.ranks` has a model of the same job.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from flashtrain.host import LinkFactory
from flashtrain.host.queues.command_log import CommandLog
from flashtrain.spec import FmsConfig
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch.activations.offload_activations import OffloadActivations
from flashtrain.torch.optimizers import AdamW

from .opening import open_rank_device
from .rank_group import RankGroup

Key = tuple[str, str]
"""The name of an opcode, and that of the stream."""

_TIMEOUT = timedelta(seconds=600)
"""A rank that waits for another one this long fails."""
_COMMANDS = 8
"""The largest commands that the tensor buffer has room for; with four the driver makes none smaller."""


@dataclass(frozen=True)
class MeasuredSteps:
    """The work of a rank and its device in some steps.

    - commands: commands and blocks, by opcode and stream; those without data are left out.
    - collectives: calls, and bytes of all ranks together, by the name of PyTorch's operator.
    - pass_seconds, step_seconds: simulated time of the device in forward and backward passes, and in steps of
      the optimizer; 0 on a Link without time.
    """

    commands: Mapping[Key, tuple[int, int]]
    collectives: Mapping[str, tuple[int, int]]
    pass_seconds: float
    step_seconds: float


def measured_steps(
    config: FmsConfig, link: str | LinkFactory, width: int, layers: int, batch: int, steps: int
) -> MeasuredSteps:
    """Train on all ranks of `torch.distributed`, with a step before the measured ones; collective.

    width, layers: of the network, whose layers are linear, GELU and linear; batch: rows of each rank.
    """
    ranks, memory_bytes = RankGroup(), _COMMANDS * config.max_blocks * config.geometry.page_bytes
    torch.manual_seed(1)
    model = nn.Sequential(
        *(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(layers)
        )
    )
    mesh = init_device_mesh("cpu", (ranks.count,))
    for layer in (*model, model):
        fully_shard(layer, mesh=mesh)
    random = torch.Generator().manual_seed(ranks.rank)
    commands, blocks, collectives = Counter[Key](), Counter[Key](), _Collectives()
    pass_cycles = step_cycles = 0
    with open_rank_device(config, link=link, node=UPDATE_NODE, memory_bytes=memory_bytes) as device:
        optimizer = AdamW(model.parameters(), lr=1e-3, device=device)
        activations = OffloadActivations(device, memory_bytes=0, min_bytes=1)
        names = {stream.nsid: stream.name for stream in UPDATE_NODE.streams}
        for step in range(steps + 1):
            log = CommandLog()
            log.open(0)
            device.log_commands(log)
            begin = device.cycles
            with collectives if step else _Collectives():
                with activations:
                    loss = model(torch.randn(batch, width, generator=random)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                middle = device.cycles
                optimizer.step()
            end = device.cycles
            device.log_commands(None)
            if step:
                pass_cycles, step_cycles = pass_cycles + middle - begin, step_cycles + end - middle
                for one in log.finish():
                    if one.command.blocks:
                        key = one.command.opcode.name, names[one.command.nsid]
                        commands[key] += 1
                        blocks[key] += one.command.blocks
    seconds = 1 / config.timing.clock_hz
    return MeasuredSteps(
        {key: (count, blocks[key]) for key, count in commands.items()},
        {name: (len(sizes), sum(sizes)) for name, sizes in collectives.sizes.items()},
        pass_cycles * seconds,
        step_cycles * seconds,
    )


def measured_rank(store: Path, rank: int, ranks: int, *job: Any) -> MeasuredSteps:
    """:func:`measured_steps` of this job as a rank of gloo, whose ranks meet by the file `store`."""
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks, timeout=_TIMEOUT
    )
    try:
        return measured_steps(*job)
    finally:
        dist.destroy_process_group()


class _Collectives(TorchDispatchMode):
    """Notes the bytes of each collective, of all ranks together: those of its largest tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, list[int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            tensors = [one for one in tree_leaves(args) if isinstance(one, Tensor)]
            self.sizes.setdefault(func.overloadpacket.__name__, []).append(
                max((one.nbytes for one in tensors), default=0)
            )
        return func(*args, **(kwargs or {}))
