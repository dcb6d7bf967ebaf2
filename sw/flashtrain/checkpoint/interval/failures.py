"""Failures of a machine over time: evenly spaced, at random, and those of a public trace."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flashtrain.checkpoint.errors import CheckpointPolicyError

DAY = 86_400.0
"""Seconds."""


@dataclass(frozen=True)
class FailureTrace:
    """Failures at `times`, ascending, in `seconds` of observation."""

    seconds: float
    times: tuple[float, ...]

    def __post_init__(self) -> None:
        order = (0.0, *self.times, self.seconds)
        if self.seconds <= 0 or any(b < a for a, b in pairwise(order)):
            raise CheckpointPolicyError(
                f"failures at {self.times} in {self.seconds:g} s; expected ascending times in it"
            )

    @property
    def per_second(self) -> float:
        return len(self.times) / self.seconds

    @property
    def per_day(self) -> float:
        return DAY * self.per_second

    @property
    def runs(self) -> tuple[float, ...]:
        """Seconds that end with a failure, in order; the last ones end with the observation."""
        return tuple(b - a for a, b in pairwise((0.0, *self.times, self.seconds)))


PREEMPTIONS = FailureTrace(
    13_482.0, (630.0, 693.0, 6489.0, 7119.0, 7560.0, 8001.0, 9576.0, 10_395.0, 13_104.0, 13_167.0)
)
"""The times at which four GPUs or more are taken away in PCcheck's public trace, sampled every 63 s.

PCcheck counts 51 failures: 14 of them for the 56 GPUs of the first sample, and 12 for GPUs that come back.
The other 25 are at these ten times.
"""

PUBLISHED_FAILURES = 51
"""PCcheck's count for these 13,482 s, which its goodput takes."""


def even_failures(count: int, seconds: float) -> FailureTrace:
    """`count` failures, each after an equal time."""
    return FailureTrace(seconds, tuple(seconds * (i + 1) / (count + 1) for i in range(count)))


def poisson_failures(per_second: float, seconds: float, seed: int) -> FailureTrace:
    """Failures at random with an expected rate, independent of each other; equal seeds give equal times."""
    if per_second < 0:
        raise CheckpointPolicyError(f"{per_second:g} failures a second; expected 0 or more")
    random = np.random.default_rng(seed)
    count = random.poisson(per_second * seconds)
    return FailureTrace(seconds, tuple(sorted(random.uniform(0, seconds, count).tolist())))
