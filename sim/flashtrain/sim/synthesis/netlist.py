"""A mapped design as Yosys' JSON has it, with the names that the source gives to its signals.

Synthesis leaves several names for a wire, which it had in the units that it went through. The name here is
that of the register which drives it, in the unit with that register.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

Bit = int | str
"""A wire by its number, or a constant: "0", "1", "x"."""

MEMORIES = ("TRELLIS_DPR16X4", "DP16KD", "PDPW16KD")

_OF_A_TOOL = re.compile(
    r"_(?:LUT4|PFUMX|L6MUX21|CCU2C|TRELLIS_FF|TRELLIS_DPR16X4|DP16KD|MULT18X18D)_.*|(?:\.\d+)+_[A-Z].*"
)
_PIECE_OF_A_MEMORY = re.compile(r"(?:\.\d+)+$")
_REGISTER = re.compile(
    r"^  attribute \\init .*\n(?:  attribute .*\n)*  wire (?:[a-z]+ \d+ )*\\(\S+)$", re.MULTILINE
)
_INSTANCE = re.compile(r"^  cell \\(\S+) \\(\S+)$", re.MULTILINE)
_MODULE = re.compile(r"^module \\(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """Names that the text of a module in Yosys' language gives.

    units: those below it. registers: with their units. instances: of modules, with the name of the module.
    """

    units: frozenset[str]
    registers: frozenset[str]
    instances: Mapping[str, str]

    @classmethod
    def of(cls, rtlil: str) -> "Source":
        units: set[str] = set()
        registers: set[str] = set()
        instances: dict[str, str] = {}
        # A name and a text for each module; the first module is the top.
        _, *parts = _MODULE.split(rtlil)
        top = parts[0]
        for module, text in zip(parts[::2], parts[1::2], strict=True):
            unit = module.removeprefix(top).removeprefix(".")
            units.add(unit)
            registers.update(join(unit, name) for name in _REGISTER.findall(text))
            instances.update((join(unit, name), kind) for kind, name in _INSTANCE.findall(text))
        return cls(frozenset(units), frozenset(registers), instances)

    def with_modules(self, others: Mapping[str, "Source"]) -> "Source":
        """The names in a module that has the instances of these others in itself."""
        units, registers = set(self.units), set(self.registers)
        for path, module in self.instances.items():
            if module in others:
                inner = others[module].with_modules(others)
                units.update(join(path, unit) for unit in inner.units)
                registers.update(join(path, register) for register in inner.registers)
        return Source(frozenset(units), frozenset(registers), {})

    def unit(self, signal: str) -> str:
        """The unit that a signal belongs to; the fields of a structure have dots in their names, too."""
        while signal not in self.units:
            signal = signal.rpartition(".")[0]
        return signal


@dataclass(frozen=True)
class SignalPath:
    """A path to an endpoint.

    signals: those with a name in the source, from the path's source to its endpoint. unit: of the endpoint.
    """

    unit: str
    signals: tuple[str, ...]

    @property
    def endpoint(self) -> str:
        return self.signals[-1]

    def __str__(self) -> str:
        return " > ".join(self.signals)


@dataclass(frozen=True)
class Cell:
    """A cell of a netlist, with the wires of each pin; `inputs` and `outputs` name pins."""

    name: str
    type: str
    pins: Mapping[str, Sequence[Bit]]
    inputs: Sequence[str]
    outputs: Sequence[str]

    def bits(self, *pins: str) -> Iterator[Bit]:
        for pin in pins:
            yield from self.pins.get(pin, ())

    @property
    def memory(self) -> str:
        """The name of the memory that this cell is a piece of."""
        return _PIECE_OF_A_MEMORY.sub("", self.name)


class Module:
    """A mapped module of the design."""

    def __init__(self, content: Mapping[str, Any], source: Source):
        self.source = source
        self.cells = [
            Cell(
                name,
                cell["type"],
                cell["connections"],
                *(
                    [pin for pin, found in cell["port_directions"].items() if found == way]
                    for way in ("input", "output")
                ),
            )
            for name, cell in content["cells"].items()
            if cell["type"] != "$scopeinfo"
        ]
        self.inputs = _ports(content, "input")
        self.outputs = _ports(content, "output")
        self._names = content["netnames"]

    @cached_property
    def signals(self) -> dict[int, str]:
        """The signal that each wire is, or is a bit of."""
        found: dict[int, str] = {}
        for name in sorted(self._names, key=self._rank):
            for bit in self._names[name]["bits"]:
                if isinstance(bit, int):
                    found.setdefault(bit, name)
        return found

    def signal_of(self, cell: Cell) -> str:
        """The signal that a cell drives, without the names of tools; for a memory, its name."""
        if cell.type in MEMORIES:
            return cell.memory
        driven = (bit for bit in cell.bits(*cell.outputs) if isinstance(bit, int))
        return self.signals[next(driven)]

    def _rank(self, name: str) -> tuple[bool, bool, bool, int, str]:
        """Registers first, names that a tool has made last."""
        made = bool(self._names[name].get("hide_name")) or is_made_by_a_tool(name)
        return name not in self.source.registers, made, "$" in name, len(name), name


def is_made_by_a_tool(signal: str) -> bool:
    """Whether the signal's name is not one of the source."""
    return _OF_A_TOOL.search(signal) is not None


def readable(signal: str) -> str:
    """The name of the source that a name made by a tool begins with."""
    return _OF_A_TOOL.sub("", signal)


def source_names(signals: Iterable[str | None]) -> tuple[str, ...]:
    """The names of the source on a path, whose last one is its endpoint; each once where it repeats."""
    *before, endpoint = signals
    named = [name for name in before if name and not is_made_by_a_tool(name)] + [endpoint or ""]
    return tuple(name for name, _ in groupby(named))


def shortened(unit: str, levels: int) -> str:
    """The unit of so many levels of the block diagram that this one is, or is in."""
    return ".".join(unit.split(".")[:levels])


def join(*parts: str) -> str:
    """A path of the parts that are not empty."""
    return ".".join(part for part in parts if part)


def _ports(content: Mapping[str, Any], direction: str) -> dict[str, list[Bit]]:
    return {name: port["bits"] for name, port in content["ports"].items() if port["direction"] == direction}
