"""Runs the points of a sweep that its journal does not have."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .journal import Journal
from .point import Outcome, Point
from .pools import Pool, Run


@dataclass
class Tally:
    """The progress of a sweep: `total` points, of which `kept` were complete before."""

    total: int
    kept: int
    started: float
    done: int = 0
    failed: list[Outcome] = field(default_factory=list)

    def __str__(self) -> str:
        complete = self.kept + self.done
        text = f"{complete:,} of {self.total:,} points"
        if self.failed:
            text += f", {len(self.failed):,} failed"
        ended, left = self.done + len(self.failed), self.total - complete - len(self.failed)
        if ended and left:
            text += f", {(time.monotonic() - self.started) / ended * left:,.0f} s left"
        return text


def run_sweep(
    points: Sequence[Point], journal: Journal, pool: Pool, run: Run, progress: Callable[[Tally], None]
) -> Tally:
    """Carry out each point without an outcome in `journal`, and add its outcome there.

    A point that fails is not complete: the next sweep tries it again.
    """
    left = [point for point in points if point.key not in journal.outcomes]
    tally = Tally(len(points), len(points) - len(left), time.monotonic())
    if not left:
        return tally
    progress(tally)
    for outcome in pool.outcomes(run, left):
        if outcome.error is None:
            journal.add(outcome)
            tally.done += 1
        else:
            tally.failed.append(outcome)
        progress(tally)
    return tally
