"""Operations of the arrays of the dies, and the rate of programs in the steady state."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from .measurement import BenchmarkError


class ArrayKind(Enum):
    """An operation of a die's array."""

    SENSE = 0
    PROGRAM = 1
    ERASE = 2


class ArrayWork(NamedTuple):
    """An operation on one or more planes of a die, from cycle `start` to cycle `end`."""

    kind: ArrayKind
    start: int
    end: int
    channel: int
    die: int
    planes: int


class ArrayRecorder(Protocol):
    """A recorder of the operations of all arrays while the device works."""

    def start(self) -> None: ...

    def stop(self) -> Sequence[ArrayWork]: ...


def starts_of_programs(work: Iterable[ArrayWork]) -> dict[tuple[int, int], list[int]]:
    """Cycles at which programs started, in order, for each die that programmed, by channel and die."""
    starts: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item in work:
        if item.kind is ArrayKind.PROGRAM:
            starts[item.channel, item.die].append(item.start)
    return {place: sorted(times) for place, times in starts.items()}


def programs_per_cycle(work: Iterable[ArrayWork], dies: int, settle: int) -> float:
    """Programs of all `dies` together per cycle in the steady state.

    The first and the last `settle` programs of each die do not count. Raises `BenchmarkError` if a die has
    too few programs for a rate.
    """
    starts = starts_of_programs(work)
    steady = [times[settle : len(times) - settle] for times in starts.values()]
    if len(steady) < dies or any(len(times) < 2 for times in steady):
        raise BenchmarkError(f"{len(steady)} of {dies} dies programmed, too little for a steady state")
    return sum(1 / _interval(times) for times in steady)


def _interval(times: Sequence[int]) -> float:
    """Cycles between two starts: the slope of a straight line through all of them, by least squares.

    A pause (for reads, for example) just before the end therefore has little effect on the result.
    """
    weights = [2 * number - len(times) + 1 for number in range(len(times))]
    return sum(weight * time for weight, time in zip(weights, times, strict=True)) / sum(
        weight * number for number, weight in enumerate(weights)
    )
