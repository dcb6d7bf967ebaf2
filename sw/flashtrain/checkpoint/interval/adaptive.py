"""An interval that follows the measurements of a training that runs."""

from math import ceil

from flashtrain.checkpoint.errors import CheckpointPolicyError
from flashtrain.checkpoint.interval.rule import overhead_interval

NEW = 0.25
"""Weight of the newest measurement in the means."""
SLACK = 0.1
"""An interval is not shortened by less than this share, lest it follow noise."""


class AdaptiveInterval:
    """Iterations until the next checkpoint, chosen so that the measured overhead stays below `bound`.

    `observe` takes the measurements of one checkpoint. An overhead above the bound lengthens the interval at
    once to what the means demand. One below shortens it by half of the way, and by `SLACK` at least. Equal
    measurements give equal intervals.

    The part of a stall that waits for the checkpoint before is left out of the means. An interval as long as
    the work in the background has no such part.

    - `interval`: iterations.
    - `overhead`: the share of the time that stalled at the newest measurement, 0 before the first one.
    """

    def __init__(self, bound: float, interval: int = 1) -> None:
        overhead_interval(1.0, 0.0, 0.0, bound)  # refuses bounds that are no share
        if interval < 1:
            raise CheckpointPolicyError(f"an interval of {interval} iterations; expected at least 1")
        self.bound = bound
        self.interval = interval
        self.overhead = 0.0
        self._means: list[float] = []

    def observe(self, iteration_seconds: float, stall_seconds: float, background_seconds: float = 0.0) -> int:
        """Take the measurements of a checkpoint; the interval to the next one.

        - `iteration_seconds`: of an iteration without a checkpoint, the mean since the one before.
        - `stall_seconds`, `background_seconds`: as `overhead_interval` has them.

        Raises `CheckpointPolicyError` for durations that cannot be.
        """
        overhead_interval(iteration_seconds, stall_seconds, background_seconds, self.bound)  # refuses errors
        waited = max(0.0, background_seconds - self.interval * iteration_seconds)
        own_stall = max(0.0, stall_seconds - waited)
        self.overhead = stall_seconds / (self.interval * iteration_seconds + stall_seconds)
        found = (iteration_seconds, own_stall, background_seconds)
        before = self._means or found
        self._means = [old + NEW * (new - old) for old, new in zip(before, found, strict=True)]
        iteration, stall, background = self._means
        target = overhead_interval(iteration, stall, background, self.bound)
        if target > self.interval:
            self.interval = target
        elif target <= self.interval * (1 - SLACK):
            self.interval = ceil((self.interval + target) / 2) if self.interval - target > 1 else target
        return self.interval
