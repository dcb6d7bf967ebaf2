"""Submission and completion queues in the memory of a host (NVM Express Base 2.0, sections 3.3.1 and 4.2)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from numpy.typing import NDArray

from flashtrain.nvme.subsystem.reply import Reply
from flashtrain.nvme.wire.commands import COMMAND_BYTES, Entry, answer_bytes, parse_entry
from flashtrain.nvme.wire.statuses import TargetStatus, is_final
from flashtrain.spec.pcie import Priority

from .memory import Memory, gather, read, scatter

COMPLETION_BYTES = 16
_PHASE_BYTES = 2
_PHASE_AT = COMPLETION_BYTES - _PHASE_BYTES
_PRP2_AT = 32


class PageData:
    """The data of an I/O command in the host's memory. None goes there once the command is cancelled.

    gate: held while bytes go to the host, and by who cancels.
    """

    def __init__(self, views: list[memoryview], gate: Lock) -> None:
        self._views, self._gate = views, gate
        self._cancelled = False

    def fill(self, space: NDArray) -> None:
        gather(self._views, space)

    def take(self, space: NDArray) -> bytes:
        with self._gate:
            if not self._cancelled:
                scatter(space.data, self._views)
        return b""

    def cancel(self) -> None:
        with self._gate:
            self._cancelled = True


class Command:
    """A command between its fetch and its completion.

    - second: PRP2, which an :class:`Entry` has no room for.
    - views: room for the data of a reply; data: of an I/O command that has begun.
    """

    __slots__ = ("cancelled", "data", "entry", "queue", "second", "views")

    def __init__(self, queue: "SubmissionQueue", entry: Entry, second: int) -> None:
        self.queue, self.entry, self.second = queue, entry, second
        self.cancelled = False
        self.views: list[memoryview] = []
        self.data: PageData | None = None

    def cancel(self) -> None:
        """Forget the command: it moves no byte and has no completion."""
        self.cancelled = True
        if self.data is not None:
            self.data.cancel()


class _Answer(NamedTuple):
    """A completion that waits for room: head of the submission queue and its number, CID, and the reply."""

    head: int
    queue: int
    cid: int
    reply: Reply


@dataclass(eq=False)
class CompletionQueue:
    """A completion queue. `vector` is its interrupt, or None; `users` its submission queues."""

    number: int
    address: int
    entries: int
    vector: int | None
    users: int = 0
    tail: int = 0
    head: int = 0
    _phase: int = 1
    _waiting: deque[_Answer] = field(default_factory=deque)

    def add(self, command: Command, reply: Reply) -> None:
        """Add the completion of a command to those that wait."""
        queue = command.queue
        self._waiting.append(_Answer(queue.head, queue.number, command.entry.cid, reply))

    @property
    def backlog(self) -> int:
        """Completions for which the host has made no room."""
        return len(self._waiting)

    def post(self, memory: Memory) -> int:
        """Post what waits, as far as there is room; how many completions. The phase comes last."""
        posted = 0
        while self._waiting and (self.tail + 1) % self.entries != self.head:
            head, queue, cid, (status, result, _) = self._waiting.popleft()
            raw = answer_bytes(result, head, cid, status, is_final(status), queue, self._phase)
            place = self.address + self.tail * COMPLETION_BYTES
            views = memory.views(place, COMPLETION_BYTES)
            scatter(raw[:_PHASE_AT], views)
            views[-1][-_PHASE_BYTES:] = raw[_PHASE_AT:]
            self.tail += 1
            if self.tail == self.entries:
                self.tail, self._phase = 0, self._phase ^ 1
            posted += 1
        return posted

    def free(self, head: int) -> bool:
        """The host has taken entries up to `head`; False for a value that no host can have reached."""
        posted = (self.tail - self.head) % self.entries
        taken = (head - self.head) % self.entries
        if head >= self.entries or not 0 < taken <= posted:
            return False
        self.head = head
        return True


@dataclass(eq=False)
class SubmissionQueue:
    """A submission queue: `waiting` has commands that were fetched, `commands` those that have begun.

    on_abort: completes a command that was taken off `waiting`. when_empty: called once, when no command that
    has begun is left.
    """

    number: int
    address: int
    entries: int
    completions: CompletionQueue
    on_abort: Callable[[Command, Reply], None]
    priority: Priority = Priority.URGENT
    head: int = 0
    tail: int = 0
    waiting: deque[Command] = field(default_factory=deque)
    commands: dict[int, Command] = field(default_factory=dict)
    when_empty: Callable[[], None] | None = None

    def extend(self, tail: int) -> bool:
        """The host has written entries up to `tail`; False for a value that adds none or too many."""
        there = (self.tail - self.head) % self.entries
        added = (tail - self.tail) % self.entries
        if tail >= self.entries or not added or there + added >= self.entries:
            return False
        self.tail = tail
        return True

    @property
    def room(self) -> int:
        """Commands that may be fetched: a host that takes no completions has no more than `entries` here."""
        return self.entries - len(self.waiting) - len(self.commands) - self.completions.backlog

    def fetch(self, memory: Memory) -> bool:
        """Read entries up to the tail, as far as there is room; whether all were read."""
        while self.head != self.tail and (room := self.room) > 0:
            end = min(self.tail if self.tail > self.head else self.entries, self.head + room)
            raw = read(memory, self.address + self.head * COMMAND_BYTES, (end - self.head) * COMMAND_BYTES)
            for place in range(0, len(raw), COMMAND_BYTES):
                second = int.from_bytes(raw[place + _PRP2_AT : place + _PRP2_AT + 8], "little")
                self.waiting.append(Command(self, parse_entry(raw, place), second))
            self.head = end % self.entries
        return self.head == self.tail

    def ended(self, command: Command) -> None:
        """A command that had begun has its completion."""
        if self.commands.get(command.entry.cid) is command:
            del self.commands[command.entry.cid]
        self.look_for_end()

    def look_for_end(self) -> None:
        """Call `when_empty` if no command is left."""
        if not self.commands and self.when_empty is not None:
            when_empty, self.when_empty = self.when_empty, None
            when_empty()

    # For the controller, to which it is the connection of a queue.

    def abort(self, cid: int) -> bool:
        """End a command that has not begun; False for one that cannot be ended."""
        for command in self.waiting:
            if command.entry.cid == cid:
                self.waiting.remove(command)
                self.on_abort(command, Reply(TargetStatus.ABORT_REQUESTED))
                return True
        return False

    def close(self) -> None:
        """Forget all commands."""
        for command in self.commands.values():
            command.cancel()
        self.commands.clear()
        self.waiting.clear()
        self.when_empty = None
