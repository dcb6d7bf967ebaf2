"""Parts of the hardware in an FPGA: what they take, and their clock."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .console import Console

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from flashtrain.sim.synthesis.synthesis import Area, Placement

WANTED_MHZ = 150.0
"""What channel engines are to reach, with all that is in them."""


@dataclass(frozen=True)
class Part:
    """A part of the design to be measured."""

    key: str
    title: str
    build: "Callable[[], wiring.Component]"  # anew each time, so that none is left without a use
    seeds: int = 1  # of the placer, to try until the clock is reached; with none it is not placed


@dataclass(frozen=True)
class Measured:
    """Size of a part; without a placement its clock frequency was not measured."""

    title: str
    ecp5: "Area"
    lut6: "Area"
    placement: "Placement | None"

    @property
    def all_lut6(self) -> int:
        return self.lut6.lut + self.lut6.memory_lut

    @property
    def clock(self) -> str:
        return f"{self.placement.clock_mhz:.1f} MHz" if self.placement else "-"

    @property
    def seeds(self) -> str:
        """The clock frequency for each seed that was tried."""
        tried = self.placement.tried if self.placement else {}
        return ", ".join(f"{clock:.1f} with seed {seed}" for seed, clock in tried.items())

    @property
    def cells(self) -> str:
        return f"{self.placement.cells:,}" if self.placement else "-"

    def document(self) -> dict[str, Any]:
        return {
            "lut6": self.all_lut6,
            "ecp5": asdict(self.ecp5),
            "ecp5_cells": self.placement and self.placement.cells,
            "clock_mhz": self.placement and self.placement.clock_mhz,
            "clock_mhz_by_seed": self.placement and {**self.placement.tried},
        }


def measure(parts: Iterable[Part], clock: bool, console: Console) -> dict[str, Measured]:
    """Each part by its key; with `clock`, placed and routed, which takes minutes."""
    from flashtrain.sim.synthesis.synthesis import Target, place, synthesise

    measured = {}
    for part in parts:
        console.step(f"mapping the {part.title}")
        ecp5, lut6 = (synthesise(part.build(), part.key, target) for target in (Target.ECP5, Target.LUT6))
        placement = None
        if clock and part.seeds:
            console.step(f"placing and routing the {part.title}")
            placement = place(part.build(), part.key, clock_mhz=WANTED_MHZ, seeds=part.seeds)
        measured[part.key] = Measured(part.title, ecp5, lut6, placement)
    return measured
