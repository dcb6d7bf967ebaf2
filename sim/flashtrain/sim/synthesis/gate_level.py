"""A design at gate level: the netlist that is placed, and models of its cells, for a simulator.

The cells are those of an ECP5. Yosys has models of all but block memories and multipliers.
"""

import json
from pathlib import Path

from amaranth.lib import wiring

from flashtrain.native.build_cache import content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.sim.synthesis import tools
from flashtrain.sim.synthesis.placement import placeable

_BLOCKS = Path(__file__).with_name("ecp5_blocks.sv")
_CELLS = ("common_sim.vh", "ccu2c_sim.vh")
"""Of Yosys' `ecp5/cells_sim.v`: look-up tables, registers, small memories, carries."""


def gate_level(component: wiring.Component, name: str) -> list[Path]:
    """The files of `placeable`'s netlist in Verilog: the module `name` in `name`.sv, and its cells.

    Raises `ToolError` if Yosys is missing or fails.
    """
    netlist, _ = placeable(component, name)
    module = netlist["modules"][name]
    # Other names make half of the text, and a simulator keeps what has a name.
    names = {net: bits for net, bits in module["netnames"].items() if net in module["ports"]}
    text = json.dumps({"creator": netlist["creator"], "modules": {name: {**module, "netnames": names}}})
    command = tools.yosys()
    models = tools.yosys_data(command) / "ecp5"
    cells = "\n".join(["`define NO_INCLUDES", *((models / file).read_text("utf-8") for file in _CELLS)])
    script = f"read_json netlist.json; write_verilog -noattr {name}.sv"

    def build(folder: Path) -> None:
        (folder / "netlist.json").write_text(text, encoding="utf-8")
        (folder / "ecp5_cells.sv").write_text(cells, encoding="utf-8")
        tools.run([*command, "-p", script], folder, f"{name}.sv")
        (folder / "netlist.json").unlink()

    key = content_key(text, cells, script, tools.version(command))
    folder = user_cache().build("netlist", f"{name}-gates", key, f"{name} at gate level", build)
    return [folder / f"{name}.sv", folder / "ecp5_cells.sv", _BLOCKS]
