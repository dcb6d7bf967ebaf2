"""The order of offsets: in sequence, in permutations, or drawn from a distribution."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from .units import ValueMistake

_BATCH = 4096
"""Draws at a time."""
MOST_PERMUTED = 1 << 24
"""Units of a permutation; offsets of a larger file are drawn one by one, as fio does without its map."""
MOST_RANKS = 10_000_000
"""Ranks that a Zipf distribution sums over, as in fio."""


class Shape(Enum):
    """The shape of a distribution, by fio's name."""

    UNIFORM = "random"
    ZIPF = "zipf"
    PARETO = "pareto"
    NORMAL = "normal"


@dataclass(frozen=True)
class Distribution:
    """The distribution of random offsets.

    - value: theta of `zipf`, the power of `pareto`, the deviation of `normal` as a percentage of the range.
    - peak: the most probable offset, as a share of the range; None: offsets are spread by a hash for `zipf`
      and `pareto`, and the middle for `normal`.
    """

    shape: Shape = Shape.UNIFORM
    value: float = 0.0
    peak: float | None = None

    @property
    def is_uniform(self) -> bool:
        return self.shape is Shape.UNIFORM

    def draws(self, units: int, random: np.random.Generator) -> Iterator[int]:
        """Numbers from 0 to `units` - 1, without an end."""
        make = {
            Shape.UNIFORM: self._uniform, Shape.ZIPF: self._zipf, Shape.PARETO: self._pareto,
            Shape.NORMAL: self._normal,
        }[self.shape]  # fmt: skip
        ranks = make(units, random)
        place = int(random.integers(units)) if self.peak is None else int(self.peak * (units - 1))
        # An odd factor without a common divisor permutes the ranks, so that neighbours in rank are apart.
        factor = _coprime(units) if self.peak is None else 1
        while True:
            batch = next(ranks)
            if self.shape in (Shape.ZIPF, Shape.PARETO):
                batch = (batch * factor + place) % units
            yield from batch.tolist()

    def _uniform(self, units: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        while True:
            yield random.integers(0, units, _BATCH)

    def _zipf(self, units: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994, section 3.2."""
        theta = self.value
        total = float((np.arange(1, min(units, MOST_RANKS) + 1) ** -theta).sum())
        both = 1 + 0.5**theta
        eta = (1 - (2 / units) ** (1 - theta)) / (1 - both / total) if units > 2 else 1.0
        while True:
            u = random.random(_BATCH)
            ranks = (units * np.maximum(eta * u - eta + 1, 0) ** (1 / (1 - theta))).astype(np.int64)
            ranks[u * total < both] = 1
            ranks[u * total < 1] = 0
            yield np.clip(ranks, 0, units - 1)

    def _pareto(self, units: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """A share of `value` of the range gets 1 - `value` of the draws."""
        power = np.log(self.value) / np.log(1 - self.value)
        while True:
            yield ((units - 1) * random.random(_BATCH) ** power).astype(np.int64)

    def _normal(self, units: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        peak = (0.5 if self.peak is None else self.peak) * (units - 1)
        while True:
            drawn = random.normal(peak, self.value / 100 * units, _BATCH).round().astype(np.int64)
            yield drawn[(drawn >= 0) & (drawn < units)]


UNIFORM = Distribution()


def distribution(text: str) -> Distribution:
    """A distribution of fio's; `zoned` and `zoned_abs` are refused."""
    name, *numbers = text.split(":")
    try:
        shape = Shape(name)
        value, peak = (*map(float, numbers), None, None)[:2]
    except ValueError:
        raise ValueMistake("random, zipf:THETA, pareto:POWER or normal:DEVIATION") from None
    if shape is Shape.UNIFORM:
        return UNIFORM
    limits = {Shape.ZIPF: (0, 10), Shape.PARETO: (0, 1), Shape.NORMAL: (0, 100)}[shape]
    if value is None or not limits[0] < value < limits[1] or (shape is Shape.ZIPF and value == 1):
        but_one = ", and not 1" if shape is Shape.ZIPF else ""
        raise ValueMistake(f"{name}:VALUE with a value above {limits[0]} and below {limits[1]}{but_one}")
    if len(numbers) > 2 or (peak is not None and not 0 <= peak <= 1):
        raise ValueMistake(f"{name}:VALUE:PEAK with a peak from 0 to 1")
    return Distribution(shape, value, peak)


def permutations(units: int, random: np.random.Generator) -> Iterator[int]:
    """Each unit once in each round, in another order each time, without an end."""
    while True:
        order = random.permutation(units)
        for first in range(0, units, _BATCH):
            yield from order[first : first + _BATCH].tolist()


def _coprime(units: int) -> int:
    """A number near the golden section of `units` that has no divisor in common with it."""
    first = max(1, round(units * 0.6180339887))
    return next(islice((n for n in range(first, first + units + 1) if np.gcd(n, units) == 1), 1))
