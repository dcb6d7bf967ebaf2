"""Traffic of the streams of a training run, and updates on the dies."""

from dataclasses import dataclass

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import Tile


@dataclass
class Traffic:
    """Traffic of a store: bytes of the arrays, and stored bytes of the blocks that they took.

    - `stream_resets`: resets of the stream in the sequence, each of which drops all its tensors.
    - `zone_resets`: zones that were reset because all in them was dropped.
    """

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

    - `dies`: the dies of the device.
    - `tile_parameters`: the parameters in a tile.
    - `tile_cycles`: the cycles of sensing and programming a tile.
    - `skips`: updates that were dropped because of an overflow.
    - `parameters`, `tiles`: the updated ones, counted anew in each update.
    - `gradient_bytes`: bytes to the dies.
    - `copy_bytes`: bytes of the 16-bit weights that came back.
    - `cycles`: the sum over all updates, from the first command until the update was committed or dropped.
    """

    clock_hz: float
    dies: int
    tile_parameters: int
    tile_cycles: int
    updates: int = 0
    skips: int = 0
    parameters: int = 0
    tiles: int = 0
    gradient_bytes: int = 0
    copy_bytes: int = 0
    cycles: int = 0

    @classmethod
    def on(cls, config: FmsConfig, tile: Tile) -> "UpdateTraffic":
        """Nothing so far, on a device of `config`."""
        g, t = config.geometry, config.timing
        tile_cycles = t.cycles("tr") + t.cycles("tprog")
        return cls(t.clock_hz, g.channels * g.dies, tile.parameters, tile_cycles)

    @property
    def rate(self) -> float | None:
        """Parameters per second of updating; `None` on a Link without time."""
        return self.parameters / self.cycles * self.clock_hz if self.cycles else None

    @property
    def bound(self) -> float:
        """Parameters per second if every die senses and programs all the time."""
        return self.dies * self.tile_parameters / self.tile_cycles * self.clock_hz

    @property
    def share(self) -> float | None:
        """The rate, as a share of its bound."""
        return None if self.rate is None else self.rate / self.bound
