"""The flash memory system of a node, simulated by the performance model."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.flash_storage import FlashStorage
from flashtrain.platform.models import FmsRates
from flashtrain.platform.storage import Resource, Storage
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.optimizer import OptimizerCode

MOST_RECORDED = 0.1
"""Seconds of the longest window: a die has about 10,000 operations in it."""


@dataclass(frozen=True)
class Window:
    """The time in which operations of buses and arrays are recorded, in seconds of the iteration."""

    begin: float
    end: float

    def __post_init__(self) -> None:
        if not 0 <= self.begin < self.end <= self.begin + MOST_RECORDED:
            raise PlatformError(
                f"window {self.begin:g}:{self.end:g}; expected 0 <= BEGIN < END, at most {MOST_RECORDED} s"
            )


@dataclass(frozen=True)
class FmsModel:
    """The flash memory system, simulated command by command (`flashtrain.model`).

    - `config`: its configuration; Behemoth's table by default.
    - `program`: the optimizer of updates on the dies.
    - `depth`: commands in flight of the requests of a kind and a stream.
    - `window`: the time in which operations are recorded.
    """

    config: FmsConfig = field(default_factory=lambda: preset("behemoth"))
    program: OptimizerCode = OptimizerCode.ADAM
    depth: int = 4
    window: Window | None = None
    name: str = "fms"

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise PlatformError(f"{self.name}: depth is {self.depth}; expected at least 1")

    @property
    def capacity_bytes(self) -> int:
        return self.config.geometry.capacity_bytes

    def resources(self) -> Sequence[Resource]:
        """The bounds of buses and arrays, as those of `FmsRates`."""
        return FmsRates(self.config, self.program).resources()

    def new_storage(self, beside: Sequence[Resource]) -> Storage:
        window = None if self.window is None else (self.window.begin, self.window.end)
        return FlashStorage(self.config, self.program, self.depth, beside, window)
