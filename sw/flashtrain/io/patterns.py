"""Patterns of access: the directions of a job's commands, and the order of its reads."""

from dataclasses import dataclass
from enum import Enum

from .units import ValueMistake


class Direction(Enum):
    """The direction of a command, by the name that fio has for it."""

    READ = "read"
    APPEND = "write"


@dataclass(frozen=True)
class Pattern:
    """An access pattern. `random` is the order of the reads; appends have no address."""

    name: str
    directions: tuple[Direction, ...]
    random: bool = False

    @property
    def reads(self) -> bool:
        return Direction.READ in self.directions

    @property
    def appends(self) -> bool:
        return Direction.APPEND in self.directions


_BOTH = (Direction.READ, Direction.APPEND)
READ, APPEND = Pattern("read", (Direction.READ,)), Pattern("append", (Direction.APPEND,))
RANDOM_READ = Pattern("randread", (Direction.READ,), random=True)
MIX, RANDOM_MIX = Pattern("rw", _BOTH), Pattern("randrw", _BOTH, random=True)

_BY_NAME = {
    "append": APPEND, "read": READ, "randread": RANDOM_READ, "rw": MIX, "randrw": RANDOM_MIX,
    "write": APPEND, "readwrite": MIX,
}  # fmt: skip
NAMES = ("append", "read", "randread", "rw", "randrw")


def pattern(text: str) -> Pattern:
    """The pattern of a name of fio's."""
    if text not in _BY_NAME:
        raise ValueMistake(f"one of {', '.join(NAMES)}: zones are only appended to")
    return _BY_NAME[text]
