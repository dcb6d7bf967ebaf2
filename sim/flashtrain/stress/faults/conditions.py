"""Random conditions of a run: errors of the cells, blocks that break, dies that hang."""

from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from flashtrain.host.state.optimizer_state import ATTEMPTS
from flashtrain.sim.nand.errors import (
    SLC,
    ErrorModel,
    FactoryMark,
    Wear,
    as_spares_last,
    even,
    factory_marks,
)
from flashtrain.spec import Geometry

DAYS = 365.0
MOST_EVEN = 1.5e-4
"""Raw bit error rate: beyond what a code is made for, and 10 wrong bits in a code word of 544 bytes, which
strength 9 does not correct, come once in 5e8 words."""
LEAST_EVEN = 3e-6
MOST_HANGS, LEAST_HANGS = 1e-2, 1e-4
"""Probability that an operation of the array hangs: from the first iteration on, to in few runs at all."""


class BrokenBlock(NamedTuple):
    """From the end of an iteration on (0: from the beginning) programs and erases of this block fail."""

    iteration: int
    channel: int
    die: int
    plane: int
    block: int


@dataclass(frozen=True)
class Conditions:
    """errors: of the cells; days: that pass after each iteration; broken: zones' own blocks or spares;
    marked: those that are bad from the factory."""

    errors: ErrorModel
    days: float
    broken: tuple[BrokenBlock, ...] = ()
    marked: tuple[FactoryMark, ...] = ()

    @classmethod
    def random(cls, random: Random, iterations: int, geometry: Geometry) -> "Conditions":
        """Half the runs: worn cells whose data age, up to the end of their class of retention. Half: errors
        at a steady rate. In both blocks are bad from the factory, and break: not more than a plane has
        spares, and fewer break than an update has attempts.
        """
        seed = random.randrange(1 << 64)
        broken = _broken_blocks(random, iterations, geometry)
        places = [(block.channel, block.die, block.plane) for block in broken]
        marked = tuple(as_spares_last(geometry, factory_marks(geometry, seed), places))
        if random.random() < 0.5:
            rate = LEAST_EVEN * (MOST_EVEN / LEAST_EVEN) ** random.random()
            return cls(even(rate, seed), 0.0, broken, marked)
        errors = replace(
            SLC,
            seed=seed,
            cycles_before=random.randrange(SLC.rated_cycles),
            program_failure=Wear(),
            erase_failure=Wear(),
        )
        return cls(errors, random.random() * DAYS / iterations, broken, marked)

    def hanging(self, random: Random) -> "Conditions":
        """The same, and operations hang, each with their die from then on."""
        rate = LEAST_HANGS * (MOST_HANGS / LEAST_HANGS) ** random.random()
        return replace(self, errors=replace(self.errors, hang=Wear(rate, exponent=0.0)))


def _broken_blocks(random: Random, iterations: int, g: Geometry) -> tuple[BrokenBlock, ...]:
    count = random.randrange(min(ATTEMPTS, g.spare_blocks + 1))
    return tuple(
        BrokenBlock(
            random.randrange(iterations),
            random.randrange(g.channels),
            random.randrange(g.dies),
            random.randrange(g.planes),
            random.randrange(g.blocks),
        )
        for _ in range(count)
    )
