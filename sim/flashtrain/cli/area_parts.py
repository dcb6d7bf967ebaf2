"""Parts of the hardware in an FPGA: what they take, their depth, and their clock."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any

from .console import Console, table

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from flashtrain.sim.synthesis.depth import Path
    from flashtrain.sim.synthesis.placement import Placement
    from flashtrain.sim.synthesis.synthesis import Area

WANTED_MHZ = 150.0
"""What the placer aims at."""


@dataclass(frozen=True)
class Part:
    """A part of the design to be measured."""

    key: str
    title: str
    build: "Callable[[], wiring.Component]"  # anew each time, so that none is left without a use
    seeds: int = 1  # of the placer; with none the part is not placed
    static: bool = False  # placed by the static placer
    routed: bool = True


@dataclass(frozen=True)
class Measured:
    """Size of a part, its deepest path, and a placement for each seed; none: it was not placed."""

    title: str
    ecp5: "Area"
    lut6: "Area"
    deepest: "Path"
    placements: "Sequence[Placement]" = ()

    @property
    def all_lut6(self) -> int:
        return self.lut6.lut + self.lut6.memory_lut

    @property
    def clock_mhz(self) -> float | None:
        """The mean of the seeds."""
        return mean(one.clock_mhz for one in self.placements) if self.placements else None

    @property
    def clock(self) -> str:
        if self.clock_mhz is None:
            return "-"
        estimated = "" if all(one.routed for one in self.placements) else ", not routed"
        return f"{self.clock_mhz:.1f} MHz{estimated}"

    @property
    def depth(self) -> str:
        return f"{self.deepest.depth:.1f}"

    @property
    def cells(self) -> str:
        return f"{self.placements[0].cells:,}" if self.placements else "-"

    def document(self) -> dict[str, Any]:
        return {
            "lut6": self.all_lut6,
            "ecp5": asdict(self.ecp5),
            "depth": self.deepest.depth,
            "deepest_path": list(self.deepest.signals),
            "ecp5_cells": self.placements[0].cells if self.placements else None,
            "clock_mhz": self.clock_mhz,
            "placements": [asdict(one) for one in self.placements],
        }


def resources(measured: Iterable[Measured]) -> str:
    """A line for each part."""
    rows = []
    for one in measured:
        numbers = one.all_lut6, one.ecp5.lut, one.ecp5.registers, one.ecp5.lut_memory, one.ecp5.block_memory
        rows.append((one.title, *(f"{number:,}" for number in numbers), one.depth, one.clock))
    columns = ("", "LUT6", "ECP5 LUT4", "registers", "LUT memory", "block RAM", "depth", "clock")
    return table(columns, rows)


def measure(parts: Iterable[Part], clock: bool, console: Console) -> dict[str, Measured]:
    """Each part by its key; with `clock`, placed and routed, which takes minutes."""
    from flashtrain.sim.synthesis.depth import measure_depths
    from flashtrain.sim.synthesis.placement import place
    from flashtrain.sim.synthesis.synthesis import Target, synthesise

    measured = {}
    for part in parts:
        console.step(f"mapping: {part.title}")
        ecp5, lut6 = (synthesise(part.build(), part.key, target) for target in (Target.ECP5, Target.LUT6))
        deepest = measure_depths(part.build(), part.key).paths[0]
        placements = []
        if clock and part.seeds:
            console.step(f"placing and routing the {part.title}")
            placements = place(
                part.build(),
                part.key,
                clock_mhz=WANTED_MHZ,
                seeds=part.seeds,
                static=part.static,
                routed=part.routed,
            )
        measured[part.key] = Measured(part.title, ecp5, lut6, deepest, placements)
    return measured
