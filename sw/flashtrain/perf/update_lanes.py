"""An optimizer step in the controller: update lanes, which are RTL as the channels are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.state.state_stream import TileStep
from flashtrain.host.state.tiling import Pages
from flashtrain.spec import FmsConfig
from flashtrain.spec.ecc import LANE_BYTES
from flashtrain.spec.errors import require
from flashtrain.spec.update import Tile

from .update_places import ChunkWork, Place, SerialResource


class UpdatedTile(NamedTuple):
    """Bytes of a tile after the step and of the copies, and the cycles in which they came to be."""

    tile: NDArray[np.uint8]
    copies: NDArray[np.uint8]
    cycles: int


def lane_limits(config: FmsConfig, tile: Tile, lanes: int) -> Mapping[str, float]:
    """Parameters per second of so many lanes.

    A lane takes a tile in, computes, and gives it out, one after the other; gradients aside.
    """
    moving = 2 * config.geometry.page_set_bytes // LANE_BYTES
    computing = tile.parameters * config.update_interval * config.update_divider
    return {"update lanes": lanes * tile.parameters * config.timing.clock_hz / (moving + computing)}


class UpdateLane(Protocol):
    """An update unit beside the tensor buffer, with room for a tile."""

    def begin(self, step: TileStep) -> int:
        """A step begins, in so many cycles."""
        ...

    def update(self, tile: NDArray[np.uint8], gradients: NDArray[np.uint8]) -> UpdatedTile:
        """Take the bytes of a tile through the step, with those of its gradients."""
        ...


@dataclass(frozen=True)
class ControllerLanes(Place):
    """Update lanes beside the tensor buffer, which work in parallel.

    Each has a port of its own to the tensor buffer, an assumption that favours the controller.
    """

    optimstore = 1.9
    assumption = "assumption: its channels and dies are these"
    lanes: tuple[UpdateLane, ...]

    def __post_init__(self) -> None:
        require(len(self.lanes) > 0, "controller.lanes", self.lanes, "1 or more")

    @property
    def where(self) -> str:
        return "in the controller"

    def limits(self, config: FmsConfig, tile: Tile) -> Mapping[str, float]:
        return lane_limits(config, tile, len(self.lanes))

    def begin(self, work: ChunkWork, cycle: float) -> "LaneStep":
        return LaneStep(self.lanes, work, cycle)


class LaneStep:
    """A step on the lanes, to which the tiles of a chunk go in turn."""

    def __init__(self, lanes: Sequence[UpdateLane], work: ChunkWork, cycle: float) -> None:
        self._lanes, self._work = lanes, work
        step = TileStep(work.layout.tile, work.constants)
        self._lane_times = [SerialResource() for _ in lanes]
        for turns, lane in zip(self._lane_times, lanes, strict=True):
            turns.take(cycle, lane.begin(step))
        self._gradients = work.layout.gradient_pages(work.gradients)
        self._cycles: list[int] = []  # of each tile

    def update(self, cycle: float, pages: Pages) -> float:
        rows, _planes, channels, _bytes = pages.shape
        ends = []
        for number, (row, channel) in enumerate(np.ndindex(rows, channels)):
            lane = number % len(self._lanes)
            tile = pages[row, :, channel]
            updated = self._lanes[lane].update(tile, self._gradients[row, :, channel])
            tile[...] = updated.tile.reshape(tile.shape)
            self._cycles.append(updated.cycles)
            ends.append(self._lane_times[lane].take(cycle, updated.cycles))
        return max(ends)

    @property
    def computing(self) -> str:
        cycles, tile = float(np.mean(self._cycles)), self._work.layout.tile
        rate = len(self._lanes) * tile.parameters * self._work.clock_hz / cycles
        return (
            f"channels and {len(self._lanes)} update lanes are RTL; a lane takes {cycles:,.0f} cycles for"
            f" {tile.parameters:,} parameters, {rate / 1e6:,.1f} M/s for all lanes"
        )
