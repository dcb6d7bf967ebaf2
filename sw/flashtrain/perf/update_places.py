"""Places that compute an optimizer step instead of the dies, and the host as one of them.

Reads and appends, and all that crosses the channels, are those of the device.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from numpy.typing import NDArray

from flashtrain.host.state.tiling import Pages, TileLayout
from flashtrain.numerics import Constants, update
from flashtrain.spec.errors import require
from flashtrain.spec.update import WORD_BYTES


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
    """A place that computes a step; there it takes `optimstore` times as long (OptimStore, HPCA'23)."""

    optimstore: ClassVar[float]

    @property
    @abstractmethod
    def where(self) -> str:
        """In words."""

    @abstractmethod
    def begin(self, work: ChunkWork, cycle: float) -> PlaceStep:
        """At a cycle."""

    def bound(self, state_bytes: int, gradient_bytes: int) -> float:
        """Parameters per second that the way to the place allows, by the bytes of each; without one, any."""
        return math.inf


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

    Assumptions: the host moves 28 bytes per parameter at 20 GB/s of memory bandwidth. Links by name:
    `PCIE_3_X4`, the default, and `PCIE_4_X4`.
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

    def begin(self, work: ChunkWork, cycle: float) -> "HostStep":
        return HostStep(self, work)

    def bound(self, state_bytes: int, gradient_bytes: int) -> float:
        """The link, and the host's memory."""
        return min(self.bytes_per_second / (state_bytes + gradient_bytes), self.parameters_per_second)


PCIE_3_X4 = HostLink()
"""PCI Express 3.0, four lanes: 8 GT/s x 128/130 are 3.94 GB/s (base specification 3.0, section 4.2); taken as
4 GB/s. An assumption for OptimStore's host, whose link is not public."""

PCIE_4_X4 = HostLink(bytes_per_second=8e9)
"""PCI Express 4.0, four lanes: twice the rate of `PCIE_3_X4` (base specification 4.0, section 4.2)."""


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
        work, link = self._work, self._link
        tile = work.layout.tile
        each = WORD_BYTES * tile.arrays + tile.gradient_format.bytes
        rates = (link.bytes_per_second / each / 1e6, link.parameters_per_second / 1e6)
        return f"channels are RTL; link and host are rates, {rates[0]:,.1f} and {rates[1]:,.1f} M/s"
