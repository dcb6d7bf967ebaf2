"""`flashtrain area controller`: channel engines and the front end in an FPGA; other open controllers."""

import argparse
from dataclasses import asdict, dataclass, replace
from functools import partial

from flashtrain.spec import FmsConfig, preset

from .area_parts import WANTED_MHZ, Measured, Part, measure
from .console import Console, table

ALLOWED_LUT6 = 6_000
"""What an engine of four dies may take."""

SEEDS = 16
"""Of the placer, for the engine of four dies, which is to reach a clock."""


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


def config(channels: int, dies: int) -> FmsConfig:
    """`small` with dies of as many blocks and pages as in `behemoth`, and two page sets of buffer each."""
    small, full = preset("small"), preset("behemoth").geometry
    geometry = replace(small.geometry, channels=channels, dies=dies, blocks=full.blocks, pages=full.pages)
    return replace(small, geometry=geometry, write_sets=min(2 * dies, 16))


def protected(config: FmsConfig) -> FmsConfig:
    """With code, keys, read retries and spare blocks, as in `small_ecc` and `behemoth_ecc`."""
    small, full = preset("small_ecc"), preset("behemoth_ecc").geometry
    geometry = replace(config.geometry, blocks=full.blocks, spare_blocks=full.spare_blocks)
    return replace(
        config,
        geometry=geometry,
        code_strength=small.code_strength,
        read_levels=small.read_levels,
        randomizer=small.randomizer,
    )


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.channel.engine import ChannelEngine
    from flashtrain.rtl.front_end import FrontEnd

    engines = [
        Part(
            f"channel_{dies}",
            f"channel engine, {dies} dies",
            partial(ChannelEngine, config(4, dies)),
            seeds=SEEDS if dies == 4 else 1,
        )
        for dies in (2, 4, 8)
    ]
    engines.append(
        Part(
            "protected_4",
            "channel engine, 4 dies, protected",
            partial(ChannelEngine, protected(config(4, 4))),
        )
    )
    front_ends = [
        Part(
            f"front_end_{channels}",
            f"front end, {channels} channels",
            partial(FrontEnd, config(channels, 2)),
        )
        for channels in (4, 8)
    ]
    return engines + front_ends


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.synthesis import synthesis_tools

    tools = synthesis_tools(placing=options.clock)
    measured = measure(parts(), options.clock, console)
    engine = measured["channel_4"]
    console.say(_table(measured))
    if engine.placement:
        console.say(f"{engine.title}: {engine.seeds}; asked: {WANTED_MHZ:.0f} MHz")
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "parts": {key: one.document() for key, one in measured.items()},
            "allowed_lut6": ALLOWED_LUT6,
            "needed_mhz": WANTED_MHZ,
            "others": [asdict(other) for other in OTHERS],
            "tools": tools,
        }
    )
    too_slow = engine.placement is not None and engine.placement.clock_mhz < WANTED_MHZ
    return int(too_slow or engine.all_lut6 >= ALLOWED_LUT6)


def _numbers(one: Measured) -> tuple[int, ...]:
    return (one.all_lut6, one.ecp5.lut, one.ecp5.registers, one.ecp5.block_memory)


def _table(measured: dict[str, Measured]) -> str:
    rows = []
    for one in measured.values():
        rows.append((one.title, *(f"{number:,}" for number in _numbers(one)), one.cells, one.clock))
    for title, less, more, by in (
        ("one more die of a channel", "channel_4", "channel_8", 4),
        ("one more channel, of the front end", "front_end_4", "front_end_8", 4),
    ):
        pairs = zip(_numbers(measured[less]), _numbers(measured[more]), strict=True)
        rows.append((title, *(f"{(high - low) / by:,.0f}" for low, high in pairs), "", ""))
    for other in OTHERS:
        rows.append((other.name, f"{other.lut6:,}", "", "", "", "", f"{other.clock_mhz:.1f} MHz"))
    columns = ("", "LUT6", "ECP5 LUT4", "registers", "block RAM", "cells", "clock")
    return table(columns, rows)
