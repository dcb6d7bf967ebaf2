"""Clock of a component in an ECP5, by nextpnr, and its longest paths.

    for placement in place(unit, "update_unit", clock_mhz=150, seeds=4):
        placement.clock_mhz        # Lattice ECP5-85, speed grade 6

    place(encoder, "codec_encoder", clock_mhz=150, seeds=1, static=True, routed=False)

The component stands alone: its ports are not pins, and ways from and to them do not count. Placements are
kept in build/synthesis as long as netlist and tools stay the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from flashtrain.native.build_cache import BUILD, build_once, content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.sim.synthesis import tools
from flashtrain.sim.synthesis.ecp5_memory import absorb_registers
from flashtrain.sim.synthesis.ecp5_resets import copy_reset_drivers
from flashtrain.sim.synthesis.netlist import Module, Source, shortened
from flashtrain.sim.synthesis.synthesis import Mapped, Target, map_modules
from flashtrain.sim.synthesis.timing import TimedPath, longest_paths

LONGEST = 5
"""Paths that a placement tells."""

_LEVELS = 2
"""Of the block diagram, whose units have resets of their own."""

DEVICE = ("--85k", "--package", "CABGA381", "--speed", "6")

_STATIC = ("--placer", "static")
"""Of a design of a tenth of the device or more: the usual placer scatters the cells of its small units."""


@dataclass(frozen=True)
class Placement:
    """A design placed with a seed: its size, its clock and its longest paths.

    cells: of an ECP5, each a look-up table, or a bit of a carry chain or memory, in use. routed: it was;
    otherwise clock and paths are estimates by distance.
    """

    seed: int
    cells: int
    clock_mhz: float
    paths: Sequence[TimedPath] = ()
    routed: bool = True


def place(
    component: wiring.Component,
    name: str,
    clock_mhz: float,
    seeds: int,
    *,
    static: bool = False,
    routed: bool = True,
) -> list[Placement]:
    """Map a component to an ECP5-85 of speed grade 6, and place and route it with seeds 1 to `seeds`.

    clock_mhz: what the placer aims at. static: the static placer of nextpnr places the design. Raises
    `ToolError` if a tool is missing or fails, not if the clock is not reached.
    """
    netlist, source = placeable(component, name)
    options = ["--freq", str(clock_mhz), "--timing-allow-fail", *(_STATIC if static else ())]
    options += [] if routed else ["--no-route"]
    text = json.dumps(netlist)
    module = Module(netlist["modules"][name], source)
    return [_place_once(text, module, name, seed, options) for seed in range(1, seeds + 1)]


def placeable(component: wiring.Component, name: str) -> tuple[dict[str, Any], Source]:
    """The netlist of a component as one module of an ECP5, and the names of the source."""
    parts = map_modules(component, name, Target.ECP5)
    netlist = dict(parts[0].netlist() if len(parts) == 1 else _joined(parts))
    top, *others = parts
    source = top.source.with_modules({part.name: part.source for part in others})
    absorb_registers(netlist["modules"][name])
    copy_reset_drivers(netlist["modules"][name], lambda register: shortened(source.unit(register), _LEVELS))
    return netlist, source


def _place_once(text: str, module: Module, name: str, seed: int, options: Sequence[str]) -> Placement:
    """A netlist, whose top is `module`, placed with that seed."""
    command = tools.nextpnr()
    options = [*DEVICE, "--seed", str(seed), "--out-of-context", *options]
    key = content_key(text, tools.version(command), *options)
    folder = (BUILD / "synthesis" / f"{name}-placed-{key}").resolve()

    def build() -> None:
        (folder / "netlist.json").write_text(text, encoding="utf-8")
        files = ["--json", "netlist.json", "--report", "report.json", "--sdf", "delays.sdf"]
        tools.run([*command, *options, *files], folder, "report.json")

    build_once(folder, build)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    paths = longest_paths((folder / "delays.sdf").read_text(encoding="utf-8"), module, LONGEST)
    cells = report["utilization"]["TRELLIS_COMB"]["used"]
    # The report has no clock of a design that is not routed.
    (clock,) = [one["achieved"] for one in report["fmax"].values()] or [1000 / paths[0].ns]
    return Placement(seed, cells, clock, paths, routed="--no-route" not in options)


def _joined(parts: Sequence[Mapped]) -> Mapping[str, Any]:
    """The netlist of a design, whose top is the first of `parts`, as one module."""
    netlists = [part.netlist() for part in parts]
    modules = {key: content for netlist in netlists for key, content in netlist["modules"].items()}
    for part, netlist in zip(parts, netlists, strict=True):
        modules[part.name] = netlist["modules"][part.name]
    top = parts[0].name
    text = json.dumps({"creator": netlists[0]["creator"], "modules": modules})
    command = tools.yosys()
    script = f"read_json parts.json; hierarchy -top {top}; flatten; opt_clean; write_json netlist.json"

    def build(folder: Path) -> None:
        (folder / "parts.json").write_text(text, encoding="utf-8")
        tools.run([*command, "-p", script], folder, "netlist.json")
        (folder / "parts.json").unlink()

    key = content_key(text, script, tools.version(command))
    folder = user_cache().build("netlist", f"{top}-joined", key, f"netlist of {top}", build)
    return json.loads((folder / "netlist.json").read_text(encoding="utf-8"))
