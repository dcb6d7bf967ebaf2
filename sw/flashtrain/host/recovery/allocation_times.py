"""When physical zones were allocated, as far as the journal has to know it to tell the age of data."""

from typing import NamedTuple

LIMIT = 16
"""So many moments are kept."""


class Moment(NamedTuple):
    """The next allocation had number `sequence` at this time, in seconds of the device's clock."""

    sequence: int
    time: int


def noted(moments: tuple[Moment, ...], now: Moment) -> tuple[Moment, ...]:
    """With what is known now: in their order, at most `LIMIT` of them.

    One that is left out makes data seem older than they are, at most as old as the one before it: that one
    goes which matters least. When the clock was set back nothing is from the future.
    """
    known = [Moment(sequence, min(time, now.time)) for sequence, time in moments]
    if known and known[-1].time == now.time:
        return tuple(known)
    if known and known[-1].sequence == now.sequence:
        known.pop()  # nothing was allocated since
    known.append(now)
    if len(known) > LIMIT:
        gaps = {known[i].time - known[i - 1].time: i for i in range(len(known) - 1, 0, -1)}
        del known[gaps[min(gaps)]]
    return tuple(known)


def time_of(moments: tuple[Moment, ...], sequence: int) -> int:
    """The earliest time at which this allocation may have been; 0 if nobody knows."""
    return max((moment.time for moment in moments if moment.sequence <= sequence), default=0)
