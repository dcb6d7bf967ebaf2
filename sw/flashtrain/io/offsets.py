"""The order of offsets: in sequence, in permutations, or drawn from a distribution."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from .units import ValueMistake, size_bytes

_BATCH = 4096
"""Draws at a time."""
MOST_PERMUTED = 1 << 24
"""Units of a permutation; offsets of a larger file are drawn one by one, as fio does without its map."""
MOST_ZONES = 256
_REST_BYTES = 1 << 62
"""Of a zone without a size: more than any range."""
MOST_RANKS = 10_000_000
"""Ranks that a Zipf distribution sums over, as in fio."""


class Shape(Enum):
    """The shape of a distribution, by fio's name."""

    UNIFORM = "random"
    ZIPF = "zipf"
    PARETO = "pareto"
    NORMAL = "normal"
    ZONED = "zoned"
    ZONED_ABS = "zoned_abs"


@dataclass(frozen=True)
class Distribution:
    """The distribution of random offsets.

    - value: theta of `zipf`, the power of `pareto`, the deviation of `normal` as a percentage of the range.
    - peak: the most probable offset, as a share of the range; None: offsets are spread by a hash for `zipf`
      and `pareto`, and the middle for `normal`.
    - zones: of `zoned` and `zoned_abs`. Each has its share of the draws, and its end: a share of the range,
      or bytes.
    """

    shape: Shape = Shape.UNIFORM
    value: float = 0.0
    peak: float | None = None
    zones: tuple[tuple[float, float], ...] = ()

    @property
    def is_uniform(self) -> bool:
        return self.shape is Shape.UNIFORM

    def draws(self, units: int, random: np.random.Generator, unit_bytes: int = 1) -> Iterator[int]:
        """Numbers from 0 to `units` - 1, without an end; a unit has `unit_bytes`."""
        if self.zones:
            yield from self._zoned(units, random, unit_bytes)
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

    def _zoned(self, units: int, random: np.random.Generator, unit_bytes: int) -> Iterator[int]:
        """Uniform within each zone; of a zone beyond the range the last unit."""
        shares, ends = np.array(self.zones).T
        ends = ends * units if self.shape is Shape.ZONED else ends // unit_bytes
        highs = np.clip(ends.round(), 1, units).astype(np.int64)
        lows = np.minimum(np.r_[0, highs[:-1]], highs - 1)
        while True:
            zones = random.choice(len(shares), _BATCH, p=shares)
            yield from random.integers(lows[zones], highs[zones]).tolist()

    def _normal(self, units: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        peak = (0.5 if self.peak is None else self.peak) * (units - 1)
        while True:
            drawn = random.normal(peak, self.value / 100 * units, _BATCH).round().astype(np.int64)
            yield drawn[(drawn >= 0) & (drawn < units)]


UNIFORM = Distribution()


def distribution(text: str) -> Distribution:
    """A distribution of fio's."""
    name, *numbers = text.split(":")
    if name in (Shape.ZONED.value, Shape.ZONED_ABS.value):
        return Distribution(Shape(name), zones=_zones(numbers, name == Shape.ZONED.value))
    try:
        shape = Shape(name)
        value, peak = (*map(float, numbers), None, None)[:2]
    except ValueError:
        raise ValueMistake(
            "random, zipf:THETA, pareto:POWER, normal:DEVIATION, zoned:LIST or zoned_abs:LIST"
        ) from None
    if shape is Shape.UNIFORM:
        return UNIFORM
    limits = {Shape.ZIPF: (0, 10), Shape.PARETO: (0, 1), Shape.NORMAL: (0, 100)}[shape]
    if value is None or not limits[0] < value < limits[1] or (shape is Shape.ZIPF and value == 1):
        but_one = ", and not 1" if shape is Shape.ZIPF else ""
        raise ValueMistake(f"{name}:VALUE with a value above {limits[0]} and below {limits[1]}{but_one}")
    if len(numbers) > 2 or (peak is not None and not 0 <= peak <= 1):
        raise ValueMistake(f"{name}:VALUE:PEAK with a peak from 0 to 1")
    return Distribution(shape, value, peak)


def _zones(entries: list[str], relative: bool) -> tuple[tuple[float, float], ...]:
    """The zones of `SHARE/SIZE:SHARE/SIZE...`; parts that are left out share the rest of the range."""
    form = "SHARE/SIZE:SHARE/SIZE:... for all directions, with sizes in " + ("%" if relative else "bytes")
    pairs = [entry.partition("/")[::2] for entry in entries]
    try:
        shares = _with_rest([float(share) if share else None for share, _ in pairs])
        if relative:
            sizes = _with_rest([float(size) if size else None for _, size in pairs])
        else:
            sizes = [size_bytes(size) if size else _REST_BYTES for _, size in pairs]
    except ValueError:
        raise ValueMistake(form) from None
    if not 0 < len(pairs) <= MOST_ZONES or abs(sum(shares) - 100) > 1e-6 or min(*shares, *sizes) < 0:
        raise ValueMistake(f"{form}, and shares that add up to 100")
    if relative and sum(sizes) > 100 + 1e-6:
        raise ValueMistake(f"{form} that add up to at most 100")
    ends = accumulate(size / 100 if relative else float(size) for size in sizes)
    return tuple(zip((share / sum(shares) for share in shares), ends, strict=True))


def _with_rest(percentages: list[float | None]) -> list[float]:
    """The percentages; those that are None share what is left of 100."""
    left = 100 - sum(value for value in percentages if value is not None)
    rest = left / max(1, percentages.count(None))
    return [rest if value is None else value for value in percentages]


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
