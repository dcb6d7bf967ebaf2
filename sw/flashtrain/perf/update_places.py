"""Where an optimizer step can be computed if not on the dies: what a place is, and the host as one.

Reads and appends, and all that crosses the channels, are those of the device.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from numpy.typing import NDArray

from flashtrain.host.tiling import Pages, TileLayout
from flashtrain.numerics import Constants, update
from flashtrain.spec.errors import require
from flashtrain.spec.update import WORD_BYTES


@dataclass(frozen=True)
class ChunkWork:
    """What a step does with each chunk of state: how its tiles lie, and what there is beside the state."""

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

    def update(self, clock: float, pages: Pages) -> float:
        """Replace the state that is in the tensor buffer at `clock`; when the new one is there."""
        ...

    @property
    def computing(self) -> str:
        """What of it is RTL, what is not, and what that allowed, in words."""
        ...


class Place(ABC):
    """Who computes a step. `optimstore` is how many times longer it takes there (OptimStore, HPCA'23)."""

    optimstore: ClassVar[float]

    @property
    @abstractmethod
    def where(self) -> str:
        """In words."""

    @abstractmethod
    def begin(self, work: ChunkWork, clock: float) -> PlaceStep:
        """At a clock."""


class Turns:
    """Whatever takes one piece after the other."""

    def __init__(self) -> None:
        self._free = 0.0

    def take(self, clock: float, clocks: float) -> float:
        """A piece that is there at `clock` and needs so many; when it is through."""
        self._free = max(self._free, clock) + clocks
        return self._free


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

    def begin(self, work: ChunkWork, clock: float) -> "HostStep":
        return HostStep(self, work)


class HostStep:
    """A step on the host: NumPy computes, link and host are busy for as long as their rates say."""

    def __init__(self, link: HostLink, work: ChunkWork) -> None:
        self._link, self._work = link, work
        self._there, self._host, self._back = Turns(), Turns(), Turns()

    def update(self, clock: float, pages: Pages) -> float:
        pages[...] = self._work.updated(pages)
        link, clock_hz = self._link, self._work.clock_hz
        latency, clocks_per_byte = link.latency_seconds * clock_hz, clock_hz / link.bytes_per_second
        sent = (pages.nbytes + self._work.gradients.nbytes) * clocks_per_byte
        arrived = self._there.take(clock, sent) + latency
        clocks = self._work.layout.parameters / link.parameters_per_second * clock_hz
        computed = self._host.take(arrived, clocks)
        return self._back.take(computed, pages.nbytes * clocks_per_byte) + latency

    @property
    def computing(self) -> str:
        work, link = self._work, self._link
        tile = work.layout.tile
        each = WORD_BYTES * tile.arrays + tile.gradient_format.bytes
        rates = (link.bytes_per_second / each / 1e6, link.parameters_per_second / 1e6)
        return f"channels are RTL; link and host are rates, {rates[0]:,.1f} and {rates[1]:,.1f} M/s"
