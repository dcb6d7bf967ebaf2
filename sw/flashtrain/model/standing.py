"""Where commands stand that are not answered: what each of them waits for, in words."""

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

STANDING = np.dtype([("id", np.uint32), ("awaited", np.uint32), ("number", np.uint32)])
"""A command that is not answered; `standing.h` has the meaning of the fields."""

_MOST_NAMED = 4


class Awaited(IntEnum):
    """The events that a command may wait for; `standing.h` has the meaning of the members."""

    COMPLETION_QUEUE = 0
    FETCH = 1
    OTHERS = 2
    ERASED_ZONE = 3
    TAG = 4
    WRITES = 5
    ROOM = 6
    FLUSH = 7
    READS = 8
    LOOKUP = 9
    EVENTS = 10


_WORDS = {
    Awaited.COMPLETION_QUEUE: "room in the completion queue of its port",
    Awaited.FETCH: "its turn in the zone manager",
    Awaited.OTHERS: "commands in flight that it depends on",
    Awaited.ERASED_ZONE: "an erased zone",
    Awaited.TAG: "a tag",
    Awaited.WRITES: "the write jobs before it",
    Awaited.ROOM: "room for its next page in the write buffer of channel {}",
    Awaited.FLUSH: "the channels' flush",
    Awaited.READS: "the reads before it, or writes that it follows",
    Awaited.LOOKUP: "the lookup of its next page in channel {}",
    Awaited.EVENTS: "{} events (pages moved, programs ended) of pages that the channels have",
}


def described(standings: NDArray[np.void], name: Callable[[int], str]) -> str:
    """The first of these commands, dtype `STANDING`, and what they wait for; name(id): a command in words."""
    if not len(standings):
        return "every command is answered"
    parts = [
        f"{name(int(each['id']))} waits for "
        + _WORDS[Awaited(int(each["awaited"]))].format(int(each["number"]))
        for each in standings[:_MOST_NAMED]
    ]
    more = len(standings) - _MOST_NAMED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
