"""The time that an update of a tile takes: in the die, and as the controller predicts it."""

from dataclasses import dataclass

from .config import FmsConfig
from .optimizer import CopyFormat, GradientFormat
from .state_format import Rounding, StateFormat
from .update import Tile

RANDOM_CYCLES = 3
"""Of the random bits of a parameter (`rtl.die.update.rounding_bits`)."""
SCALED_CYCLES = 3
"""In which the results of a parameter with moments in FP8 are written (`rtl.die.update.tile_sequencer`)."""


@dataclass(frozen=True)
class TileWork:
    """Parameters of a tile that a die updates, and how it rounds them."""

    tile: Tile
    parameters: int
    rounding: Rounding = Rounding.NEAREST

    @property
    def sequencer_cycles(self) -> int:
        """Cycles of the bus that the tile sequencer needs for a parameter, at least.

        It writes a result per cycle after the one that brings them, those of FP8 beside the others. A weight
        in SPLIT is two results.
        """
        scaled = self.tile.arrays > 1 and self.tile.formats.moments is StateFormat.FP8
        halves = self.tile.formats.weight is StateFormat.SPLIT
        written = SCALED_CYCLES if scaled else self.tile.arrays + halves + 1
        return max(written, RANDOM_CYCLES if self.rounding is Rounding.STOCHASTIC else 0)


def compute_cycles(config: FmsConfig) -> list[int]:
    """Cycles of the update unit for 1, 2, ... pages of gradients: those of the smallest tile with so many.

    A channel gets the number of pages, but neither their format nor the bytes of state per parameter. With
    binary32 gradients and state there is only one such tile; other formats take up to twice as long.
    """
    tiles = [
        Tile(config.geometry, arrays, form, CopyFormat.NONE)
        for arrays in (1, 2, 3)
        for form in GradientFormat
    ]
    smallest = min(tile.parameters for tile in tiles)
    cycles = []
    for pages in range(1, config.geometry.planes + 1):
        parameters = min((t.parameters for t in tiles if t.gradient_pages == pages), default=smallest)
        cycles.append(parameters * config.update_interval * config.update_divider)
    return cycles
