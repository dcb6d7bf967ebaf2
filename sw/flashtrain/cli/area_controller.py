"""`flashtrain area controller`: channel engines and the centre in an FPGA, beside other open controllers."""

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from flashtrain.spec import FmsConfig, preset

from .console import Console, table

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from flashtrain.sim.synthesis import Area, Placement

ALLOWED_LUT6 = 6_000
NEEDED_MHZ = 150.0
"""What an engine of four dies may take, and the clock that it is to reach."""


@dataclass(frozen=True)
class OtherController:
    """An open controller, measured in the same way: LUT6 by Yosys, the clock in an ECP5-85 of speed 6."""

    name: str
    lut6: int
    clock_mhz: float


OTHERS = (
    OtherController("OCOWFC (FPL'21), channel of 4 ways", 11_996, 94.5),
    OtherController("OCOWFC, the executer of one way", 1_130, 126.0),
    OtherController("Cosmos+ OpenSSD, low level of a channel", 1_757, 79.0),
)


@dataclass(frozen=True)
class Part:
    """Something to measure."""

    key: str
    title: str
    build: "Callable[[], wiring.Component]"  # anew each time, so that none is left without a use


def config(channels: int, dies: int) -> FmsConfig:
    """`small` with dies of as many blocks and pages as in `behemoth`, and two page sets of buffer each."""
    small, full = preset("small"), preset("behemoth").geometry
    geometry = replace(small.geometry, channels=channels, dies=dies, blocks=full.blocks, pages=full.pages)
    return replace(small, geometry=geometry, write_sets=min(2 * dies, 16))


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.centre import Centre
    from flashtrain.rtl.channel.engine import ChannelEngine

    engines = [
        Part(f"channel_{dies}", f"channel engine, {dies} dies", partial(ChannelEngine, config(4, dies)))
        for dies in (2, 4, 8)
    ]
    centres = [
        Part(f"centre_{channels}", f"centre, {channels} channels", partial(Centre, config(channels, 2)))
        for channels in (4, 8)
    ]
    return engines + centres


@dataclass(frozen=True)
class Measured:
    ecp5: "Area"
    lut6: "Area"
    placement: "Placement | None"

    @property
    def all_lut6(self) -> int:
        return self.lut6.lut + self.lut6.memory_lut


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis import Target, place, synthesis_tools, synthesise

    tools = synthesis_tools()
    measured: dict[str, Measured] = {}
    titles: dict[str, str] = {}
    for part in parts():
        console.step(f"mapping the {part.title}")
        ecp5, lut6 = (synthesise(part.build(), part.key, target) for target in (Target.ECP5, Target.LUT6))
        placement = None
        if options.clock:
            console.step(f"placing and routing the {part.title}")
            placement = place(part.build(), part.key, clock_mhz=NEEDED_MHZ)
        measured[part.key], titles[part.key] = Measured(ecp5, lut6, placement), part.title
    console.say(_table(titles, measured))
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "parts": {
                key: {
                    "lut6": one.all_lut6,
                    "ecp5": asdict(one.ecp5),
                    "ecp5_cells": one.placement and one.placement.cells,
                    "clock_mhz": one.placement and one.placement.clock_mhz,
                }
                for key, one in measured.items()
            },
            "allowed_lut6": ALLOWED_LUT6,
            "needed_mhz": NEEDED_MHZ,
            "others": [asdict(other) for other in OTHERS],
            "tools": tools,
        }
    )
    engine = measured["channel_4"]
    too_slow = engine.placement is not None and engine.placement.clock_mhz < NEEDED_MHZ
    return int(too_slow or engine.all_lut6 >= ALLOWED_LUT6)


def _numbers(one: Measured) -> tuple[int, ...]:
    return (one.all_lut6, one.ecp5.lut, one.ecp5.registers, one.ecp5.block_memory)


def _table(titles: dict[str, str], measured: dict[str, Measured]) -> str:
    rows = []
    for key, one in measured.items():
        clock = f"{one.placement.clock_mhz:.1f} MHz" if one.placement else "-"
        cells = f"{one.placement.cells:,}" if one.placement else "-"
        rows.append((titles[key], *(f"{number:,}" for number in _numbers(one)), cells, clock))
    for title, less, more, by in (
        ("one more die of a channel", "channel_4", "channel_8", 4),
        ("one more channel, of the centre", "centre_4", "centre_8", 4),
    ):
        pairs = zip(_numbers(measured[less]), _numbers(measured[more]), strict=True)
        rows.append((title, *(f"{(high - low) / by:,.0f}" for low, high in pairs), "", ""))
    for other in OTHERS:
        rows.append((other.name, f"{other.lut6:,}", "", "", "", "", f"{other.clock_mhz:.1f} MHz"))
    columns = ("", "LUT6", "ECP5 LUT4", "registers", "block RAM", "cells", "clock")
    return table(columns, rows)
