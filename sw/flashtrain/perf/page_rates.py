"""Pages appended and read beside each other, counted where a bound is: at the buses, and at the arrays.

Each bus and each die is counted from the end of one operation to that of another of its own. All work that
is counted lies wholly within that time. So no rate can exceed the bound for the ratio that is counted.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from .array_work import ArrayKind, ArrayWork
from .die_time import BusKind, BusWork
from .measurement import BenchmarkError


class PageRates(NamedTuple):
    """Pages per cycle, of all buses or of all arrays together."""

    appended: float
    read: float

    @property
    def both(self) -> float:
        return self.appended + self.read


def rates_of_buses(buses: Iterable[BusWork], channels: int) -> PageRates:
    """Pages to and from the dies, on each of so many channels from the end of one page to that of another.

    The gap ahead of a page, or its commands, belong to it.
    """
    ends: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for work in buses:
        if work.kind in (BusKind.DATA_IN, BusKind.DATA_OUT):
            ends[work.channel].append((work.end, work.kind is BusKind.DATA_OUT))
    if len(ends) < channels or min(map(len, ends.values())) < 2:
        raise BenchmarkError(f"{len(ends)} of {channels} channels moved data, too little for a steady state")
    appended, read = 0.0, 0.0
    for pages in map(sorted, ends.values()):
        cycles = pages[-1][0] - pages[0][0]
        out = sum(is_out for _end, is_out in pages[1:])
        appended += (len(pages) - 1 - out) / cycles
        read += out / cycles
    return PageRates(appended, read)


def rates_of_arrays(arrays: Iterable[ArrayWork], begin: int, dies: int) -> PageRates:
    """Pages programmed and sensed, on each of so many dies from the start of one program to that of another.

    No program from before cycle `begin` counts, as the senses that have suspended it may not be known.
    """
    works: dict[tuple[int, int], list[ArrayWork]] = defaultdict(list)
    for work in arrays:
        works[work.channel, work.die].append(work)
    appended, read, counted = 0.0, 0.0, 0
    for of_die in works.values():
        programs = sorted(
            (work.start, work.planes)
            for work in of_die
            if work.kind is ArrayKind.PROGRAM and work.start >= begin
        )
        if len(programs) < 2:
            continue
        first, last = programs[0][0], programs[-1][0]
        counted += 1
        appended += sum(planes for _start, planes in programs[:-1]) / (last - first)
        sensed = (
            work.planes for work in of_die if work.kind is ArrayKind.SENSE and first <= work.start < last
        )
        read += sum(sensed) / (last - first)
    if counted < dies:
        raise BenchmarkError(f"{counted} of {dies} dies programmed, too little for a steady state")
    return PageRates(appended, read)
