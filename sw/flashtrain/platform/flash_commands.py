"""The commands of requests to a flash memory system, for the kernel of the performance model.

One channel stands for all, so sizes are whole rows: a page on every channel. Sizes of requests are
rounded up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flashtrain.model.command import COMMAND, Flag, Job
from flashtrain.model.parameters import tile_cycles
from flashtrain.platform.storage import Kind, Request
from flashtrain.platform.zone_ring import Extent
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.streams import JOURNAL
from flashtrain.spec.update import WORD_BYTES, CopyFormat, GradientFormat, Tile
from flashtrain.spec.update_time import TileWork
from flashtrain.training.sequence import StreamRole

NON_VOLATILE = frozenset({StreamRole.INPUTS, StreamRole.TRAINED, StreamRole.STATE, JOURNAL})
"""Streams whose appends complete after the program (`flashtrain.spec.streams`)."""

SOURCE = 255
"""Number of the stream that updates take the old generation from: no other command names it."""

_JOBS = {Kind.READ: Job.READ, Kind.APPEND: Job.APPEND, Kind.UPDATE: Job.UPDATE}


@dataclass(frozen=True)
class FlashCommands:
    """From requests to records of dtype `COMMAND`; updates run `program` with gradients of a format."""

    config: FmsConfig
    program: OptimizerCode
    gradient: GradientFormat = GradientFormat.FP32

    @property
    def row_bytes(self) -> int:
        return self.config.geometry.channels * self.config.geometry.page_bytes

    @property
    def zone_rows(self) -> int:
        g = self.config.geometry
        return g.planes * g.dies * g.pages

    @cached_property
    def tile(self) -> Tile:
        return Tile.of(self.config.geometry, self.program, self.gradient, CopyFormat.NONE)

    def whole_rows(self, request: Request) -> int:
        """The rows of which a request takes multiples: an update those of a page set."""
        return self.config.geometry.planes if request.kind is Kind.UPDATE else 1

    def rows(self, request: Request) -> int:
        """Rows that a request takes in its zones; an update takes whole page sets, with all of its state."""
        if request.kind is Kind.UPDATE or request.weights_only:
            tiles = -(-request.bytes // (self.gradient.bytes * self.tile.parameters))
            return -(-tiles // self.config.geometry.channels) * self.config.geometry.planes
        return max(1, -(-request.bytes // self.row_bytes))

    def weights(self, extents: Sequence[Extent]) -> list[Extent]:
        """The rows of weights in extents of tiles, each with a command of its own."""
        planes = self.config.geometry.planes
        held = -(-WORD_BYTES * self.tile.parameters // self.config.geometry.page_bytes)
        return [
            Extent(extent.zone, first, held)
            for extent in extents
            for first in range(extent.first, extent.first + extent.rows, planes)
        ]

    def commands(self, request: Request, stream: int, extents: Sequence[Extent]) -> NDArray[np.void]:
        """The commands of a request whose data lie in `extents`, each of at most `max_blocks` blocks."""
        planes = self.config.geometry.planes
        most = max(1, self.config.max_blocks // self.config.geometry.channels)
        updates = request.kind is Kind.UPDATE
        if updates:
            most = max(1, most // self.tile.gradient_pages) * planes
        parts = [
            (extent.zone, first, min(most, extent.first + extent.rows - first))
            for extent in extents
            for first in range(extent.first, extent.first + extent.rows, most)
        ]
        commands = np.zeros(len(parts), COMMAND)
        commands["job"], commands["port"], commands["stream"] = _JOBS[request.kind], Port.CORE, stream
        commands["zone"], commands["offset"], commands["blocks"] = np.array(parts).T
        commands["last_page"] = planes - 1
        if request.stream in NON_VOLATILE and request.kind is Kind.APPEND:
            commands["flags"] = Flag.NON_VOLATILE
        if updates:
            tile = self.tile
            commands["blocks"] = commands["blocks"] // planes * tile.gradient_pages
            commands["last_page"], commands["copies"] = tile.gradient_pages - 1, tile.copy_pages
            commands["compute"] = tile_cycles(self.config, TileWork(tile, tile.parameters))
            commands["source"] = SOURCE
        return commands


def reset_of(zone: int, stream: int) -> NDArray[np.void]:
    """The reset of a zone, [1]."""
    command = np.zeros(1, COMMAND)
    command["job"], command["port"], command["stream"], command["zone"] = (
        Job.RESET_ZONE,
        Port.CORE,
        stream,
        zone,
    )
    return command


def release_of(zones: Sequence[int]) -> NDArray[np.void]:
    """The release of physical zones, which are then erased, one command each."""
    commands = np.zeros(len(zones), COMMAND)
    commands["job"], commands["port"], commands["count"] = Job.RELEASE_ZONE, Port.CORE, zones
    return commands


def end_of_recovery() -> NDArray[np.void]:
    """The end of a recovery, [1], in which all zones of the kernel are in use; no zone is erased before."""
    command = np.zeros(1, COMMAND)
    command["job"], command["port"] = Job.END_RECOVERY, Port.CORE
    return command
