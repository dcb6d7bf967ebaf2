"""`flashtrain area depth`: look-up tables in a row between the registers of whole controllers."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flashtrain.spec import preset

from .console import Console, table

if TYPE_CHECKING:
    from flashtrain.sim.synthesis.depth import Depths, Path


def run(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.sim.synthesis.tools import versions

    tools = versions(placing=False)
    measured = measure(options.preset, console)
    console.say(unit_table(measured))
    for name, depths in measured.items():
        say_paths(name, depths, console)
    console.say("by " + ", ".join(tools.values()))
    console.document({"depths": document(measured), "tools": tools})
    return int(too_deep(measured))


def measure(presets: Sequence[str], console: Console) -> "dict[str, Depths]":
    """The depths of whole controllers, by the name of the configuration."""
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.controller import Controller
    from flashtrain.sim.synthesis.depth import measure_depths

    measured = {}
    for name in presets:
        console.step(f"mapping the controller of {name}")
        measured[name] = measure_depths(Controller(preset(name)), "controller")
    return measured


def unit_table(measured: "dict[str, Depths]") -> str:
    """A row for each unit of the controllers, with its deepest path in each of them."""
    units = {name: depths.units() for name, depths in measured.items()}
    rows = []
    for unit in dict.fromkeys(unit for found in units.values() for unit in found):
        paths = [found.get(unit) for found in units.values()]
        rows.append((unit or "(ports)", *(f"{path.depth:.1f}" if path else "" for path in paths)))
    return table(("depth in LUT4, by unit", *units), rows)


def say_paths(name: str, depths: "Depths", console: Console) -> None:
    """Tell the paths beyond the limit, the deepest into each unit."""
    from flashtrain.sim.synthesis.depth import LIMIT

    deep = depths.deeper_than(LIMIT)
    console.say(f"{name}: {len(deep)} registers, memories or outputs are deeper than {LIMIT}")
    for path in _deepest_of_each_unit(deep):
        console.say(f"  {path}")


def too_deep(measured: "dict[str, Depths]") -> bool:
    from flashtrain.sim.synthesis.depth import LIMIT

    return any(depths.deeper_than(LIMIT) for depths in measured.values())


def document(measured: "dict[str, Depths]") -> dict[str, dict[str, dict[str, object]]]:
    return {
        name: {
            unit: {"depth": path.depth, "path": list(path.signals)} for unit, path in depths.units().items()
        }
        for name, depths in measured.items()
    }


def _deepest_of_each_unit(paths: "Sequence[Path]") -> "list[Path]":
    found: dict[str, Path] = {}
    for path in paths:
        found.setdefault(path.unit, path)
    return list(found.values())
