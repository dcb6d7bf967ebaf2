"""How often cells and operations fail.

Wear is the number of erases of a block, as a share of `rated_cycles`. The raw bit error rate of a page is a
sum of power laws, as measured chips show it (docs/errors.md):

    either = fresh + wear(wear)              cells that are wrong at once, to either side of the read level
    lost   = retention(wear, days)           programmed cells that lost charge since they were programmed
    gained = disturb(wear, reads)            erased cells that gained charge from reads of their block
    rate   = either f^|level| + lost f^-level + gained f^level        at most 1/2

`level` is the number of steps by which the read level is lower than the best one for new data; f is
`level_factor`. An old page has fewer errors at a lower level, until those of other kinds dominate.
"""

import math
from dataclasses import dataclass, field

from flashtrain.spec.errors import require, require_range

MOST_WRONG = 0.5
SECONDS_PER_DAY = 86_400
LEVELS = range(-15, 16)
"""Steps by which the read level can be lower."""


@dataclass(frozen=True)
class Wear:
    """`rate` at the rated cycles; grows with the power `exponent` of wear."""

    rate: float = 0.0
    exponent: float = 1.0

    def __post_init__(self) -> None:
        _check_rate(self.rate)
        _check_exponent("exponent", self.exponent)

    def at(self, wear: float) -> float:
        return self.rate * wear**self.exponent


@dataclass(frozen=True)
class Ageing:
    """`rate` at the rated cycles after an `amount` of days or reads; grows with powers of both."""

    rate: float = 0.0
    amount: float = 1.0
    wear_exponent: float = 1.0
    exponent: float = 1.0

    def __post_init__(self) -> None:
        _check_rate(self.rate)
        require(self.amount >= 1e-6, "errors.amount", self.amount, "a number from 1e-6 on")
        _check_exponent("wear_exponent", self.wear_exponent)
        _check_exponent("exponent", self.exponent)

    def at(self, wear: float, amount: float) -> float:
        return self.rate * wear**self.wear_exponent * (amount / self.amount) ** self.exponent


@dataclass(frozen=True)
class ErrorModel:
    """Nothing fails unless a parameter says so.

    Parameters
    ----------
    seed
        Another seed, other cells. Same seed: the same, whatever happens to other blocks.
    fresh
        Raw bit error rate of a block that was never erased.
    wear
        What wear adds to it.
    retention, disturb
        What days since the page was programmed add, and reads of the block since its erase.
    transient
        Share of the errors that are others at each sense. All others stay where they are, and become more,
        until the block is erased.
    level_factor
        By how much a step of the read level divides the errors to one side of it, and multiplies those to the
        other.
    program_failure, erase_failure
        Probabilities: of a page's program, of a block's erase. A page whose program failed holds some of its
        zeros only. When an erase failed, so do programs of the block, until an erase passes.
    hang
        Probability that an operation of the array on a plane (program, erase or sense) does not end, nor does
        any that its die begins later.
    rated_cycles
        Erases at which the rates of the other parameters hold.
    cycles_before
        Erases of each block before the simulation begins.
    """

    seed: int = 1
    fresh: float = 0.0
    wear: Wear = field(default_factory=Wear)
    retention: Ageing = field(default_factory=Ageing)
    disturb: Ageing = field(default_factory=Ageing)
    transient: float = 0.1
    level_factor: float = 2.0
    program_failure: Wear = field(default_factory=Wear)
    erase_failure: Wear = field(default_factory=Wear)
    hang: Wear = field(default_factory=Wear)
    rated_cycles: int = 50_000
    cycles_before: int = 0

    def __post_init__(self) -> None:
        require_range("errors.seed", self.seed, 0, 2**64 - 1)
        _check_rate(self.fresh)
        require(0 <= self.transient <= 1, "errors.transient", self.transient, "a number from 0 to 1")
        require(1 <= self.level_factor <= 16, "errors.level_factor", self.level_factor,
                "a number from 1 to 16")  # fmt: skip
        require_range("errors.rated_cycles", self.rated_cycles, 1, 10**9)
        require_range("errors.cycles_before", self.cycles_before, 0, 10**9)

    def wear_of(self, erases: int) -> float:
        """Wear of a block after so many erases in the simulation."""
        return (self.cycles_before + erases) / self.rated_cycles

    def bit_error_rate(self, erases: int = 0, days: float = 0.0, reads: int = 0, level: int = 0) -> float:
        """The raw bit error rate of a page."""
        wear, factor = self.wear_of(erases), self.level_factor
        either = self.fresh + self.wear.at(wear)
        lost = self.retention.at(wear, days)
        gained = self.disturb.at(wear, reads)
        return min(
            MOST_WRONG,
            either * math.pow(factor, abs(level))
            + lost * math.pow(factor, -level)
            + gained * math.pow(factor, level),
        )


def _check_rate(rate: float) -> None:
    require(0 <= rate <= 1, "errors: a rate", rate, "a number from 0 to 1")


def _check_exponent(name: str, exponent: float) -> None:
    require(0 <= exponent <= 10, f"errors.{name}", exponent, "a number from 0 to 10")
