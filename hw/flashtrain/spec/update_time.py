"""The time that an update unit takes, as the controller predicts it."""

from .config import FmsConfig
from .optimizer import CopyFormat, GradientFormat
from .update import Tile


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
