"""How long a reader leaves its die alone."""

from amaranth.lib import enum

from flashtrain.spec import NandTiming
from flashtrain.spec.timing import ns

SUSPENSION = ("tsusp", "tr", "tres")
"""What a read beside adds to the time of a program or erase."""


class ReadWait(enum.Enum, shape=3):
    """What a reader waits for."""

    NEXT_PLANE = 0
    SENSE = 1
    CACHE = 2  # a cache command
    BESIDE = 3  # a read beside a program or erase that can be suspended at once
    BESIDE_NEXT = 4  # one that has only begun when the read beside before was over
    ADVANCE = 5  # as long as that is so
    AGAIN = 6  # the next look after one that came too early
    CHANGE_COLUMN = 7


_NAMES = {
    ReadWait.NEXT_PLANE: ("twb", "tdbsy"),
    ReadWait.SENSE: ("twb", "tr"),
    ReadWait.CACHE: ("twb", "tcbsy"),
    ReadWait.BESIDE: ("tsusp", "tr"),
    ReadWait.BESIDE_NEXT: ("tadv", "tsusp", "tr"),
    ReadWait.ADVANCE: ("tadv",),
    ReadWait.CHANGE_COLUMN: ("tccs",),
}


def wait_clocks(timing: NandTiming) -> dict[ReadWait, int]:
    """Clocks of each wait, at least 1."""
    clocks = {wait: max(sum(map(timing.clocks, names)), 1) for wait, names in _NAMES.items()}
    return clocks | {ReadWait.AGAIN: ns(500).clocks(timing.clock_mhz)}
