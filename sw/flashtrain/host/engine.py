"""Commands in flight: from the driver to the queues, and completions back to whom they belong."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Port
from flashtrain.spec.registers import Register

from .entries import Command, CompletionEntry
from .errors import DeviceClosed, DeviceHang
from .link import Link
from .queue_pair import QueuePair
from .tensor_buffer import Region, TensorBuffer


@dataclass(eq=False)
class Flight:
    """One command on its way.

    region: blocks of the tensor buffer to give back when it is done; target: bytes that the region's
    beginning is copied to when it succeeded (a read); deliver: called with the region's bytes then; keep: an
    array in the tensor buffer that must live until it is done; on_failure: called when the device refused it;
    instead: what to submit in the place of a command with such an answer (None: nothing, it has failed);
    after: one that has to succeed before this one is submitted (a failure is that of this one, too).
    """

    port: Port
    command: Command
    region: Region | None = None
    target: NDArray[np.uint8] | None = None
    deliver: Callable[[NDArray[np.uint8]], None] | None = None
    keep: object = None
    on_failure: Callable[[], None] | None = None
    instead: Callable[[Command, CompletionEntry], Command | None] | None = None
    after: "Flight | None" = None
    completion: CompletionEntry | None = None
    lost: bool = False

    @property
    def done(self) -> bool:
        return self.completion is not None or self.lost


class Engine:
    """Submits commands to the queue pairs, and collects completions.

    The phase bits in memory tell what is complete; the Link is asked to wait only when nothing is.
    """

    def __init__(self, link: Link, queues: dict[Port, QueuePair], buffer: TensorBuffer) -> None:
        self.link = link
        self.buffer = buffer
        self._queues = queues
        self._flights: dict[tuple[Port, int], Flight] = {}
        self._held: dict[Port, deque[Flight]] = {port: deque() for port in queues}
        self._next_cid = 0
        self.enabled = False

    @property
    def in_flight(self) -> tuple[Flight, ...]:
        return (*self._flights.values(), *(flight for held in self._held.values() for flight in held))

    def submit(self, flights: Sequence[Flight]) -> None:
        """Queue commands in this order; waits for room in a full queue.

        One that comes after another is held until then, and what is submitted to its port later behind it.
        """
        for flight in flights:
            self.require_enabled()
            self._held[flight.port].append(flight)
            self._let_pass(flight.port)
            if self._lacks_room(flight.port):
                self._ring()
                self.wait(lambda port=flight.port: not self._lacks_room(port))
        self._ring()

    def submit_raw(self, entries: Sequence[tuple[Port, bytes]]) -> list[CompletionEntry]:
        """Queue 64-byte entries as they are, once nothing else is in flight; the answers as they came.

        Entries of one port keep their order; those of different ports are at the device at the same time.
        """
        self.require_enabled()
        self.wait(lambda: not self.in_flight)
        answers: list[CompletionEntry] = []

        def collect() -> int:
            new = [answer for queue in self._queues.values() for answer in queue.poll()]
            answers.extend(new)
            return len(new)

        for port, entry in entries:
            queue = self._queues[port]
            if not queue.room:
                self._ring()
                self._until(lambda queue=queue: queue.room > 0, collect)
            queue.push(entry)
        self._ring()
        self._until(lambda: len(answers) >= len(entries), collect)
        return answers

    def region(self, blocks: int) -> Region:
        """A region of the tensor buffer; waits for commands in flight when it is full."""
        while (region := self.buffer.take(blocks)) is None:
            holders = [flight for flight in self.in_flight if flight.region is not None]
            if not holders:
                raise self.buffer.full(blocks)
            self._ring()
            self.wait(lambda holders=holders: any(flight.done for flight in holders))
        return region

    def wait(self, condition: Callable[[], bool]) -> None:
        """Collect completions until `condition` holds; :class:`DeviceHang` when it never will."""
        self._until(condition, self.poll)

    def require_enabled(self) -> None:
        """:class:`DeviceClosed` when the controller takes no commands."""
        if not self.enabled:
            raise DeviceClosed("the device is disabled or closed")

    def poll(self) -> int:
        """Take the completions that are there; their number."""
        count = 0
        for port, queue in self._queues.items():
            for completion in queue.poll():
                self._finish(port, completion)
                count += 1
        if count:
            for port in self._queues:
                self._let_pass(port)
            self._ring()
        return count

    def start(self) -> None:
        """The controller was enabled, with empty queues."""
        self.enabled = True

    def abandon(self) -> None:
        """The controller was disabled: what is in flight will never be answered."""
        self.enabled = False
        for flight in self.in_flight:
            flight.lost = True
            self._let_go(flight)
        self._flights.clear()
        for held in self._held.values():
            held.clear()
        for queue in self._queues.values():
            queue.reset()

    def _ring(self) -> None:
        for queue in self._queues.values():
            queue.ring()

    def _until(self, condition: Callable[[], bool], collect: Callable[[], int]) -> None:
        while not condition():
            if collect():
                continue
            # Clear first and look again: a completion after the look raises the interrupt anew.
            self.link.write_register(Register.INTERRUPT, (1 << len(self._queues)) - 1)
            if collect() or self.link.wait() or collect():
                continue
            raise DeviceHang(f"the device is idle but owes answers: {self._owed()}")

    def _finish(self, port: Port, completion: CompletionEntry) -> None:
        flight = self._flights.pop((port, completion.cid), None)
        if flight is None:
            raise DeviceHang(f"port {port.name} answered command {completion.cid}, which is not in flight")
        instead = None
        if flight.instead is not None and not completion.ok:
            instead = flight.instead(flight.command, completion)
        if instead is None:
            self._complete(flight, completion)
        else:
            flight.command = instead
            self._held[port].append(flight)

    def _let_pass(self, port: Port) -> None:
        """Queue what waits for nothing any more."""
        held, queue = self._held[port], self._queues[port]
        while held and not _waits(held[0]):
            before = held[0].after
            if before is not None and before.completion is not None and not before.completion.ok:
                self._complete(held.popleft(), before.completion)
                continue
            if not queue.room:
                break
            flight = held.popleft()
            cid = self._take_cid(port)
            self._flights[port, cid] = flight
            queue.push(flight.command.entry(cid))

    def _lacks_room(self, port: Port) -> bool:
        """Whether a command could be queued, but for the room."""
        held = self._held[port]
        return bool(held) and not _waits(held[0])

    def _complete(self, flight: Flight, completion: CompletionEntry) -> None:
        flight.completion = completion
        if flight.deliver is not None and flight.region is not None and completion.ok:
            flight.deliver(self.buffer.view(flight.region))
        if flight.target is not None and flight.region is not None and completion.ok:
            flight.target[:] = self.buffer.view(flight.region)[: len(flight.target)]
        if flight.on_failure is not None and not completion.ok:
            flight.on_failure()
        self._let_go(flight)

    def _let_go(self, flight: Flight) -> None:
        if flight.region is not None:
            self.buffer.give_back(flight.region)
        flight.region = flight.target = flight.keep = flight.on_failure = None
        flight.after = flight.deliver = flight.instead = None

    def _take_cid(self, port: Port) -> int:
        while (port, self._next_cid) in self._flights:
            self._next_cid = (self._next_cid + 1) & 0xFFFF
        return self._next_cid

    def _owed(self) -> str:
        names = [f"{flight.command.opcode.name} by {flight.port.name}" for flight in self.in_flight]
        return (
            ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            or "a raw command"
        )


def _waits(flight: Flight) -> bool:
    """Whether what has to come before is still under way."""
    return flight.after is not None and not flight.after.done
