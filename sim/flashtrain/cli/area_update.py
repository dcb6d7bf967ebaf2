"""`flashtrain area update`: what the update unit of a die takes in an FPGA, and how fast it is."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.optimizer import OptimizerCode

from .console import Console, table

if TYPE_CHECKING:
    from flashtrain.rtl.die.update_unit import UpdateUnit
    from flashtrain.sim.synthesis.placement import Placement
    from flashtrain.sim.synthesis.synthesis import Area

BYTES_PER_PARAMETER = 12
"""Of Adam: w, m and v."""

HARDFLOAT = {"ecp5_lut": 2844, "ecp5_multipliers": 4, "lut6": 1690, "lut6_multipliers": 2}
"""A fused multiply-add of Berkeley HardFloat, single precision, by the same flow; it has no registers."""
ALLOWED = 4
"""The update unit is to be smaller than so many of them."""


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.die.update_unit import UpdateUnit
    from flashtrain.sim.synthesis.placement import place
    from flashtrain.sim.synthesis.synthesis import Target, synthesise
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=options.clock)
    unit = UpdateUnit(interval=options.interval)
    need = parameters_per_microsecond(preset("behemoth"))
    areas = {}
    for target in Target:
        console.step(f"mapping the update unit to {target.name}")
        areas[target.name] = synthesise(unit, "update_unit", target)
    placement = None
    if options.clock:
        console.step("placing and routing it in an ECP5-85")
        (placement,) = place(unit, "update_unit", clock_mhz=1.1 * need * unit.interval, seeds=1)
    console.say(_summary(unit))
    console.say(_areas(areas, placement))
    console.say(_verdict(unit, need, placement))
    allowed = ALLOWED * HARDFLOAT["ecp5_lut"]
    too_large = areas["ECP5"].lut >= allowed
    if too_large:
        console.say(
            f"it has {areas['ECP5'].lut:,} LUT4; "
            f"expected fewer than the {allowed:,} of {ALLOWED} fused multiply-adds of HardFloat"
        )
    console.say("by " + ", ".join(tools.values()))
    console.document(
        {
            "interval": unit.interval,
            "latency": {code.name: cycles for code, cycles in unit.latency.items()},
            "area": {name: asdict(area) for name, area in areas.items()},
            "ecp5_cells": placement and placement.cells,
            "clock_mhz": placement and placement.clock_mhz,
            "needed_mhz": need * unit.interval,
            "hardfloat_multiply_add": HARDFLOAT,
            "tools": tools,
        }
    )
    too_slow = placement is not None and placement.clock_mhz < need * unit.interval
    return int(too_slow or too_large)


def parameters_per_microsecond(config: FmsConfig) -> float:
    """Rate at which a die programs parameters of Adam: those of a page set per tPROG."""
    page_set = config.geometry.planes * config.geometry.page_bytes
    return page_set / BYTES_PER_PARAMETER / (config.timing.tprog.ns / 1000)


def _summary(unit: "UpdateUnit") -> str:
    units = ", ".join(f"{count} {kind.name.lower()}" for kind, count in unit.schedule.timing.units.items())
    return (
        f"update unit: a parameter in {unit.interval} cycles, results of Adam after "
        f"{unit.latency[OptimizerCode.ADAM]}; {units}"
    )


def _areas(areas: "dict[str, Area]", placement: "Placement | None") -> str:
    ecp5, lut6 = areas["ECP5"], areas["LUT6"]
    return table(
        ("", "update unit", "HardFloat FMA"),
        [
            ("ECP5 LUT4", f"{ecp5.lut:,}", f"{HARDFLOAT['ecp5_lut']:,}"),
            ("     carry, 2 bits each", f"{ecp5.carry:,}", "-"),
            ("     LUT memory, 16 x 4 bits", f"{ecp5.lut_memory:,}", "-"),
            ("     registers", f"{ecp5.registers:,}", "0"),
            ("     multipliers 18 x 18", f"{ecp5.multipliers:,}", f"{HARDFLOAT['ecp5_multipliers']:,}"),
            ("     cells, placed", f"{placement.cells:,}" if placement else "-", "-"),
            ("Xilinx 7 LUT6", f"{lut6.lut:,}", f"{HARDFLOAT['lut6']:,}"),
            ("     registers", f"{lut6.registers:,}", "0"),
            ("     multipliers 25 x 18", f"{lut6.multipliers:,}", f"{HARDFLOAT['lut6_multipliers']:,}"),
        ],
    )  # fmt: skip


def _verdict(unit: "UpdateUnit", need: float, placement: "Placement | None") -> str:
    needed = need * unit.interval
    text = f"a Behemoth die needs {need:.1f} parameters/µs: a clock of {needed:.1f} MHz"
    if placement:
        text += f"; ECP5-85, speed 6: {placement.clock_mhz:.1f} MHz ({placement.clock_mhz / needed - 1:+.0%})"
    return text
