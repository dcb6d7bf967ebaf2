"""A difference of two answers, and a row of a table that explains it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from flashtrain.nvme.wire.commands import AdminOpcode, Entry

from .shape import Shape
from .trial import Outcome, Queue, Trial
from .zones import Zones


class Aspect(Enum):
    """The part of an answer that differs; ZONES: the states of zones afterwards."""

    STATUS = "status"
    DO_NOT_RETRY = "DNR"
    RESULT = "result"
    FACT = "data"
    ZONES = "zones"


@dataclass(frozen=True)
class Case:
    """One difference.

    - fact: the name of the differing part of the data.
    - before: the zones before the command; zones: those of QEMU and ours behind it, if they differ.
    """

    shape: Shape
    trial: Trial
    theirs: Outcome
    ours: Outcome
    before: Zones = ()
    fact: str = ""
    zones: tuple[Zones, Zones] = ((), ())

    @property
    def entry(self) -> Entry:
        return self.trial.entry

    @property
    def statuses(self) -> tuple[int, int]:
        return self.theirs.status, self.ours.status

    @property
    def io(self) -> bool:
        return self.trial.queue is Queue.IO

    def admin(self, opcode: AdminOpcode, low: int | None = None) -> bool:
        """Whether this is such an admin command, with this in the low byte of dword 10."""
        right = self.trial.queue is Queue.ADMIN and self.entry.opcode == opcode
        return right and (low is None or self.entry.dword_10 & 0xFF == low)

    @property
    def last_namespace(self) -> int:
        return max(self.shape.zones)


class Judge(Enum):
    """Whose answer the standard wants."""

    QEMU_DEVIATES = auto()
    BOTH_ALLOWED = auto()
    OURS_DEVIATES = auto()


@dataclass(frozen=True)
class Difference:
    """A row of the table."""

    name: str
    aspect: Aspect
    judge: Judge
    applies: Callable[[Case], bool]
    reason: str
