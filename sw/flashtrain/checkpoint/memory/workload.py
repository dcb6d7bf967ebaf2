"""Waits for data, drawn at random."""

from dataclasses import replace

import numpy as np

from flashtrain.checkpoint.memory.errors import JobError
from flashtrain.checkpoint.memory.job import Job, Wait


def with_waits(
    job: Job, share: float, mean_seconds: float, planned: float, random: np.random.Generator
) -> Job:
    """`job` with waits for data before iterations that are drawn at random.

    - `share`: of the time of the job alone that waits take, on average.
    - `mean_seconds`: of the lengths, which have an exponential distribution.
    - `planned`: share of the waits whose end is known when they begin.
    """
    if not 0 <= share < 1 or not 0 <= planned <= 1:
        raise JobError(f"shares of {share} and {planned}; expected 0 to below 1, and 0 to 1")
    if not mean_seconds > 0:
        raise JobError(f"waits of {mean_seconds} s; expected above 0")
    wanted = job.compute_seconds * share / (1 - share) / mean_seconds
    count = min(job.iterations, int(wanted + random.random()))
    places = np.sort(random.choice(job.iterations, count, replace=False))
    lengths = np.maximum(random.exponential(mean_seconds, count), mean_seconds / 1000)
    known = random.random(count) < planned
    waits = (Wait(int(p), float(s), bool(k)) for p, s, k in zip(places, lengths, known, strict=True))
    return replace(job, waits=tuple(waits))
