"""A storage that simulates a flash memory system: requests become commands for the performance model.

The kernel of `flashtrain.model` simulates one channel, which stands for all. Streams fill zones one after the
other, and a read goes to the zones of its tensor.
"""

import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from flashtrain.model.kernel import NEVER, Kernel
from flashtrain.platform.flash_commands import FlashCommands, end_of_recovery, release_of, reset_of
from flashtrain.platform.flash_operations import operations_of
from flashtrain.platform.storage import Kind, Operation, Request, Resource
from flashtrain.platform.zone_ring import ZoneRing
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.optimizer import OptimizerCode

STEP = 200e-6
"""Seconds that a busy storage may be ahead of another one: a fraction of the time of a command."""

_QUEUE_ENTRIES = 4096
_MANAGEMENT = np.uint32(0xFFFF_FFFF)
"""The id of commands that belong to no request."""


@dataclass(eq=False)
class _Pending:
    """A request, its commands, and how many of them were sent and are answered."""

    request: Request
    commands: NDArray[np.void]
    sent: int = 0
    answered: int = 0


@dataclass(eq=False)
class _Queue:
    """The requests of a kind and a stream; commands of up to several of them are in flight."""

    pending: deque[_Pending] = field(default_factory=deque)
    in_flight: int = 0

    def next(self) -> _Pending | None:
        return next((each for each in self.pending if each.sent < len(each.commands)), None)


