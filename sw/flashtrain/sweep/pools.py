"""Pools that carry out points: one process after the other, or several on this machine."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from dataclasses import dataclass
from typing import Protocol

from .errors import SweepStopped
from .point import Outcome, Point

Run = Callable[[Point], Outcome]
"""A function that other processes find by its module and name."""


class Pool(Protocol):
    """Processes for the jobs of a sweep."""

    def outcomes(self, run: Run, points: Sequence[Point]) -> Iterator[Outcome]:
        """The outcome of each point, as they come; raises `SweepStopped` if the processes are gone."""
        ...


class SerialPool:
    """This process."""

    def outcomes(self, run: Run, points: Sequence[Point]) -> Iterator[Outcome]:
        return map(run, points)


@dataclass(frozen=True)
class LocalPool:
    """The processes of an executor."""

    executor: Executor

    def outcomes(self, run: Run, points: Sequence[Point]) -> Iterator[Outcome]:
        futures = [self.executor.submit(run, point) for point in points]
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenExecutor as error:
                raise SweepStopped(
                    "a worker process ended abruptly; the same command continues with the other points"
                ) from error
