"""Replay of block traces on a flash memory system: one stream over all zones, with the device's addresses."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import ArrayError, CommandError, Device, DeviceStream, Extent, Pending
from flashtrain.spec import Access, NodeTable, Persistency, Port, Stream
from flashtrain.spec.streams import Retention

from .block_trace import BlockTrace, Operation
from .zoned import ZonedCommand, zoned_commands

_ALL = Access.READ | Access.APPEND
STREAM = "trace"
TRACE_NODE = NodeTable(
    "trace", (Stream(1, STREAM, Persistency.VOLATILE, Retention.YEARS, host=_ALL, core=_ALL),)
)
"""One stream over all zones, without a journal."""


@dataclass(frozen=True)
class ZonedReplay:
    """Work of a replay: commands, bytes written and read, zones reset, and cycles (0 without time)."""

    commands: int
    written_bytes: int
    read_bytes: int
    zones_reset: int
    cycles: int


class ZonedPlayer:
    """Replays a trace on `device`, opened with `TRACE_NODE` and empty; all reads are checked.

    Times of the trace do not count: `depth` commands are in flight whenever the trace has them. The player
    closes the zone written least recently before a write would open more zones than the device allows.
    """

    def __init__(self, trace: BlockTrace, device: Device, depth: int) -> None:
        self._trace = trace
        self._device = device
        self._depth = depth
        self._stream: DeviceStream = device.stream(STREAM, Port.CORE)
        self._in_flight: deque[tuple[ZonedCommand, Pending[Any]]] = deque()
        self._resets = [0] * device.config.geometry.zones
        self._open: dict[int, None] = {}  # zones; the one written last stands last
        self._written = self._read = 0

    def run(self, progress: Callable[[int], None] = lambda done: None) -> ZonedReplay:
        """:class:`TraceError` for a command that the device refuses; :class:`ArrayError` for wrong data."""
        g, first_cycle = self._device.config.geometry, self._device.cycles
        commands = list(zoned_commands(self._trace, g))
        for command in commands:
            self._start(command)
            while len(self._in_flight) >= self._depth:
                self._finish()
            progress(command.index)
        while self._in_flight:
            self._finish()
        cycles = self._device.cycles - first_cycle
        return ZonedReplay(len(commands), self._written, self._read, sum(self._resets), cycles)

    def _start(self, command: ZonedCommand) -> None:
        g = self._device.config.geometry
        match command.op:
            case Operation.WRITE:
                self._make_room(command)
                pending = self._stream.write_async(command.lba, self._content(command))
                self._in_flight.append((command, pending))
                self._written += command.blocks * g.page_bytes
            case Operation.READ:
                shape = (command.blocks, g.page_bytes // 8)
                stored = self._stream.stored_at([Extent(command.lba, command.blocks)], shape, np.uint64)
                self._in_flight.append((command, self._stream.read_async(stored)))
                self._read += command.blocks * g.page_bytes
            case Operation.FLUSH:
                self._in_flight.append((command, self._stream.flush_async()))
            case Operation.TRIM:
                while self._in_flight:  # the expected content of reads changes
                    self._finish()
                first = command.lba // g.zone_size
                for zone in range(first, first + -(-command.blocks // g.zone_size)):
                    self._stream.reset_zone(zone)
                    self._open.pop(zone, None)
                    self._resets[zone] += 1

    def _make_room(self, write: ZonedCommand) -> None:
        config = self._device.config
        zone, offset = divmod(write.lba, config.geometry.zone_size)
        if zone not in self._open and len(self._open) == config.max_open:
            oldest = next(iter(self._open))
            del self._open[oldest]
            self._stream.close_zone(oldest)
        self._open.pop(zone, None)
        if offset + write.blocks < config.geometry.zone_capacity:
            self._open[zone] = None

    def _finish(self) -> None:
        command, pending = self._in_flight.popleft()
        try:
            result = pending.result()
        except CommandError as error:
            raise self._trace.error(command.index, str(error)) from error
        if command.op is Operation.READ and not np.array_equal(result, self._content(command)):
            raise ArrayError(f"LBA {command.lba}: {command.blocks} blocks differ from what was written")

    def _content(self, command: ZonedCommand) -> NDArray[np.uint64]:
        """Words that differ from block to block and from one reset to the next: uint64[blocks, words]."""
        g = self._device.config.geometry
        resets = self._resets[command.lba // g.zone_size]
        blocks = np.arange(command.lba, command.lba + command.blocks, dtype=np.uint64) << np.uint64(32)
        words = np.arange(g.page_bytes // 8, dtype=np.uint64) + np.uint64(resets << 12)
        return blocks[:, None] | words
