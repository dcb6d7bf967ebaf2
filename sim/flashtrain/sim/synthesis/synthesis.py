"""Area of a component, by Yosys; `placement.py` has its clock.

    area = synthesise(unit, "update_unit", Target.ECP5)   # area.lut, area.registers, ...

The component stands alone: its ports are not pins. Shared modules are mapped once each, with their ports as
borders of the optimisation. Netlists are kept in the user's cache.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from flashtrain.native.build_cache import content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.rtl.export.systemverilog import to_rtlil
from flashtrain.sim.synthesis import tools
from flashtrain.sim.synthesis.netlist import Module, Source


class Target(Enum):
    """The target of a mapping, by Yosys' command for it; `LUT6` are the slices of Xilinx 7."""

    ECP5 = "synth_ecp5"
    LUT6 = "synth_xilinx -family xc7 -flatten"


_MEMORY_LUTS = {
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip
"""Look-up tables of 6 inputs in a memory cell of Xilinx 7."""

_STATES = "setattr -unset init w:*_state"
"""State machines begin with a reset, so Yosys may code them anew; it does not if they begin before."""

_PROMISES = "setparam -set RD_COLLISION_X_MASK 1'1 t:$mem_v2 a:no_rw_check=1 %i"
"""Yosys knows the attribute (`flashtrain.rtl.lib.memories`) of memories in Verilog only."""


@dataclass(frozen=True)
class Area:
    """Cells of a mapped design.

    - `lut`: look-up tables of 4 or 6 inputs.
    - `carry`: in an ECP5 two bits each, in Xilinx 7 four.
    - `lut_memory`: in an ECP5 16 words of 4 bits; in Xilinx 7 shift registers too.
    - `multipliers`: 18 by 18 bits, or 25 by 18.
    - `block_memory`: in an ECP5 of 18 Kbit, in Xilinx 7 of 18 or 36.
    - `memory_lut`: the look-up tables that Xilinx 7 spends on `lut_memory`.
    """

    lut: int = 0
    carry: int = 0
    lut_memory: int = 0
    registers: int = 0
    multipliers: int = 0
    block_memory: int = 0
    memory_lut: int = 0

    def __add__(self, other: "Area") -> "Area":
        return Area(*(mine + yours for mine, yours in zip(astuple(self), astuple(other), strict=True)))

    def __rmul__(self, number: int) -> "Area":
        return Area(*(number * mine for mine in astuple(self)))

    @classmethod
    def of_cells(cls, cells: Mapping[str, int]) -> "Area":
        """The area of cells, whose numbers are by type."""

        def count(*beginnings: str) -> int:
            return sum(number for cell, number in cells.items() if cell.startswith(beginnings))

        return cls(
            lut=count("LUT", "INV"),
            carry=count("CCU2C", "CARRY4"),
            lut_memory=count("TRELLIS_DPR16X4", "RAM32", "RAM64", "RAM128", "SRL"),
            registers=count("TRELLIS_FF", "FD"),
            multipliers=count("MULT18X18D", "DSP48E1"),
            block_memory=count("DP16KD", "PDPW16KD", "RAMB"),
            memory_lut=sum(number * cells.get(cell, 0) for cell, number in _MEMORY_LUTS.items()),
        )


@dataclass(frozen=True)
class Mapped:
    """A module of a design, which has it `number` times, with the results of Yosys in `folder`."""

    name: str
    number: int
    source: Source
    folder: Path

    def netlist(self) -> dict[str, Any]:
        """Yosys' JSON."""
        return json.loads((self.folder / "netlist.json").read_text(encoding="utf-8"))

    def module(self) -> Module:
        return Module(self.netlist()["modules"][self.name], self.source)

    def area(self) -> Area:
        statistics = json.loads((self.folder / "area.json").read_text(encoding="utf-8"))
        return Area.of_cells(statistics["modules"][rf"\{self.name}"]["num_cells_by_type"])


def synthesise(component: wiring.Component, name: str, target: Target) -> Area:
    """Map a component to cells. Raises `ToolError` if Yosys is missing or fails."""
    return sum((one.number * one.area() for one in map_modules(component, name, target)), Area())


def map_modules(component: wiring.Component, name: str, target: Target) -> list[Mapped]:
    """The top and the shared modules of a component, each mapped alone.

    Raises `ToolError` if Yosys is missing or fails.
    """
    texts = {module: _without_brackets(text) for module, text in to_rtlil(component, name).items()}
    sources = {module: Source.of(text) for module, text in texts.items()}
    numbers = Counter([name])
    found = []
    for module, text in texts.items():
        below = Counter(kind for kind in sources[module].instances.values() if kind in texts)
        for other, number in below.items():
            numbers[other] += numbers[module] * number
        whole = "\n".join([text, *(_border(texts[other]) for other in below)])
        found.append(Mapped(module, numbers[module], sources[module], _mapped(whole, module, target)))
    return found


def _border(text: str) -> str:
    """The first module of a text without its content."""
    _, beginning, rest = text.partition("module ")
    name, content = rest.split("\n", 1)
    ports = re.findall(r"^  wire .*(?:input|output) \d+ .*$", content.partition("\nend\n")[0], re.MULTILINE)
    return "\n".join(["attribute \\blackbox 1", beginning + name, *ports, "end"])


def _mapped(text: str, name: str, target: Target) -> Path:
    """The folder with netlist and statistics of a mapped design."""
    command = tools.yosys()
    script = "; ".join(
        [
            f"read_rtlil {name}.il",
            "proc; memory_collect",
            _STATES,
            _PROMISES,
            f"{target.value} -top {name}",
            "write_json netlist.json",
            "tee -q -o area.json stat -json",
        ]
    )
    key = content_key(text, script, tools.version(command))

    def build(folder: Path) -> None:
        (folder / f"{name}.il").write_text(text, encoding="utf-8")
        tools.run([*command, "-p", script], folder, "area.json")

    return user_cache().build(
        "netlist", f"{name}-{target.name.lower()}", key, f"netlist of {name}, {target.name}", build
    )


def _without_brackets(text: str) -> str:
    """RTLIL in which no wire is called what Yosys calls a bit of another: `a[3]`, a part of Amaranth's `a`.

    It takes one for the other when it puts what ABC has mapped into its place.
    """
    return re.sub(r"\\\S+", lambda name: re.sub(r"\[(\d+)\]", r"__\1", name[0]), text)
