"""Where an optimizer step can be computed if not on the dies: in the controller, or on the host.

Whoever computes is here a row of *lanes*, each busy for as long as its rate says; reads and appends, and all
that crosses the channels, are those of the device.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require

from .update import Case


class ChunkSize(NamedTuple):
    """What is updated at a time: so many parameters, and bytes of their state and of their gradients."""

    parameters: int
    state_bytes: int
    gradient_bytes: int


Way = Callable[[float, ChunkSize], float]
"""When a chunk that is in the tensor buffer at a clock is there again, updated."""


class Place(ABC):
    """Who computes a step. `optimstore` is how many times longer it takes there (OptimStore, HPCA'23)."""

    optimstore: ClassVar[float]

    @property
    @abstractmethod
    def where(self) -> str:
        """In words."""

    @abstractmethod
    def way(self, clock_hz: float) -> Way:
        """For the chunks of one step, in the order in which they come."""

    @abstractmethod
    def lanes(self, case: Case, clock_hz: float) -> str:
        """What is a lane and not RTL, and what it allows, in words."""


class _Lane:
    """Takes one piece after the other."""

    def __init__(self) -> None:
        self._free = 0.0

    def take(self, clock: float, clocks: float) -> float:
        """A piece that is there at `clock` and needs so many; when it is through."""
        self._free = max(self._free, clock) + clocks
        return self._free


@dataclass(frozen=True)
class ControllerUnits(Place):
    """Update units in the controller, of the kind that the dies have: one lane, for they share each chunk.

    The lane is not RTL. Its rate is what the RTL of a unit promises and is tested for, a parameter every
    `interval` of its clocks.

    units: how many; interval: clocks of a unit per parameter; divider: bus clocks per clock of a unit;
    latency: clocks of a unit from operands to results, at most, whatever the optimizer.
    """

    optimstore = 1.9
    units: int
    interval: int
    divider: int
    latency: int = 200

    def __post_init__(self) -> None:
        for name in ("units", "interval", "divider"):
            require(getattr(self, name) >= 1, f"controller.{name}", getattr(self, name), "1 or more")
        require(self.latency >= 0, "controller.latency", self.latency, "0 or more")

    @classmethod
    def of(cls, config: FmsConfig) -> "ControllerUnits":
        """As OptimStore compares: as many units as there are dies, each as fast as a die's."""
        g = config.geometry
        return cls(g.channels * g.dies, config.update_interval, config.update_divider)

    def clocks(self, parameters: int) -> float:
        """Bus clocks in which all units together take so many."""
        return parameters * self.interval * self.divider / self.units

    @property
    def where(self) -> str:
        return "in the controller"

    def way(self, clock_hz: float) -> Way:
        lane = _Lane()

        def through(clock: float, chunk: ChunkSize) -> float:
            return lane.take(clock, self.clocks(chunk.parameters)) + self.latency * self.divider

        return through

    def lanes(self, case: Case, clock_hz: float) -> str:
        rate = clock_hz / self.clocks(1) / 1e6
        return f"what crosses channels is RTL, the {self.units} update units are a lane of {rate:,.1f} M/s"


@dataclass(frozen=True)
class HostLink(Place):
    """The way to the host: bytes per second each way, latency, and how fast the host updates.

    Assumptions: 4 GB/s is PCIe 3.0 x4, usable; the host moves 28 bytes per parameter at 20 GB/s of memory
    bandwidth.
    """

    optimstore = 2.8
    bytes_per_second: float = 4e9
    latency_seconds: float = 1e-6
    parameters_per_second: float = 20e9 / 28

    def __post_init__(self) -> None:
        for name in ("bytes_per_second", "parameters_per_second"):
            require(getattr(self, name) > 0, f"link.{name}", getattr(self, name), "more than 0")

    @property
    def where(self) -> str:
        return f"on the host, over a link of {self.bytes_per_second / 1e9:g} GB/s"

    def way(self, clock_hz: float) -> Way:
        there, host, back = _Lane(), _Lane(), _Lane()
        latency, clocks_per_byte = self.latency_seconds * clock_hz, clock_hz / self.bytes_per_second

        def through(clock: float, chunk: ChunkSize) -> float:
            sent = (chunk.state_bytes + chunk.gradient_bytes) * clocks_per_byte
            arrived = there.take(clock, sent) + latency
            computed = host.take(arrived, chunk.parameters / self.parameters_per_second * clock_hz)
            return back.take(computed, chunk.state_bytes * clocks_per_byte) + latency

        return through

    def lanes(self, case: Case, clock_hz: float) -> str:
        rates = (self.bytes_per_second / (case.state_bytes + case.gradient.bytes), self.parameters_per_second)
        link, host = (rate / 1e6 for rate in rates)
        return f"what crosses channels is RTL, link and host are lanes of {link:,.1f} and {host:,.1f} M/s"
