"""The dispatcher: it puts requests into the queues of their ports, and assigns completions to requests."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import DeviceClosed, DeviceHang
from flashtrain.host.link import Link
from flashtrain.host.memory.tensor_buffer import Region, TensorBuffer
from flashtrain.host.wear import WearGate
from flashtrain.spec import Port
from flashtrain.spec.registers import Register

from .command_log import CommandLog, current_label
from .entries import Command, CompletionEntry
from .queue_pair import QueuePair


@dataclass(eq=False, slots=True)
class Request:
    """One command on its way from the driver to the device and back.

    - region: blocks of the tensor buffer that are freed with the completion.
    - target: bytes to which the beginning of the region is copied after success.
    - deliver: called with the bytes of the region after success.
    - keep: an array in the tensor buffer that must live until completion.
    - on_success: called with the completion after success.
    - on_failure: called after a failure.
    - retry_as: maps a failed completion to a replacement command, or to None.
    - after: a request that must succeed before this one is submitted; this one fails with it.
    - label, submitted: of a device with a log, what `labelled` says, and the cycle of the submission.
    - completed: the cycle at which the dispatcher collected the completion.
    - lost: the controller was disabled before it answered.
    """

    port: Port
    command: Command
    region: Region | None = None
    target: NDArray[np.uint8] | None = None
    deliver: Callable[[NDArray[np.uint8]], None] | None = None
    keep: object = None
    on_success: Callable[[CompletionEntry], None] | None = None
    on_failure: Callable[[], None] | None = None
    retry_as: Callable[[Command, CompletionEntry], Command | None] | None = None
    after: "Request | None" = None
    completion: CompletionEntry | None = None
    label: str = ""
    submitted: int = 0
    completed: int = 0
    lost: bool = False

    @property
    def done(self) -> bool:
        return self.completion is not None or self.lost


class _Dispatching(Protocol):
    _dispatcher: "Dispatcher"


SelfT = TypeVar("SelfT", bound=_Dispatching)
ResultT = TypeVar("ResultT")
Parameters = ParamSpec("Parameters")


def serialised(
    method: Callable[Concatenate[SelfT, Parameters], ResultT],
) -> Callable[Concatenate[SelfT, Parameters], ResultT]:
    """A method under the lock of `self._dispatcher`: one thread at a time executes it.

    :class:`ForeignProcess` in a forked process, without a wait: a thread that holds the lock was not forked.
    """

    @wraps(method)
    def locked(self: SelfT, *args: Parameters.args, **kwargs: Parameters.kwargs) -> ResultT:
        dispatcher = self._dispatcher
        if not dispatcher.link.own:
            raise dispatcher.link.foreign()
        with dispatcher.lock:
            return method(self, *args, **kwargs)

    return locked


class Dispatcher:
    """Submits requests to the queue pairs, and collects their completions.

    The phase bits in memory mark new completions; the Link waits only while there are none. The thread that
    uses the device holds `lock`.

    Members
    -------
    constants_sent: how often the constants of the dies were replaced. All updates of a device share them.
    """

    def __init__(
        self, link: Link, queues: dict[Port, QueuePair], buffer: TensorBuffer, wear: WearGate
    ) -> None:
        self.link = link
        self.buffer = buffer
        self.wear = wear
        self.lock = RLock()
        self._queues = queues
        self._requests: dict[tuple[Port, int], Request] = {}
        self._held: dict[Port, deque[Request]] = {port: deque() for port in queues}
        self._next_cid = 0
        self.enabled = False
        self.constants_sent = 0
        self.log: CommandLog | None = None

    @property
    def in_flight(self) -> tuple[Request, ...]:
        return (*self._requests.values(), *(request for held in self._held.values() for request in held))

    def admit(self) -> None:
        """Hold an append or an update against the wear budget, before it changes anything."""
        if self.wear.budget is not None:
            self.wear.admit()

    def submit(self, requests: Sequence[Request]) -> None:
        """Queue commands in this order; waits for room in a full queue.

        A request with `after` is held until that one is done, and so are later requests to the same port.
        """
        for request in requests:
            self.require_enabled()
            if self.log is not None:
                request.label, request.submitted = current_label(), self.link.cycles
            self._held[request.port].append(request)
            self._let_pass(request.port)
            if self._lacks_room(request.port):
                self._ring()
                self.wait(lambda port=request.port: not self._lacks_room(port))
        self._ring()

    def submit_raw(self, entries: Sequence[tuple[Port, bytes]]) -> list[CompletionEntry]:
        """Queue 64-byte entries as they are, once nothing else is in flight; the answers in completion order.

        Entries of one port keep their order; the device has entries of different ports at the same time.
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
            holders = [request for request in self.in_flight if request.region is not None]
            if not holders:
                raise self.buffer.full(blocks)
            self._ring()
            self.wait(lambda holders=holders: any(request.done for request in holders))
        return region

    def wait(self, condition: Callable[[], bool]) -> None:
        """Collect completions until `condition` holds; :class:`DeviceHang` if the device is idle before."""
        self._until(condition, self.poll)

    def wait_until_cycle(self, condition: Callable[[], bool], cycle: int) -> None:
        """Collect completions until `condition` holds, or until this cycle, with the device idle or not.

        A Link without time reaches no cycle: there an idle device ends the wait.
        """
        while not condition() and (now := self.link.cycles) < cycle:
            if self._collect_or_clear(self.poll):
                continue
            try:
                interrupted = self.link.wait(max(1, cycle - self.link.cycles))
            except DeviceHang:  # so many cycles without a completion
                continue
            if not interrupted and not self.poll():
                self.link.run(max(1, cycle - self.link.cycles))
                if self.link.cycles == now:
                    return

    def require_enabled(self) -> None:
        """Raise :class:`DeviceClosed` unless the controller accepts commands."""
        if not self.enabled:
            raise DeviceClosed("the device is disabled or closed")

    def poll(self) -> int:
        """Collect the completions that are posted; returns their number."""
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
        """Accept requests: the controller was enabled, with empty queues."""
        self.enabled = True

    def abandon(self) -> None:
        """Mark all requests in flight as lost: the controller was disabled."""
        self.enabled = False
        for request in self.in_flight:
            request.lost = True
            self._let_go(request)
        self._requests.clear()
        for held in self._held.values():
            held.clear()
        for queue in self._queues.values():
            queue.reset()

    def _ring(self) -> None:
        for queue in self._queues.values():
            queue.ring()

    def _until(self, condition: Callable[[], bool], collect: Callable[[], int]) -> None:
        while not condition():
            if self._collect_or_clear(collect) or self.link.wait() or collect():
                continue
            raise DeviceHang(f"the device is idle but owes answers: {self._owed()}")

    def _collect_or_clear(self, collect: Callable[[], int]) -> bool:
        """Collect completions; without one clear the interrupts, so that the next one raises them again."""
        if collect():
            return True
        # Clear first, then poll again: a completion after the poll raises the interrupt again.
        self.link.write_register(Register.INTERRUPT, (1 << len(self._queues)) - 1)
        return bool(collect())

    def _finish(self, port: Port, completion: CompletionEntry) -> None:
        request = self._requests.pop((port, completion.cid), None)
        if request is None:
            raise DeviceHang(f"port {port.name} answered command {completion.cid}, which is not in flight")
        if self.log is not None:
            self.log.note_completed(port, completion, self.link.cycles)
        replacement = None
        if request.retry_as is not None and not completion.ok:
            replacement = request.retry_as(request.command, completion)
        if replacement is None:
            self._complete(request, completion)
        else:
            request.command = replacement
            self._held[port].append(request)

    def _let_pass(self, port: Port) -> None:
        """Queue the held requests of a port, up to the first that still waits for another."""
        held, queue = self._held[port], self._queues[port]
        while held and not _waits(held[0]):
            before = held[0].after
            if before is not None and before.completion is not None and not before.completion.ok:
                self._complete(held.popleft(), before.completion)
                continue
            if not queue.room:
                break
            request = held.popleft()
            cid = self._take_cid(port)
            self._requests[port, cid] = request
            queue.push(request.command.entry(cid))
            if self.log is not None:
                now = self.link.cycles
                self.log.note_queued(port, cid, request.command, request.label, request.submitted, now)

    def _lacks_room(self, port: Port) -> bool:
        """Whether the next held request only waits for room in the queue."""
        held = self._held[port]
        return bool(held) and not _waits(held[0])

    def _complete(self, request: Request, completion: CompletionEntry) -> None:
        request.completion, request.completed = completion, self.link.cycles
        if completion.ok:
            if request.region is not None and request.deliver is not None:
                request.deliver(self.buffer.view(request.region))
            if request.region is not None and request.target is not None:
                request.target[:] = self.buffer.view(request.region)[: len(request.target)]
            if request.on_success is not None:
                request.on_success(completion)
        elif request.on_failure is not None:
            request.on_failure()
        self._let_go(request)

    def _let_go(self, request: Request) -> None:
        if request.region is not None:
            self.buffer.give_back(request.region)
        request.region = request.target = request.keep = request.on_success = request.on_failure = None
        request.after = request.deliver = request.retry_as = None

    def _take_cid(self, port: Port) -> int:
        while (port, self._next_cid) in self._requests:
            self._next_cid = (self._next_cid + 1) & 0xFFFF
        return self._next_cid

    def _owed(self) -> str:
        names = [f"{request.command.opcode.name} by {request.port.name}" for request in self.in_flight]
        return (
            ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            or "a raw command"
        )


def _waits(request: Request) -> bool:
    """Whether the request that must succeed before is still in flight."""
    return request.after is not None and not request.after.done
