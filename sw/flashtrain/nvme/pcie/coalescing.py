"""Interrupts that wait for more completions (NVM Express Base 2.0, sections 5.27.1.6 and 5.27.1.7)."""

from collections.abc import Callable
from typing import Protocol

from flashtrain.nvme.subsystem.features import Features


class Timer(Protocol):
    """A handle of an event loop."""

    def cancel(self) -> None: ...


class Coalescing:
    """Fires a vector for several completions, or when the first that waits has done so for long enough.

    The time is one for all vectors: at its end all fire that have a completion which waits. Vector 0, that of
    the admin queue, does not wait. `later` calls a function after so many units of 100 us.
    """

    def __init__(
        self, features: Features, fire: Callable[[int], None], later: Callable[[int, Callable], Timer]
    ) -> None:
        self._features, self._fire, self._later = features, fire, later
        self._waiting: dict[int, int] = {}
        self._timer: Timer | None = None

    def posted(self, vector: int, completions: int = 1) -> None:
        """So many completions of a vector are in the host's memory."""
        threshold, time = self._features.aggregation
        waiting = self._waiting.get(vector, 0) + completions
        if not threshold or not time or not self._features.coalesces(vector) or waiting > threshold:
            self._waiting.pop(vector, None)
            self._fire(vector)
            return
        self._waiting[vector] = waiting
        if self._timer is None:
            self._timer = self._later(time, self._end)

    def _end(self) -> None:
        self._timer = None
        self.flush()

    def flush(self) -> None:
        """Fire all that wait. The time goes on."""
        waiting, self._waiting = self._waiting, {}
        for vector in sorted(waiting):
            self._fire(vector)

    def stop(self) -> None:
        """Forget what waits."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
