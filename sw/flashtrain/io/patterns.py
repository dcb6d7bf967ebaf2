"""Patterns of access: the directions of a job's commands, and the order of their offsets."""

from dataclasses import dataclass, replace
from enum import Enum

from .units import ValueMistake, byte_count, integer

MOST_RUN = 1_000_000
"""Commands for a random offset."""


class Direction(Enum):
    """The direction of a command, by the name that fio has for it. A zoned drive appends what is written."""

    READ = "read"
    WRITE = "write"
    TRIM = "trim"


@dataclass(frozen=True)
class Pattern:
    """An access pattern. `random` is the order of the offsets.

    - step: bytes from the end of a command to the next one, of a sequence.
    - run: commands for each random offset.
    """

    name: str
    directions: tuple[Direction, ...]
    random: bool = False
    step: int = 0
    run: int = 1

    @property
    def reads(self) -> bool:
        return Direction.READ in self.directions

    @property
    def writes(self) -> bool:
        return Direction.WRITE in self.directions

    @property
    def needs_data(self) -> bool:
        """Whether the blocks are stored before the measurement."""
        return Direction.WRITE not in self.directions or self.is_mix

    @property
    def trims(self) -> bool:
        return Direction.TRIM in self.directions

    @property
    def is_mix(self) -> bool:
        return self.reads and self.writes


_BOTH = (Direction.READ, Direction.WRITE)
READ, WRITE = Pattern("read", (Direction.READ,)), Pattern("write", (Direction.WRITE,))
RANDOM_READ = Pattern("randread", (Direction.READ,), random=True)
RANDOM_WRITE = Pattern("randwrite", (Direction.WRITE,), random=True)
TRIM = Pattern("trim", (Direction.TRIM,))
RANDOM_TRIM = Pattern("randtrim", (Direction.TRIM,), random=True)
MIX, RANDOM_MIX = Pattern("rw", _BOTH), Pattern("randrw", _BOTH, random=True)

_BY_NAME = {
    "read": READ, "write": WRITE, "append": WRITE, "randread": RANDOM_READ, "randwrite": RANDOM_WRITE,
    "rw": MIX, "readwrite": MIX, "randrw": RANDOM_MIX, "trim": TRIM, "randtrim": RANDOM_TRIM,
}  # fmt: skip


def pattern(text: str) -> Pattern:
    """The pattern of a name of fio's, as `read`, `read:STEP` or `randread:RUN`; `append` is `write`."""
    name, colon, modifier = text.partition(":")
    if name not in _BY_NAME:
        raise ValueMistake(f"one of {', '.join(_BY_NAME)}")
    found = _BY_NAME[name]
    if not colon:
        return found
    if not found.random:
        sign = -1 if modifier.startswith("-") else 1
        return replace(found, name=text, step=sign * byte_count(modifier.removeprefix("-")))
    return replace(found, name=text, run=integer(1, MOST_RUN)(modifier))
