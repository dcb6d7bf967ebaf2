"""`flashtrain area controller`: controllers, engines and front ends in an FPGA; other open controllers."""

import argparse
from dataclasses import asdict, dataclass, replace
from functools import partial

from flashtrain.spec import Chips, FmsConfig, preset
from flashtrain.spec.sdr import with_sdr_waits

from . import area_depth
from .area_parts import Measured, Part, measure
from .console import Console, table

ALLOWED_LUT6 = {"channel_4": 6_000, "port_4": 6_366, "sdr_4": 6_366, "front_end_4": 10_200}
"""What an engine of four dies may take, with a command port 15 % more than without one; and a front end."""

NEEDED_MHZ = {"channel_4": 140.0, "controller_tiny": 100.0}
"""The mean of the seeds that these are to reach."""

SEEDS = 4
"""Of the placer, for the parts that are placed."""

WHOLE = ("tiny", "small")
"""Configurations whose whole controller is placed: the device has room for them."""
LARGE = "behemoth"
"""The one whose depth is measured as well."""


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


def with_sdr(config: FmsConfig) -> FmsConfig:
    """With both data interfaces, in all timing modes."""
    return replace(
        config, name="sdr", timing=with_sdr_waits(config.timing), command_port=True, chips=Chips(sdr=True)
    )


def parts() -> list[Part]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.channel.engine import ChannelEngine
    from flashtrain.rtl.controller import Controller
    from flashtrain.rtl.front_end import FrontEnd

    return [
        *(
            Part(f"controller_{name}", f"whole controller, {name}", partial(Controller, preset(name)), SEEDS)
            for name in WHOLE
        ),
        *(
            Part(
                f"channel_{dies}",
                f"channel engine, {dies} dies",
                partial(ChannelEngine, config(4, dies)),
                seeds=SEEDS if dies == 4 else 0,
            )
            for dies in (2, 4, 8)
        ),
        Part(
            "port_4",
            "channel engine, 4 dies, command port",
            partial(ChannelEngine, replace(config(4, 4), name="port", command_port=True)),
            seeds=0,
        ),
        Part(
            "sdr_4",
            "channel engine, 4 dies, command port, SDR beside NV-DDR3",
            partial(ChannelEngine, with_sdr(config(4, 4))),
            seeds=0,
        ),
        Part(
            "sca_4",
            "channel engine, 4 dies, commands beside the data",
            partial(ChannelEngine, replace(config(4, 4), name="sca", chips=Chips(sca=True))),
            seeds=0,
        ),
        Part(
            "protected_4",
            "channel engine, 4 dies, protected",
            partial(ChannelEngine, protected(config(4, 4))),
            seeds=0,
        ),
        *(
            Part(
                f"front_end_{channels}",
                f"front end, {channels} channels",
                partial(FrontEnd, config(channels, 2)),
                seeds=0,
            )
            for channels in (4, 8)
        ),
    ]


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=options.clock)
    measured = measure(parts(), options.clock, console)
    depths = area_depth.measure((LARGE,), console)
    console.say(_table(measured))
    for key, part in measured.items():
        _say_placements(part, NEEDED_MHZ.get(key), console)
    console.say(area_depth.unit_table(depths))
    area_depth.say_paths(LARGE, depths[LARGE], console)
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "parts": {key: one.document() for key, one in measured.items()},
            "depths": area_depth.document(depths),
            "allowed_lut6": ALLOWED_LUT6,
            "needed_mhz": NEEDED_MHZ,
            "others": [asdict(other) for other in OTHERS],
            "tools": tools,
        }
    )
    too_large = any(measured[key].all_lut6 >= allowed for key, allowed in ALLOWED_LUT6.items())
    clocks = {key: measured[key].clock_mhz for key in NEEDED_MHZ}
    too_slow = any(clock is not None and clock < NEEDED_MHZ[key] for key, clock in clocks.items())
    return int(too_large or too_slow or area_depth.too_deep(depths))


def _say_placements(part: Measured, needed: float | None, console: Console) -> None:
    """A row for each seed, the mean, and the longest paths of the slowest."""
    if not part.placements:
        return
    rows = [(f"seed {one.seed}", f"{one.clock_mhz:.1f} MHz") for one in part.placements]
    rows.append(("mean", part.clock))
    if needed:
        rows.append(("to reach", f"{needed:.1f} MHz"))
    console.say(table((part.title, "clock"), rows))
    slowest = min(part.placements, key=lambda one: one.clock_mhz)
    console.say(f"longest paths with seed {slowest.seed}:")
    for path in slowest.paths:
        console.say(f"  {path}")


def _numbers(one: Measured) -> tuple[int, ...]:
    return (one.all_lut6, one.ecp5.lut, one.ecp5.registers, one.ecp5.block_memory)


def _table(measured: dict[str, Measured]) -> str:
    rows = []
    for one in measured.values():
        rows.append(
            (one.title, *(f"{number:,}" for number in _numbers(one)), one.depth, one.cells, one.clock)
        )
    for title, less, more, by in (
        ("one more die of a channel", "channel_4", "channel_8", 4),
        ("one more channel, of the front end", "front_end_4", "front_end_8", 4),
    ):
        pairs = zip(_numbers(measured[less]), _numbers(measured[more]), strict=True)
        rows.append((title, *(f"{(high - low) / by:,.0f}" for low, high in pairs), "", "", ""))
    for other in OTHERS:
        rows.append((other.name, f"{other.lut6:,}", "", "", "", "", "", f"{other.clock_mhz:.1f} MHz"))
    columns = ("", "LUT6", "ECP5 LUT4", "registers", "block RAM", "depth", "cells", "clock")
    return table(columns, rows)
