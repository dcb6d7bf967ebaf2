"""Points: quantities of workloads, each with its tolerance."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from flashtrain.host import Device
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.spec.streams import SINGLE_NODE


class Quantity(Enum):
    """A quantity, with its unit and the error that it may have, as a share."""

    BANDWIDTH = ("bandwidth", "GB/s", 0.01)
    UPDATES = ("updates", "M parameters/s", 0.01)
    P50 = ("p50", "us", 0.05)
    P99 = ("p99", "us", 0.05)
    CYCLES = ("cycles", "cycles", 0.02)

    def __init__(self, title: str, unit: str, tolerance: float) -> None:
        self.title = title
        self.unit = unit
        self.tolerance = tolerance

    @property
    def is_bandwidth(self) -> bool:
        """Whether the quantity is a rate of the device in a stream of commands."""
        return self in (Quantity.BANDWIDTH, Quantity.UPDATES)


class Role(Enum):
    """CALIBRATION: a fit of the model may use the point. HELD_OUT: no fit may."""

    CALIBRATION = "calibration"
    HELD_OUT = "held_out"


Values = dict[Quantity, float]
"""Each quantity of a workload, in its unit."""


class Workload(Protocol):
    """Commands with their parameters. Implementations are frozen dataclasses, so that `repr` names all of it.

    quantities: what it measures; node: the streams that it needs.
    """

    @property
    def quantities(self) -> tuple[Quantity, ...]: ...

    @property
    def node(self) -> NodeTable: ...

    def run(self, device: Device) -> Values:
        """Execute the workload on a device without data."""
        ...


@dataclass(frozen=True)
class BandwidthWorkload:
    """A workload on the streams of :data:`SINGLE_NODE` that measures its bandwidth."""

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return (Quantity.BANDWIDTH,)

    @property
    def node(self) -> NodeTable:
        return SINGLE_NODE


@dataclass(frozen=True)
class Run:
    """A workload on a configuration, by names; one execution gives all its points."""

    configuration: str
    title: str
    workload: Workload
    role: Role

    @property
    def name(self) -> str:
        return f"{self.configuration}/{self.title}"

    @property
    def points(self) -> "tuple[Point, ...]":
        return tuple(Point(self, quantity) for quantity in self.workload.quantities)


@dataclass(frozen=True)
class Point:
    """A quantity of a run."""

    run: Run
    quantity: Quantity

    @property
    def name(self) -> str:
        """Configuration, workload and quantity; the quantity is left out where the run has no other."""
        alone = len(self.run.workload.quantities) == 1
        return self.run.name if alone else f"{self.run.name}/{self.quantity.title}"


@dataclass(frozen=True)
class Observation:
    """Values of a run on one Link, its cycles, and its seconds of processor time."""

    values: Values = field(hash=False)
    cycles: int
    seconds: float


def require_fitting(config: FmsConfig, size: int, name: str) -> int:
    """The blocks of `size` bytes; :class:`BenchmarkError` unless they are whole."""
    page = config.geometry.page_bytes
    if size < page or size % page:
        raise BenchmarkError(f"{name} is {size}; expected a multiple of {page} bytes on {config.name!r}")
    return size // page
