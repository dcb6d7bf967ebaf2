"""How long a die's update unit works on a tile, as far as the controller can tell."""

from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.update import Tile


def unit_clocks(config: FmsConfig) -> list[int]:
    """Clocks of the unit for 1, 2, ... pages of gradients: those of the smallest tile that has so many.

    A channel is told the number of pages, but neither their format nor the words of state per parameter. With
    binary32 gradients there is only one such tile; others may take up to twice as long.
    """
    tiles = [
        Tile(config.geometry, arrays, form, CopyFormat.NONE)
        for arrays in (1, 2, 3)
        for form in GradientFormat
    ]
    smallest = min(tile.parameters for tile in tiles)
    clocks = []
    for pages in range(1, config.geometry.planes + 1):
        parameters = min((t.parameters for t in tiles if t.gradient_pages == pages), default=smallest)
        clocks.append(parameters * config.update_interval * config.update_divider)
    return clocks
