"""Saves of a training that runs, at intervals that keep their overhead below a bound."""

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from flashtrain.checkpoint.interval.adaptive import AdaptiveInterval
from flashtrain.checkpoint.stores.retention import Retention
from flashtrain.checkpoint.stores.store import CheckpointStore, Saving, prune


class PacedSaves:
    """Saves checkpoints to `store` when their interval is over, and measures what they cost.

    The training calls :meth:`iteration` at the end of each iteration. The stall is the time that this call
    takes for a save; the save itself goes on in the background. The measurements of each save set the
    interval to the next one.

    - clock: the time in seconds: of the device (`device.cycles`), or `time.monotonic`.
    - retention: which checkpoints are kept.
    - saves: checkpoints so far.
    """

    def __init__(
        self,
        store: CheckpointStore,
        interval: AdaptiveInterval,
        clock: Callable[[], float],
        retention: Retention = Retention(last=1),
    ) -> None:
        self._store = store
        self._interval = interval
        self._clock = clock
        self._retention = retention
        self._saving: Saving | None = None
        self._begun = self._ended = clock()
        self._iteration_seconds = 0.0  # of the iterations since the last save began
        self._iterations = 0
        self._stall_seconds = self._background_seconds = 0.0
        self.saves = 0

    def iteration(
        self, step: int, arrays: Callable[[], Mapping[str, NDArray[Any]]], host: bytes = b""
    ) -> bool:
        """Note the end of iteration `step`, and save `arrays()` if it is time; whether it was.

        The checkpoint is called `step 7`, for example. Raises the errors of the store.
        """
        now = self._clock()
        self._iteration_seconds += now - self._ended
        self._iterations += 1
        self._look(now)
        due = self._iterations >= self._interval.interval
        if due:
            if self.saves:
                each = self._iteration_seconds / self._iterations
                self._interval.observe(each, self._stall_seconds, self._background_seconds)
            self._save(step, arrays(), host)
        self._ended = self._clock()
        return due

    def finish(self) -> None:
        """Wait for the save that is under way, if there is one."""
        if self._saving is not None:
            self._saving.result()
            self._look(self._clock())

    def _save(self, step: int, arrays: Mapping[str, NDArray[Any]], host: bytes) -> None:
        self._begun = self._clock()
        self.finish()
        prune(self._store, self._retention)
        self._saving = self._store.save_async(f"step {step}", step, arrays, host)
        self.saves += 1
        self._iterations, self._iteration_seconds = 0, 0.0
        self._stall_seconds = self._clock() - self._begun
        self._background_seconds = 0.0

    def _look(self, now: float) -> None:
        """Go on with the save under way; note how long it took when it has ended."""
        if self._saving is None:
            return
        self._saving.advance()
        self._background_seconds = now - self._begun
        if self._saving.done:
            self._saving = None
