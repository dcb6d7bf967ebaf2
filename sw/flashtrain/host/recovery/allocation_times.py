"""Allocation times of physical zones, from which recovery derives the age of data."""

from typing import NamedTuple

from flashtrain.spec.journal import MOMENTS


class Moment(NamedTuple):
    """The sequence number of the next allocation at a time, in seconds of the device's clock."""

    sequence: int
    time: int


def noted(moments: tuple[Moment, ...], now: Moment) -> tuple[Moment, ...]:
    """The moments with `now` added, in their order, at most `MOMENTS` of them.

    Data of a dropped moment seem as old as the moment before it. The dropped moment is therefore the one
    closest to the one before. After the clock was set back, no moment is later than `now`.
    """
    known = [Moment(sequence, min(time, now.time)) for sequence, time in moments]
    if known and known[-1].time == now.time:
        return tuple(known)
    if known and known[-1].sequence == now.sequence:
        known.pop()  # nothing was allocated since
    known.append(now)
    if len(known) > MOMENTS:
        gaps = {known[i].time - known[i - 1].time: i for i in range(len(known) - 1, 0, -1)}
        del known[gaps[min(gaps)]]
    return tuple(known)


def time_of(moments: tuple[Moment, ...], sequence: int) -> int:
    """The earliest possible time of this allocation; 0 if unknown."""
    return max((moment.time for moment in moments if moment.sequence <= sequence), default=0)
