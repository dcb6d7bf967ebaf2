"""The FuseSoC core: `flashtrain.core`, in the format CAPI2."""

from collections.abc import Sequence
from importlib.metadata import version

from flashtrain.spec import FmsConfig

from .files import File, Role, of_role

PATH = "flashtrain.core"

_TYPES = {".sv": "systemVerilogSource", ".cpp": "cppSource", ".h": "cppSource", ".sdc": "SDC", ".vlt": "vlt"}


def core(config: FmsConfig, files: Sequence[File], top: str, bench: str) -> str:
    """File sets for each role; targets for synthesis, lint, and the test on Verilator and Icarus."""
    sets = "\n".join(_fileset(files, role) for role in Role)
    simulated = '[rtl, die, simulation, testbench, "tool_verilator? (waivers)", "tool_verilator? (dpi)"]'
    return f"""\
CAPI=2:
name: "flashtrain:flashtrain:flashtrain_{config.name}:{version("flashtrain")}"
description: "A flash memory system for training neural networks: the controller, configuration {config.name}"

filesets:
{sets}

targets:
  default: &default
    description: The controller behind AXI ports, for other cores
    filesets: [rtl, constraints]
    toplevel: {top}

  synth:
    <<: *default
    description: The same, for synthesis

  lint:
    description: Verilator's lint of the controller
    default_tool: verilator
    filesets: [rtl, waivers]
    toplevel: {top}
    tools:
      verilator:
        mode: lint-only
        verilator_options: ["-Wall"]

  sim:
    description: Pages appended and read back, on a model of the dies
    default_tool: icarus
    filesets: {simulated}
    toplevel: {bench}
    tools:
      icarus:
        iverilog_options: ["-g2012"]
        timescale: 1ns/1ps
      verilator:
        mode: binary
        verilator_options: ["--timing", "--timescale", "1ns/1ps", "-Wno-fatal"]
"""


def _fileset(files: Sequence[File], role: Role) -> str:
    lines = [f"  {role.value}:", "    files:"]
    for file in of_role(files, role):
        suffix = file.path[file.path.rindex(".") :]
        kind = _TYPES[suffix]
        more = ", is_include_file: true" if suffix == ".h" else ""
        lines.append(f"      - {file.path}: {{file_type: {kind}{more}}}")
    return "\n".join(lines)
