"""What the cells of a run are like, drawn at random."""

from dataclasses import dataclass, replace
from random import Random

from flashtrain.sim.nand_errors import SLC, ErrorModel, Wear, even

DAYS = 365.0
MOST_EVEN = 1.5e-4
"""Raw bit error rate: beyond what a code is made for, and 10 wrong bits in a code word of 544 bytes, which
strength 9 does not correct, come once in 5e8 words."""
LEAST_EVEN = 3e-6


@dataclass(frozen=True)
class Conditions:
    """errors: of the cells; days: that pass after each iteration."""

    errors: ErrorModel
    days: float

    @classmethod
    def random(cls, random: Random, iterations: int) -> "Conditions":
        """Half the runs: worn cells whose data age, up to the end of their class of retention. Half: errors
        at a steady rate.

        Programs and erases do not fail: an append whose program fails ends with WRITE_FAULT.
        """
        seed = random.randrange(1 << 64)
        if random.random() < 0.5:
            rate = LEAST_EVEN * (MOST_EVEN / LEAST_EVEN) ** random.random()
            return cls(even(rate, seed), 0.0)
        errors = replace(
            SLC,
            seed=seed,
            cycles_before=random.randrange(SLC.rated_cycles),
            program_failure=Wear(),
            erase_failure=Wear(),
        )
        return cls(errors, random.random() * DAYS / iterations)
