"""Erase counts of several blocks, and the part of their endurance that is used."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.streams import Retention


@dataclass(frozen=True)
class Wear:
    """The fewest, the mean and the most erases of some blocks."""

    min: int
    mean: float
    max: int

    @classmethod
    def of(cls, erases: NDArray[np.uint32]) -> "Wear":
        return cls(int(erases.min()), float(erases.mean()), int(erases.max()))

    def used(self, retention: Retention) -> float:
        """The part of the endurance that the most worn block has used, in %, for data of this class."""
        return 100 * self.max / retention.endurance
