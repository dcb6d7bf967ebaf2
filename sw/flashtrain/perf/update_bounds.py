"""Bounds of an optimizer step, parameters per second: what each part of a device could do at most."""

from collections.abc import Mapping
from typing import NamedTuple

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import Tile


class Bound(NamedTuple):
    """The least of several limits, and the part whose limit it is."""

    parameters_per_second: float
    part: str

    @classmethod
    def of(cls, limits: Mapping[str, float]) -> "Bound":
        part = min(limits, key=lambda name: limits[name])
        return cls(limits[part], part)

    def __str__(self) -> str:
        return f"bound {self.parameters_per_second / 1e6:,.1f}, {self.part}"


def on_dies(config: FmsConfig, tile: Tile) -> Bound:
    """Of a step on the dies, erases aside."""
    return Bound.of(limits_on_dies(config, tile))


def limits_on_dies(config: FmsConfig, tile: Tile) -> dict[str, float]:
    """Limits of each part of a device on a step on the dies, erases aside.

    - Arrays: each die senses a tile and programs one, tR + tPROG.
    - Buses: the pages of gradients and of copies, two bytes per cycle.
    - Update units: a parameter every `update_interval` cycles of their clock.
    """
    g = config.geometry
    pages = tile.gradient_pages + tile.copy_pages
    units = g.channels * g.dies * config.timing.clock_hz / (config.update_interval * config.update_divider)
    return {
        "arrays": _arrays(config, tile),
        "buses": _buses(config, tile, pages * g.page_bytes),
        "update units": units,
    }


def elsewhere(config: FmsConfig, tile: Tile, limits: Mapping[str, float]) -> Bound:
    """Of a step at a place with `limits`: state crosses the buses there and back.

    - Arrays: as on the dies.
    - Buses: the pages of a tile twice, with identity and parity.
    """
    device = {
        "arrays": _arrays(config, tile),
        "buses": _buses(config, tile, 2 * config.geometry.planes * config.bus_page_bytes),
    }
    return Bound.of({**device, **limits})


def _arrays(config: FmsConfig, tile: Tile) -> float:
    g, t = config.geometry, config.timing
    return g.channels * g.dies * tile.parameters * t.clock_hz / (t.cycles("tr") + t.cycles("tprog"))


def _buses(config: FmsConfig, tile: Tile, tile_bytes: int) -> float:
    """With so many bytes of a tile on a bus; a tile without any has no limit."""
    return config.channel_bytes_per_second * tile.parameters / tile_bytes if tile_bytes else float("inf")
