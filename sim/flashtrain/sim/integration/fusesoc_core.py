"""The FuseSoC core: `flashtrain.core`, in the format CAPI2, with Edalize's flow API."""

from collections.abc import Sequence
from importlib.metadata import version

from .files import File, Role, of_role

PATH = "flashtrain.core"

_TYPES = {
    ".sv": "systemVerilogSource", ".cpp": "cppSource", ".h": "cppSource", ".vlt": "vlt",
    ".sdc": "SDC", ".xdc": "xdc", ".lpf": "LPF",
}  # fmt: skip


def core(name: str, what: str, files: Sequence[File], top: str, bench: str) -> str:
    """File sets for each role; targets for synthesis, lint, and the test on Icarus and on Verilator.

    `what` is behind the pins of `top`.
    """
    sets = "\n".join(_fileset(files, role) for role in Role)
    return f"""\
CAPI=2:
name: "flashtrain:flashtrain:flashtrain_{name}:{version("flashtrain")}"
description: "A flash memory system for training neural networks: {what}, configuration {name}"

filesets:
{sets}

targets:
  default: &default
    description: {what[0].upper() + what[1:]}, for other cores
    filesets: [rtl, constraints]
    toplevel: {top}

  synth:
    <<: *default
    description: The same as a netlist of an ECP5, by Yosys
    flow: generic
    flow_options:
      tool: yosys
      arch: ecp5
      output_format: json

  lint:
    description: Verilator's lint of {what}
    filesets: [rtl, waivers]
    toplevel: {top}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: ["-Wall"]

  sim: &sim
    description: Pages appended and read back on a model of the dies, by Icarus
    filesets: [rtl, die, simulation, testbench]
    toplevel: {bench}
    flow: sim
    flow_options:
      tool: icarus
      iverilog_options: ["-g2012"]
      timescale: 1ns/1ps

  sim_verilator:
    <<: *sim
    description: The same by Verilator
    filesets: [rtl, die, simulation, testbench, waivers, dpi]
    flow_options:
      tool: verilator
      mode: binary
      verilator_options:
        ["--timing", "--timescale", "1ns/1ps", "-Wno-fatal", "-CFLAGS", "-std=c++20", "-LDFLAGS", "-latomic"]
"""


def _fileset(files: Sequence[File], role: Role) -> str:
    lines = [f"  {role.value}:", "    files:"]
    for file in of_role(files, role):
        suffix = file.path[file.path.rindex(".") :]
        kind = _TYPES[suffix]
        more = ", is_include_file: true" if suffix == ".h" else ""
        lines.append(f"      - {file.path}: {{file_type: {kind}{more}}}")
    return "\n".join(lines)
