"""The commands of the device of a rank, as the driver sends them for an iteration of training in PyTorch.

`OffloadActivations` appends each saved storage and reads it once. `DieOptimizer` sends the constants to the
dies, then the gradients with the updates of all tiles, and reads the statistics. It commits by a record of
the journal, and reads the weights row by row. Commands without data, such as resets and commits, are not
counted.
"""

from collections.abc import Mapping
from typing import NamedTuple

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.ranks.job import RankJob
from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.update import WORD_BYTES, CopyFormat, GradientFormat, Tile


class Traffic(NamedTuple):
    """Commands of a kind, and the blocks that they move between the tensor buffer and the device."""

    commands: int = 0
    blocks: int = 0

    def plus(self, blocks: int, commands: int = 1) -> "Traffic":
        return Traffic(self.commands + commands, self.blocks + blocks)


APPEND, READ = "append activations", "read activations"
CONSTANTS, UPDATE, STATISTICS = "set constants", "update", "get statistics"
RECORD, WEIGHTS = "append to journal", "read weights"


def device_traffic(
    job: RankJob,
    rank: int,
    config: FmsConfig,
    program: OptimizerCode = OptimizerCode.ADAM,
    steps: range = range(1),
) -> Mapping[str, Traffic]:
    """The commands of some steps by their kind; before step 0 the streams of the device are empty.

    The tensor buffer has room for four of the largest commands, so the driver makes none smaller. A record of
    a commit fits into a block, as it does with pages of 4 KiB.
    """
    g, most = config.geometry, config.max_blocks
    kinds = (APPEND, READ, CONSTANTS, UPDATE, STATISTICS, RECORD, WEIGHTS)
    found: dict[str, Traffic] = {kind: Traffic() for kind in kinds}
    saved = sum(-(-nbytes // g.page_bytes) for layer in job.layers for nbytes in layer.saved)
    filled = steps.start * saved * job.micro_batches  # blocks of activations so far
    for _ in steps:
        for layer in job.layers:
            for nbytes in layer.saved * job.micro_batches:
                blocks = -(-nbytes // g.page_bytes)
                while blocks:
                    part = min(blocks, g.zone_capacity - filled % g.zone_capacity)
                    for kind in (APPEND, READ):
                        found[kind] = found[kind].plus(part, -(-part // most))
                    filled, blocks = filled + part, blocks - part
    tile = Tile.of(g, program, GradientFormat.FP32, CopyFormat.NONE)
    rows = _tile_rows(job.shard(rank), config, tile)
    dies = g.channels * g.dies
    gradients = tile.gradient_pages * g.channels
    zone_rows = g.dies * g.pages
    updates = sum(
        -(-min(zone_rows, rows - first) // max(1, most // gradients)) for first in range(0, rows, zone_rows)
    )
    planes = -(-WORD_BYTES * tile.parameters // g.page_bytes)
    times = len(steps)
    found[CONSTANTS] = found[STATISTICS] = Traffic(times, times * dies)
    found[UPDATE] = Traffic(times * updates, times * rows * gradients)
    found[RECORD] = Traffic(times, times)
    found[WEIGHTS] = Traffic(times * rows, times * rows * planes * g.channels)
    return found


def programmed_bytes(job: RankJob, rank: int, config: FmsConfig, program: OptimizerCode) -> tuple[int, int]:
    """Bytes of pages that a device programs in a step: of activations, and of weights and state."""
    tile = Tile.of(config.geometry, program, GradientFormat.FP32, CopyFormat.NONE)
    g = config.geometry
    saved = device_traffic(job, rank, config, program)[APPEND].blocks * g.page_bytes
    return saved, _tile_rows(job.shard(rank), config, tile) * g.channels * g.page_set_bytes


def _tile_rows(parameters: int, config: FmsConfig, tile: Tile) -> int:
    """Rows of tiles of a generation; `PlatformError` if a device has no room for two.

    Generations that fit more than once into a zone end with a page of all dies.
    """
    g = config.geometry
    rows = -(-parameters // (tile.parameters * g.channels))
    room = g.zones // 2 * g.dies * g.pages
    if rows > room:
        raise PlatformError(
            f"{parameters:,} parameters of a rank take {rows:,} rows of tiles; expected at most {room:,},"
            f" half of device {config.name}, for two generations"
        )
    pages = -(-rows // g.dies)
    return pages * g.dies if 2 * pages <= g.pages else rows
