"""Lines of the log that peers cause: some of each kind in a minute, and then a count."""

from collections import Counter
from collections.abc import Callable
from enum import Enum

WINDOW_SECONDS = 60.0


class Notice(Enum):
    """Kinds of lines: the words behind a count, and the most lines in `WINDOW_SECONDS`."""

    FAILED_PROOF = "authentications failed", 1
    NOT_ALLOWED = "connects of hosts that are not allowed", 1
    TURNED_AWAY = "connections ended for others that came in", 1
    OVERDUE = "connections ended for their silence", 1
    WRONG_PDU = "connections ended for wrong PDUs", 4
    FULL = "hosts for which there was no controller", 1
    CONTROLLER = "controllers", 16
    KEEP_ALIVE = "hosts silent beyond their keep-alive time", 4
    FATAL = "controllers stopped by an error of their host", 4
    REPEATED = "refused commands sent again", 4

    def __init__(self, words: str, lines: int) -> None:
        self.words, self.lines = words, lines


MOST_LINES = sum(kind.lines + 1 for kind in Notice)
"""Lines that peers cause in `WINDOW_SECONDS`, at most."""


class Notices:
    """Passes lines on to `say`, as many as their kind may have in a window."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._noted: Counter[Notice] = Counter()
        self._until: float | None = None

    def note(self, kind: Notice, line: str) -> None:
        self._noted[kind] += 1
        if self._noted[kind] <= kind.lines:
            self._say(line)

    def pass_time(self, now: float) -> None:
        """Begin another window if the last one is over; `now` is in seconds."""
        if self._until is None or now >= self._until:
            self._until = now + WINDOW_SECONDS
            self.end_window()

    def end_window(self) -> None:
        """Report how many lines were left out."""
        noted, self._noted = self._noted, Counter()
        for kind, count in noted.items():
            if count > kind.lines:
                self._say(f"{count - kind.lines:,} more {kind.words}")
