"""What went through the streams of a training run, and what the dies updated."""

from dataclasses import dataclass

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import Tile


@dataclass
class Traffic:
    """What went through a store: bytes of the arrays, and stored bytes of the blocks that they took."""

    appends: int = 0
    appended_bytes: int = 0
    stored_bytes: int = 0
    reads: int = 0
    read_bytes: int = 0
    stream_resets: int = 0
    zone_resets: int = 0


@dataclass
class UpdateTraffic:
    """Updates on the dies.

    skips: updates that were dropped because of an overflow; parameters, tiles: updated, counted anew in each
    update; gradient_bytes: to the dies; copy_bytes: 16-bit weights that came back; clocks: from the first
    command of an update until it was committed or dropped, summed; dies: of the device; tile_parameters: in a
    tile; tile_clocks: of sensing and programming one.
    """

    clock_hz: float
    dies: int
    tile_parameters: int
    tile_clocks: int
    updates: int = 0
    skips: int = 0
    parameters: int = 0
    tiles: int = 0
    gradient_bytes: int = 0
    copy_bytes: int = 0
    clocks: int = 0

    @classmethod
    def on(cls, config: FmsConfig, tile: Tile) -> "UpdateTraffic":
        """Nothing so far, on a device of `config`."""
        g, t = config.geometry, config.timing
        tile_clocks = t.clocks("tr") + t.clocks("tprog")
        return cls(t.clock_hz, g.channels * g.dies, tile.parameters, tile_clocks)

    @property
    def rate(self) -> float | None:
        """Parameters per second of updating; `None` on a Link without time."""
        return self.parameters / self.clocks * self.clock_hz if self.clocks else None

    @property
    def bound(self) -> float:
        """Parameters per second if every die senses and programs all the time."""
        return self.dies * self.tile_parameters / self.tile_clocks * self.clock_hz

    @property
    def share(self) -> float | None:
        """The rate, as a share of its bound."""
        return None if self.rate is None else self.rate / self.bound
