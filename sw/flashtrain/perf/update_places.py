"""Places that compute an optimizer step instead of the dies, and the host as one of them.

Reads and appends, and all that crosses the channels, are those of the device.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from numpy.typing import NDArray

from flashtrain.host.state.tiling import Pages, TileLayout
from flashtrain.numerics import Constants, update
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.update import WORD_BYTES, Tile
from flashtrain.ssd.pcie import PcieLink


@dataclass(frozen=True)
class ChunkWork:
    """Work of a step on each chunk of state: the layout of its tiles, the constants and the gradients."""

    layout: TileLayout
    constants: Constants
    gradients: NDArray
    clock_hz: float

    def updated(self, pages: Pages) -> Pages:
        """The state after the step, by the reference."""
        layout = self.layout
        state = [
            layout.state_array(number, pages[:, layout.planes_of(number)])
            for number in range(layout.tile.arrays)
        ]
        w, m, v = (*state, None, None)[:3]
        assert w is not None
        new = update(self.constants, self.gradients, w, m, v)
        return layout.state_pages([array for array in (new.w, new.m, new.v) if array is not None])


class PlaceStep(Protocol):
    """A step that is computed at a place, chunk after chunk."""

    def update(self, cycle: float, pages: Pages) -> float:
        """Update the state that is in the tensor buffer at `cycle`; the cycle at which it is updated."""
        ...

    @property
    def computing(self) -> str:
        """The parts that are RTL, the others, and the assumptions about them, in words."""
        ...


class Place(ABC):
    """A place that computes a step; there it takes `optimstore` times as long (OptimStore, HPCA'23).

    assumption: about the published figure, in words.
    """

    optimstore: ClassVar[float]
    assumption: ClassVar[str]

    @property
    @abstractmethod
    def where(self) -> str:
        """In words."""

    @abstractmethod
    def limits(self, config: FmsConfig, tile: Tile) -> Mapping[str, float]:
        """Parameters per second that each part of the place could do at most, by its name."""

    @abstractmethod
    def begin(self, work: ChunkWork, cycle: float) -> PlaceStep:
        """At a cycle."""


class SerialResource:
    """A resource that takes one piece of work after the other."""

    def __init__(self) -> None:
        self._free = 0.0

    def take(self, cycle: float, cycles: float) -> float:
        """Add a piece that arrives at `cycle` and takes `cycles`; the cycle at which it is finished."""
        self._free = max(self._free, cycle) + cycles
        return self._free


@dataclass(frozen=True)
class HostLink(Place):
    """The way to the host: bytes per second each way, latency, and how fast the host updates.

    Assumptions: OptimStore's link is PCIe 3.0 x4, and its acknowledgements take no time, which favours the
    host; the host moves 28 bytes per parameter at 20 GB/s of memory
    bandwidth.
    """

    optimstore = 2.8
    assumption = "assumption: its link is PCIe 3.0 x4"
    bytes_per_second: float = PcieLink(3, 4).bytes_per_second
    latency_seconds: float = 1e-6
    parameters_per_second: float = 20e9 / 28
    name: str = "a link"

    def __post_init__(self) -> None:
        for name in ("bytes_per_second", "parameters_per_second"):
            require(getattr(self, name) > 0, f"link.{name}", getattr(self, name), "more than 0")

    @property
    def where(self) -> str:
        return f"on the host, over {self.name} of {self.bytes_per_second / 1e9:.3g} GB/s"

    def limits(self, config: FmsConfig, tile: Tile) -> Mapping[str, float]:
        state = WORD_BYTES * tile.arrays
        return {
            "link to the host": self.bytes_per_second / (state + tile.gradient_format.bytes),
            "link from the host": self.bytes_per_second / state,
            "memory of the host": self.parameters_per_second,
        }

    def begin(self, work: ChunkWork, cycle: float) -> "HostStep":
        return HostStep(self, work)


class HostStep:
    """A step on the host: NumPy computes, link and host are busy for as long as their rates say."""

    def __init__(self, link: HostLink, work: ChunkWork) -> None:
        self._link, self._work = link, work
        self._there, self._host, self._back = SerialResource(), SerialResource(), SerialResource()

    def update(self, cycle: float, pages: Pages) -> float:
        pages[...] = self._work.updated(pages)
        link, clock_hz = self._link, self._work.clock_hz
        latency, cycles_per_byte = link.latency_seconds * clock_hz, clock_hz / link.bytes_per_second
        sent = (pages.nbytes + self._work.gradients.nbytes) * cycles_per_byte
        arrived = self._there.take(cycle, sent) + latency
        cycles = self._work.layout.parameters / link.parameters_per_second * clock_hz
        computed = self._host.take(arrived, cycles)
        return self._back.take(computed, pages.nbytes * cycles_per_byte) + latency

    @property
    def computing(self) -> str:
        tile, link = self._work.layout.tile, self._link
        each = WORD_BYTES * tile.arrays + tile.gradient_format.bytes
        rates = (link.bytes_per_second / each / 1e6, link.parameters_per_second / 1e6)
        return f"channels are RTL; link and host are rates, {rates[0]:,.1f} and {rates[1]:,.1f} M/s"


PCIE_3_X4 = HostLink(name="PCIe 3.0 x4")
"""3.60 GB/s."""
PCIE_4_X4 = HostLink(PcieLink(4, 4).bytes_per_second, name="PCIe 4.0 x4")
"""7.20 GB/s."""
