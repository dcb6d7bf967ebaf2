"""Statistics that an update unit collects of the gradients that pass through it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from flashtrain.spec.optimizer import PARTIAL_SUMS

from .float32 import Array, Float32, canonical, fma
from .update import gradient_values

_BELOW_FLOAT32 = (1 << 29) - 1  # the bits that a double has more than a float32
_HALFWAY = 1 << 28
_NEAR_SUBNORMAL = 2.0**-120


@dataclass(frozen=True)
class Statistics:
    """Of gradients as they arrive, in float32 and before SCALE; the squares are those of scaled gradients.

    `largest` is the largest magnitude, infinities included, NaNs left out, and 0 if there is nothing else.
    `squares` are the partial sums of squares: gradient i is added to sum ``i mod len(squares)``, by one fused
    multiply-add in the order of i, from +0. NaN and infinity propagate, so a sum that is not finite is an
    overflow flag by itself.
    """

    nans: int
    infinities: int
    largest: np.float32
    squares: tuple[np.float32, ...]

    @property
    def overflow(self) -> bool:
        """Whether the step has to be skipped: NaN or infinity, among the gradients or in a sum of squares."""
        return self.nans + self.infinities > 0 or not np.isfinite(self.sum_of_squares)

    @property
    def sum_of_squares(self) -> float:
        """The partial sums added in double precision, in their order."""
        return sum(float(square) for square in self.squares)


@dataclass(frozen=True)
class Totals:
    """Statistics of all gradients of a step, of several dies or of the dies of several hosts.

    `squares` is the sum of the partial sums in double precision; `overflow` is that of any part.
    """

    squares: float = 0.0
    largest: float = 0.0
    nans: int = 0
    infinities: int = 0
    overflow: bool = False

    @classmethod
    def of(cls, parts: Sequence[Statistics]) -> "Totals":
        return cls(
            sum(part.sum_of_squares for part in parts),
            max((float(part.largest) for part in parts), default=0.0),
            sum(part.nans for part in parts),
            sum(part.infinities for part in parts),
            any(part.overflow for part in parts),
        )

    def norm(self, unscale: float = 1.0) -> float:
        """L2 norm of the gradients, each multiplied by `unscale`."""
        return unscale * sqrt(self.squares)


def statistics(g: Array, partial_sums: int = PARTIAL_SUMS) -> Statistics:
    """Statistics of gradients, in the order of memory and of any dtype that `update` takes."""
    values = gradient_values(g).reshape(-1)
    nan = np.isnan(values)
    return Statistics(
        nans=int(np.count_nonzero(nan)),
        infinities=int(np.count_nonzero(np.isinf(values))),
        largest=np.abs(values[~nan]).max(initial=np.float32(0)),
        squares=tuple(add_squares(np.zeros(partial_sums, np.float32), values)),
    )


def add_squares(sums: Float32, values: Float32) -> Float32:
    """Partial sums float32[..., S], and the squares of float32[..., n] added in order of the last axis."""
    sums = sums.copy()
    width = sums.shape[-1]
    with np.errstate(all="ignore"):
        squares = np.square(values, dtype=np.float64)  # exact
        for start in range(0, values.shape[-1], width):
            square = squares[..., start : start + width]
            part = sums[..., : square.shape[-1]]
            total = part + square
            # A sum that is rounded twice can be wrong only where the first rounding ends halfway between two
            # float32, and near the subnormal ones, whose halves lie elsewhere.
            doubtful = ((total.view(np.int64) & _BELOW_FLOAT32) == _HALFWAY) | (total < _NEAR_SUBNORMAL)
            if doubtful.any():
                row = values[..., start : start + width]
                part[...] = np.where(doubtful, fma(row, row, part), total)
            else:
                part[...] = total
    return canonical(sums)