class FlashStorage:
    """A flash memory system in time.

    - depth: commands in flight of the requests of a kind and a stream.
    - beside: other resources that each byte needs; they hold back commands.
    - window: the seconds, from and to, in which operations are recorded.
    """

    def __init__(
        self,
        config: FmsConfig,
        program: OptimizerCode,
        depth: int,
        beside: Sequence[Resource],
        window: tuple[float, float] | None,
    ) -> None:
        self._config = config
        self._depth = depth
        self._beside = beside
        self._commands = FlashCommands(config, program)
        self._zones = ZoneRing(config.geometry.zones, self._commands.zone_rows)
        self._kernel = Kernel(config, whole_rows=True)
        weakref.finalize(self, self._kernel.close)
        self._kernel.run(self._kernel.enable(erased=False, recovers=True))
        self._kernel.set_queue_size(Port.CORE, _QUEUE_ENTRIES)
        self._queues: dict[tuple[Kind, str], _Queue] = {}
        self._streams: dict[str, int] = {}
        self._owners: dict[int, tuple[_Queue, _Pending]] = {}
        self._ids = 0
        self._beside_free_at = 0.0
        self._started = 0
        self._edges = deque(() if window is None else zip(window, (True, False), strict=True))

    def prepare(self, stored: Sequence[Request], written: Sequence[Request]) -> None:
        """All zones are erased but those of data like `written`, whose erases begin at time 0."""
        zones = self._config.geometry.zones
        rows = [(request.stream, self._commands.rows(request)) for request in written]
        streams = dict.fromkeys(stream for stream, _ in rows)
        dropped = sum(
            -(-sum(count for of, count in rows if of == stream) // self._commands.zone_rows)
            for stream in streams
        )
        held = -(-sum(self._commands.rows(request) for request in stored) // self._commands.zone_rows)
        spare = len({request.stream for request in stored})
        first = zones - max(0, min(dropped, zones - held - spare))
        self._manage(release_of(range(first)))
        self._manage(end_of_recovery())
        self._settle()
        for request in stored:
            extents, _ = self._zones.place(request.stream, request.tensor, self._commands.rows(request))
            as_data = Request(Kind.APPEND, request.bytes, request.stream, request.tensor)
            commands = self._commands.commands(as_data, self._stream(request.stream), extents)
            self._kernel.play(commands, self._depth)
        self._settle()
        self._manage(release_of(range(first, zones)))
        self._started = self._kernel.now

    def submit(self, now: float, request: Request) -> None:
        if self._cycles(now) > self._kernel.now:
            self._kernel.run(self._cycles(now))
        rows, stream = self._commands.rows(request), self._stream(request.stream)
        if request.kind is Kind.READ:
            extents = self._zones.find(request.tensor, rows)
            if request.weights_only:
                extents = self._commands.weights(extents)
        else:
            whole = self._commands.whole_rows(request)
            extents, resets = self._zones.place(request.stream, request.tensor, rows, whole)
            for zone in resets:
                self._manage(reset_of(zone, stream))
        pending = _Pending(request, self._commands.commands(request, stream, extents))
        queue = self._queues.setdefault((request.kind, request.stream), _Queue())
        queue.pending.append(pending)
        self._send(self._kernel.now)

    @property
    def busy(self) -> bool:
        return any(queue.pending for queue in self._queues.values())

    def horizon(self) -> float:
        return self._seconds(self._kernel.now) + STEP

    def advance(self, limit: float) -> tuple[float, list[Request]]:
        while True:
            stop = min(limit, self._held_until(), self._edges[0][0] if self._edges else inf)
            if self._run(stop):
                done = self._take_completed()
                self._send(self._kernel.now)
                if done:
                    return self._seconds(self._kernel.now), done
                continue
            if stop == inf:
                raise self._kernel.hang()
            if self._edges and self._edges[0][0] <= stop:
                self._kernel.set_tracing(self._edges.popleft()[1])
            if stop == limit:
                return limit, []
            self._send(max(self._kernel.now, self._cycles(stop)))

    def operations(self) -> Sequence[Operation]:
        records = self._kernel.take_trace()
        return operations_of(records, self._started, self._config.timing.clock_hz)

    def _run(self, until: float) -> bool:
        """Up to a time in seconds, or to a completion; True if there is one."""
        most = NEVER if until == inf else self._cycles(until)
        return most > self._kernel.now and self._kernel.run(most, 1 << Port.CORE)

    def _settle(self) -> None:
        """Go on until all is written and erased."""
        while self._kernel.run(NEVER, 1 << Port.CORE):
            self._take_completed()
        if not self._kernel.idle:
            raise self._kernel.hang()

    def _manage(self, commands: NDArray[np.void]) -> None:
        """Send commands that belong to no request."""
        commands["id"] = _MANAGEMENT
        self._kernel.submit(Port.CORE, commands)

    def _send(self, cycle: int) -> None:
        """Fill the queues with commands, as far as the resources beside the storage are free."""
        for (kind, _), queue in self._queues.items():
            while queue.in_flight < self._depth and (pending := queue.next()) is not None:
                if self._cycles(self._beside_free_at) > cycle:
                    return
                self._send_one(kind, queue, pending)

    def _send_one(self, kind: Kind, queue: _Queue, pending: _Pending) -> None:
        command = pending.commands[pending.sent : pending.sent + 1]
        command["id"] = self._ids
        self._owners[self._ids] = queue, pending
        self._ids = (self._ids + 1) % int(_MANAGEMENT)
        queue.in_flight += 1
        pending.sent += 1
        self._kernel.submit(Port.CORE, command)
        seconds = max((each.seconds_per_byte.get(kind, 0.0) for each in self._beside), default=0.0)
        now = self._seconds(self._kernel.now)
        moved = int(command["blocks"][0]) * self._commands.row_bytes
        self._beside_free_at = max(now, self._beside_free_at) + seconds * moved

    def _held_until(self) -> float:
        """The time until which commands wait for the resources beside the storage; infinity if none does."""
        waiting = any(
            queue.in_flight < self._depth and queue.next() is not None for queue in self._queues.values()
        )
        return self._beside_free_at if waiting else inf

    def _take_completed(self) -> list[Request]:
        done: list[Request] = []
        completed = self._kernel.take_completed()
        self._kernel.consume(Port.CORE, len(completed))
        for number in completed["id"].tolist():
            if number == _MANAGEMENT:
                continue
            queue, pending = self._owners.pop(number)
            queue.in_flight -= 1
            pending.answered += 1
            while queue.pending and queue.pending[0].answered == len(queue.pending[0].commands):
                done.append(queue.pending.popleft().request)
        return done

    def _stream(self, name: str) -> int:
        """The number of a stream; 0 is the controller's own."""
        return self._streams.setdefault(name, len(self._streams) + 1)

    def _cycles(self, seconds: float) -> int:
        return self._started + round(seconds * self._config.timing.clock_hz)

    def _seconds(self, cycle: int) -> float:
        return (cycle - self._started) / self._config.timing.clock_hz
