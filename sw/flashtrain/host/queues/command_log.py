"""A log of the commands of a device, from their submission to their completion, with labels of their user."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from flashtrain.spec import Port

from .entries import Command, CompletionEntry

MOST_COMMANDS = 500_000
"""Commands that a log keeps, unless it is told otherwise."""

_label: ContextVar[str] = ContextVar("label", default="")


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Commands that this thread submits within the block have this label, such as the name of a tensor."""
    token = _label.set(label)
    try:
        yield
    finally:
        _label.reset(token)


def current_label() -> str:
    """The label of commands that this thread submits now; empty without one."""
    return _label.get()


@dataclass(eq=False)
class LoggedCommand:
    """A command in its port's queue; times in cycles.

    - submitted: the driver was asked for it. queued: it was put into the queue.
    - completed: the driver collected its completion; None: it has not done so.
    """

    port: Port
    cid: int
    command: Command
    label: str
    submitted: int
    queued: int
    completed: int | None = None
    completion: CompletionEntry | None = None


class CommandLog:
    """The commands in flight at any time between :meth:`open` and :meth:`close`, in the order of queueing.

    Members
    -------
    commands: those that are kept.
    full: more than `most` were in flight; the later ones are left out.
    """

    def __init__(self, most: int = MOST_COMMANDS) -> None:
        self.commands: list[LoggedCommand] = []
        self.full = False
        self._most = most
        self._begin: int | None = None
        self._end: int | None = None
        self._in_flight: dict[tuple[Port, int], LoggedCommand] = {}

    def open(self, begin: int, end: int | None = None) -> None:
        """Keep commands from this cycle on, those in flight then included, to before cycle `end`."""
        self._begin, self._end = begin, end

    def close(self, end: int) -> None:
        """Keep no command that is queued from this cycle on; those in flight get their completion."""
        self._end = end if self._end is None else min(self._end, end)

    def finish(self) -> list[LoggedCommand]:
        """The commands that were kept, and those still in flight, in the order of queueing."""
        return sorted((*self.commands, *self._in_flight.values()), key=lambda command: command.queued)

    # For the dispatcher.

    def note_queued(
        self, port: Port, cid: int, command: Command, label: str, submitted: int, now: int
    ) -> None:
        if self._end is not None and now >= self._end:
            return
        if len(self.commands) + len(self._in_flight) >= self._most:
            self.full = True
            return
        self._in_flight[port, cid] = LoggedCommand(port, cid, command, label, submitted, now)

    def note_completed(self, port: Port, completion: CompletionEntry, now: int) -> None:
        logged = self._in_flight.pop((port, completion.cid), None)
        if logged is None:
            return
        logged.completed, logged.completion = now, completion
        if self._begin is not None and now >= self._begin:
            self.commands.append(logged)
