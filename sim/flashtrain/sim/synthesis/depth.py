"""Depth of a design: look-up tables in a row from register to register, counted without placement.

    depths = measure_depths(Controller(preset("tiny")), "controller")
    depths.paths[0].depth                        # the deepest of all
    depths.units()["front_end.zones"].signals    # the deepest path into this unit, from its source on

A path begins with depth 0: at a register, at the output of a block memory, or at an input of the design. It
ends at a pin of a register (data, enable, reset), at a pin of a memory, or at an output. On its way count the
cells of the netlist that Yosys' `synth_ecp5` makes:

- 1 for a look-up table of four inputs (`LUT4`), 0 for the multiplexers that join two of a slice (`PFUMX`,
  `L6MUX21`).
- 1 into a carry chain (`CCU2C`), 1/16 for each further cell of two bits, 1 out of it to a sum.
- 1 from the address of a memory of look-up tables (`TRELLIS_DPR16X4`) to its word.
- 4 for a multiplier (`MULT18X18D`) without registers.

The modules that a design has several times (`SharedModule`) are mapped once each, with their ports as borders
of the optimisation. Paths cross the borders.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from amaranth.lib import wiring

from flashtrain.sim.synthesis.levels import CycleError, Levels
from flashtrain.sim.synthesis.netlist import (
    MEMORIES,
    Bit,
    Cell,
    Module,
    SignalPath,
    is_made_by_a_tool,
    join,
    readable,
    shortened,
    source_names,
)
from flashtrain.sim.synthesis.synthesis import Target, map_modules
from flashtrain.spec.errors import FlashtrainError, ToolError

LIMIT = 10
"""The depth that no path of a controller exceeds."""

_TABLES = {"LUT4": 1, "PFUMX": 0, "L6MUX21": 0, "MULT18X18D": 4}
_CARRY = 1 / 16
_BLOCK_MEMORIES = ("DP16KD", "PDPW16KD")
_CLOCKS = ("CLK", "WCK", "CLKA", "CLKB", "CLKW", "CLKR")
_REGISTER_PINS = {"DI": "", "M": "", "CE": " (enable)", "LSR": " (reset)"}


_NUMBER = re.compile(r"_?\d+(?=\.|$)")


class LoopError(FlashtrainError):
    """A signal depends on itself within a cycle."""


@dataclass(frozen=True)
class Path(SignalPath):
    """The deepest path to an endpoint."""

    depth: float

    def __str__(self) -> str:
        return f"{self.depth:.1f}  {super().__str__()}"


@dataclass(frozen=True)
class Depths:
    """The deepest path to each register, memory and output, the deepest of all first."""

    paths: tuple[Path, ...]

    def units(self, levels: int = 3) -> dict[str, Path]:
        """The deepest path into each unit, of so many levels of the block diagram; the deepest first.

        Units of one name and different numbers are one.
        """
        found: dict[str, Path] = {}
        for path in self.paths:
            found.setdefault(_NUMBER.sub("", shortened(path.unit, levels)), path)
        return found

    def deeper_than(self, limit: float) -> list[Path]:
        return [path for path in self.paths if path.depth > limit]


def measure_depths(top: wiring.Component, name: str) -> Depths:
    """Map a component to an ECP5 and level its netlist.

    Raises `ToolError` if Yosys is missing or fails, `LoopError` for a combinational loop.
    """
    return depths_of({part.name: part.module() for part in map_modules(top, name, Target.ECP5)}, name)


def depths_of(modules: Mapping[str, Module], top: str) -> Depths:
    """The depths of mapped modules, which instantiate each other."""
    return _Nets(modules, top).depths()


@dataclass(frozen=True)
class _End:
    net: int
    unit: str
    name: str


class _Nets:
    """The nets of all instances, by numbers of their own, and what drives them."""

    def __init__(self, modules: Mapping[str, Module], top: str):
        self._modules = modules
        self._numbers = count()
        self._sources: dict[int, Sequence[tuple[int, float]]] = {}
        self._names: dict[int, str] = {}
        self._ends: list[_End] = []
        module = modules[top]
        outside = {
            port: [next(self._numbers) for _ in bits]
            for port, bits in (module.inputs | module.outputs).items()
        }
        self._instantiate("", module, outside)
        for port in module.inputs:
            self._names.update(dict.fromkeys(outside[port], port))
        for port in module.outputs:
            self._ends.extend(_End(net, "", port) for net in outside[port])

    def depths(self) -> Depths:
        try:
            levels = Levels(self._sources)
        except CycleError as error:
            names = sorted({self._names[net] for net in self._names.keys() & set(error.nodes)})
            named = [name for name in names if not is_made_by_a_tool(name)]
            raise LoopError(f"a combinational loop: {', '.join(named[:8])}") from None
        deepest: dict[tuple[str, str], _End] = {}
        for end in self._ends:
            known = deepest.setdefault((end.unit, end.name), end)
            if levels[end.net] > levels[known.net]:
                deepest[end.unit, end.name] = end
        paths = [Path(end.unit, self._signals(end, levels), levels[end.net]) for end in deepest.values()]
        return Depths(tuple(sorted(paths, key=lambda path: (-path.depth, path.endpoint))))

    def _signals(self, end: _End, levels: Levels[int]) -> tuple[str, ...]:
        return source_names([*(self._names.get(net) for net in levels.way(end.net)), end.name])

    def _instantiate(self, path: str, module: Module, outside: Mapping[str, Sequence[int | None]]):
        """Number the nets of an instance, whose ports are these nets of its parent; None for a constant."""
        nets: dict[int, int | None] = {}

        def net(bit: Bit) -> int | None:
            if isinstance(bit, str):
                return None
            if bit not in nets:
                nets[bit] = next(self._numbers)
            return nets[bit]

        def join_port(port: str, bits: Sequence[Bit]) -> Iterator[tuple[int, int | None]]:
            for bit, outer in zip(bits, outside.get(port, [None] * len(bits)), strict=True):
                if isinstance(bit, int):
                    yield bit, outer

        for port, bits in module.inputs.items():
            nets.update(join_port(port, bits))
        for port, bits in module.outputs.items():
            for bit, outer in join_port(port, bits):
                inner = nets.setdefault(bit, outer)
                if outer is not None and inner is not None and inner != outer:
                    self._sources[outer] = [(inner, 0)]
        for cell in module.cells:
            if cell.type in self._modules:
                ports = {pin: [net(bit) for bit in bits] for pin, bits in cell.pins.items()}
                self._instantiate(join(path, cell.name), self._modules[cell.type], ports)
                continue
            for output, sources in _sources(cell):
                target = net(output)
                if target is not None:
                    found = ((net(bit), cost) for bit, cost in sources)
                    self._sources[target] = [(source, cost) for source, cost in found if source is not None]
            for bit in cell.bits(*cell.outputs):
                target = net(bit)
                if target is not None and isinstance(bit, int):
                    name = cell.memory if cell.type in MEMORIES else module.signals[bit]
                    self._names[target] = join(path, name)
            for bit, name in _ends(cell, module):
                target = net(bit)
                if target is not None:
                    unit = join(path, module.source.unit(name))
                    self._ends.append(_End(target, unit, join(path, name)))


def _sources(cell: Cell) -> Iterator[tuple[Bit, Sequence[tuple[Bit, float]]]]:
    """The outputs of a cell that depend on inputs within the cycle, with those inputs and their depth."""
    if cell.type in _TABLES:
        inputs = [(bit, _TABLES[cell.type]) for bit in _unclocked(cell)]
        for output in cell.bits(*cell.outputs):
            yield output, inputs
    elif cell.type == "CCU2C":
        low, high = list(cell.bits("A0", "B0", "C0", "D0")), list(cell.bits("A1", "B1", "C1", "D1"))
        for pin, inputs, passing in (("S0", low, 1), ("S1", low + high, 1), ("COUT", low + high, _CARRY)):
            for output in cell.bits(pin):
                yield output, [(bit, 1) for bit in inputs] + [(bit, passing) for bit in cell.bits("CIN")]
    elif cell.type == "TRELLIS_DPR16X4":
        for output in cell.bits("DO"):
            yield output, [(bit, 1) for bit in cell.bits("RAD")]
    elif cell.type not in ("TRELLIS_FF", *_BLOCK_MEMORIES):
        raise ToolError(f"{cell.name} is a {cell.type}, whose depth is not known")


def _unclocked(cell: Cell) -> Iterator[Bit]:
    """The inputs of a cell without that of the clock."""
    return cell.bits(*(pin for pin in cell.inputs if pin not in _CLOCKS))


def _ends(cell: Cell, module: Module) -> Iterable[tuple[Bit, str]]:
    """The inputs of a cell at which a path ends, with the name of the end."""
    if cell.type == "TRELLIS_FF":
        (output,) = cell.pins["Q"]
        assert isinstance(output, int)
        for pin, what in _REGISTER_PINS.items():
            for bit in cell.bits(pin):
                yield bit, readable(module.signals[output]) + what
    elif cell.type == "TRELLIS_DPR16X4":
        for bit in cell.bits("DI", "WAD", "WRE"):
            yield bit, cell.memory
    elif cell.type in _BLOCK_MEMORIES:
        for bit in _unclocked(cell):
            yield bit, cell.memory
