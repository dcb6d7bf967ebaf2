"""Shares of the time of the dies' arrays: their operations, and the use of the bus while they are idle."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .array_work import ArrayKind, ArrayWork


class BusKind(Enum):
    """An operation on the bus of a channel."""

    COMMAND = 10
    DATA_IN = 11
    DATA_OUT = 12
    STATUS = 13


class BusWork(NamedTuple):
    """An operation on the bus of a channel for one of its dies, from cycle `start` to cycle `end`."""

    kind: BusKind
    start: int
    end: int
    channel: int
    die: int


class DeviceTrace(NamedTuple):
    """Operations of all arrays and all buses that ended within a stretch of time."""

    arrays: Sequence[ArrayWork]
    buses: Sequence[BusWork]


class DeviceTracer(Protocol):
    """A recorder of the operations of arrays and buses while the device works."""

    def start(self) -> None: ...

    def stop(self) -> DeviceTrace: ...


ARRAY = {ArrayKind.PROGRAM: "programs", ArrayKind.SENSE: "senses", ArrayKind.ERASE: "erases"}
DATA_IN, DATA_OUT = "idle: its data come in", "idle: its data go out"
OTHER_DIE, COMMANDS, BUS_IDLE = "idle: data of another die", "idle: commands, status", "idle: the bus is idle"


def array_shares(trace: DeviceTrace, begin: int, dies: int) -> dict[str, float]:
    """Shares of the time of all arrays from cycle `begin` to the end of each one's last operation.

    The shares of an idle array are named after the operations on the bus of its channel of `dies` dies. A
    sense that suspends a program or an erase is not part of that operation's share.
    """
    arrays: dict[tuple[int, int], list[ArrayWork]] = defaultdict(list)
    for work in trace.arrays:
        arrays[work.channel, work.die].append(work)
    buses = {}
    for work in trace.buses:
        buses.setdefault(work.channel, _Bus(dies)).add(work)
    cycles: dict[str, float] = dict.fromkeys(
        [*ARRAY.values(), DATA_IN, DATA_OUT, OTHER_DIE, COMMANDS, BUS_IDLE], 0
    )
    for (channel, die), works in arrays.items():
        busy_until, suspended = begin, ArrayKind.SENSE
        gaps = []
        for work in sorted(works, key=lambda work: work.start):
            start = max(work.start, begin)
            cycles[ARRAY[work.kind]] += work.end - start
            if start < busy_until:
                cycles[ARRAY[suspended]] -= min(work.end, busy_until) - start
            else:
                gaps.append((busy_until, start))
            if work.end > busy_until:
                busy_until, suspended = work.end, work.kind
        idle = np.array(gaps).reshape(-1, 2)
        for text, share in buses.get(channel, _Bus(dies)).during(die, idle).items():
            cycles[text] += share
    total = sum(cycles.values())
    return {text: count / total for text, count in cycles.items()} if total else {}


class _Bus:
    """Operations of one channel's bus, to be asked how much of a time they took."""

    def __init__(self, dies: int) -> None:
        self._times: dict[tuple[BusKind, int], list[tuple[int, int]]] = defaultdict(list)
        self._dies = dies

    def add(self, work: BusWork) -> None:
        self._times[work.kind, work.die].append((work.start, work.end))

    def during(self, die: int, gaps: NDArray[np.int64]) -> dict[str, float]:
        """Cycles of `gaps` (rows of start, end) by what the bus did, as seen by one of its dies."""

        def busy(kinds: Iterable[BusKind], dies: Iterable[int]) -> float:
            return sum(_overlap(self._times.get((kind, d), []), gaps) for kind in kinds for d in dies)

        others = [number for number in range(self._dies) if number != die]
        shares = {
            DATA_IN: busy([BusKind.DATA_IN], [die]),
            DATA_OUT: busy([BusKind.DATA_OUT], [die]),
            OTHER_DIE: busy([BusKind.DATA_IN, BusKind.DATA_OUT], others),
            COMMANDS: busy([BusKind.COMMAND, BusKind.STATUS], range(self._dies)),
        }
        rest = float((gaps[:, 1] - gaps[:, 0]).sum()) - sum(shares.values())
        return {**shares, BUS_IDLE: max(rest, 0.0)}


def _overlap(times: list[tuple[int, int]], gaps: NDArray[np.int64]) -> float:
    """Cycles that `times`, which do not overlap each other, have in common with `gaps`."""
    if not times:
        return 0.0
    edges = np.array(sorted(times), float)
    lengths = edges[:, 1] - edges[:, 0]
    after = np.cumsum(lengths)
    busy_until = np.column_stack((after - lengths, after)).ravel()
    return float(np.diff(np.interp(gaps, edges.ravel(), busy_until), axis=1).sum())
