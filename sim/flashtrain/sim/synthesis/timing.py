"""The longest paths of a placed design by the names of the source, from the delays that nextpnr writes.

The file is in SDF (IEEE 1497). `INTERCONNECT` is the delay of a wire, `IOPATH` of a way through a cell.
`SETUPHOLD` has the set-up time of a pin. Each value is minimal, typical and maximal, in picoseconds.
The clock is ideal, as for nextpnr.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from flashtrain.sim.synthesis.levels import Levels
from flashtrain.sim.synthesis.netlist import Cell, Module, SignalPath, source_names

_CLOCKS = ("CLK", "CLKA", "CLKB", "CLKR", "CLKW", "WCK")
_CONSTANTS = ("$PACKER_VCC", "$PACKER_GND")
_LINE = re.compile(
    r"^ *\((?P<kind>INSTANCE|INTERCONNECT|IOPATH|SETUPHOLD) (?:\(\w+ )?(?P<first>[^() ]+)\)?"
    r"(?: (?:\(\w+ )?(?P<second>[^() ]+)\)? \(-?\d+:-?\d+:(?P<most>-?\d+)\))?",
    re.MULTILINE,
)
_PART_OF_A_CELL = re.compile(r"\$[A-Z]\w+$")
"""What nextpnr's packer adds to the name of a cell that it divides."""


@dataclass(frozen=True)
class TimedPath(SignalPath):
    """A path of a placed design."""

    ns: float

    def __str__(self) -> str:
        return f"{self.ns:.2f} ns  {super().__str__()}"


def longest_paths(sdf: str, module: Module, count: int) -> list[TimedPath]:
    """The longest paths of the module, the longest first: one for each pair of source and endpoint."""
    sources, setup = _delays(sdf)
    levels = Levels(sources)
    cells = {cell.name: cell for cell in module.cells}
    found: dict[tuple[str, str], TimedPath] = {}
    for pin in sorted(setup, key=lambda pin: levels[pin] + setup[pin], reverse=True):
        if len(found) == count:
            break
        way = list(_signals(levels.way(pin), cells, module))
        if way:
            signals = source_names(way)
            path = TimedPath(module.source.unit(signals[-1]), signals, (levels[pin] + setup[pin]) / 1000)
            found.setdefault((signals[0], signals[-1]), path)
    return list(found.values())


def _delays(sdf: str) -> tuple[dict[str, list[tuple[str, float]]], dict[str, float]]:
    """The pins before each pin with the delay from them, and the set-up time of each pin that has one."""
    sources = defaultdict[str, list[tuple[str, float]]](list)
    setup: dict[str, float] = {}
    instance = ""
    for line in _LINE.finditer(sdf):
        kind, first, second = line["kind"], line["first"].replace("\\", ""), line["second"]
        if kind == "INSTANCE":
            instance = first
        elif kind == "INTERCONNECT":
            pin = second.replace("\\", "")
            if pin.rpartition("/")[2] not in _CLOCKS and not first.startswith(_CONSTANTS):
                sources[pin].append((first, float(line["most"])))
        elif kind == "IOPATH":
            sources[f"{instance}/{second}"].append((f"{instance}/{first}", float(line["most"])))
        else:
            pin = f"{instance}/{first}"
            setup[pin] = max(setup.get(pin, 0), float(line["most"]))
    return dict(sources), setup


def _signals(pins: list[str], cells: dict[str, Cell], module: Module) -> Iterator[str]:
    """The signal of each cell on a way."""
    for pin in pins:
        name = pin.rpartition("/")[0]
        cell = cells.get(name) or cells.get(_PART_OF_A_CELL.sub("", name))
        if cell is not None:
            yield module.signal_of(cell)
