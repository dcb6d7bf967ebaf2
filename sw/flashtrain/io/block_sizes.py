"""The sizes of a job's commands: one, a range, or several with their shares."""

import re
from dataclasses import dataclass

import numpy as np

from .patterns import Direction
from .units import ValueMistake, size_bytes

MOST_SIZES = 256
"""Sizes of a split, or of a range in steps of its least one."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of a command in one direction: `bytes` with `weights`, which add up to 1."""

    bytes: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def least(self) -> int:
        return min(self.bytes)

    @property
    def most(self) -> int:
        return max(self.bytes)

    def draw(self, random: np.random.Generator) -> int:
        """The bytes of the next command."""
        if len(self.bytes) == 1:
            return self.bytes[0]
        return self.bytes[int(random.choice(len(self.bytes), p=self.weights))]


@dataclass(frozen=True)
class BlockSizes:
    """The sizes of a job's reads, writes and trims; trim: None for those of writes."""

    read: Sizes
    write: Sizes
    trim: Sizes | None = None

    def of(self, direction: Direction) -> Sizes:
        if direction is Direction.TRIM:
            return self.trim or self.write
        return self.read if direction is Direction.READ else self.write

    @property
    def least(self) -> int:
        return min(self.of(each).least for each in Direction)

    @property
    def most(self) -> int:
        return max(self.of(each).most for each in Direction)


def one_size(count: int) -> Sizes:
    return Sizes((count,), (1.0,))


def fixed(text: str) -> BlockSizes:
    """`SIZE`, or `READS,WRITES[,TRIMS]`; an empty part is 4k."""
    parts = _by_direction(text)
    if len(parts) == 1 and not parts[0]:
        raise ValueMistake("a number of bytes above 0, such as 4k, 64k or 1m")
    return _of([one_size(size_bytes(part)) if part else one_size(4096) for part in parts])


def ranged(text: str) -> BlockSizes:
    """`LEAST-MOST`, or one such range for each direction: all multiples of the least one are as probable."""
    return _of([_range(part) for part in re.split("[,/]", text)])


def split(text: str) -> BlockSizes:
    """`SIZE/PERCENT:SIZE/PERCENT:...`, by direction; sizes without a percentage share the rest."""
    return _of([_split(part) for part in _by_direction(text)])


def _by_direction(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise ValueMistake("at most three values: of reads, of writes and of trims")
    return parts


def _of(sizes: list[Sizes]) -> BlockSizes:
    return BlockSizes(sizes[0], sizes[min(1, len(sizes) - 1)], *sizes[2:])


def _range(text: str) -> Sizes:
    least, _, most = text.replace(":", "-").partition("-")
    low, high = sorted((size_bytes(least.strip()), size_bytes(most.strip())))
    sizes = range(low, high + 1, low)
    if len(sizes) > MOST_SIZES:
        raise ValueMistake(f"a range of at most {MOST_SIZES} multiples of its least size")
    return Sizes(tuple(sizes), (1 / len(sizes),) * len(sizes))


def _split(text: str) -> Sizes:
    pairs = [entry.partition("/")[::2] for entry in text.split(":")]
    sizes = tuple(size_bytes(size.strip()) for size, _ in pairs)
    try:
        shares = [float(share) if share.strip() else None for _, share in pairs]
    except ValueError:
        raise ValueMistake("percentages such as 4k/30:64k/70") from None
    given = sum(share for share in shares if share is not None)
    open_shares = shares.count(None)
    if any(share is not None and not 0 <= share <= 100 for share in shares) or len(sizes) > MOST_SIZES:
        raise ValueMistake(f"at most {MOST_SIZES} sizes with percentages from 0 to 100")
    if given > 100 + 1e-6 or (not open_shares and abs(given - 100) > 1e-6):
        raise ValueMistake(f"percentages that add up to 100; these add up to {given:g}")
    rest = (100 - given) / open_shares if open_shares else 0.0
    weights = np.array([rest if share is None else share for share in shares])
    return Sizes(sizes, tuple((weights / weights.sum()).tolist()))
