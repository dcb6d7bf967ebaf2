"""Lists of files for simulators and synthesis, a makefile that uses them, and waivers of lint."""

from collections.abc import Sequence

from .files import SIMULATED, File, Role, of_role

RTL_LIST = "flashtrain.f"
SIMULATION_LIST = "flashtrain_sim.f"
VERILATOR_LIST = "flashtrain_sim.verilator.f"
MAKEFILE = "Makefile"

_RULES = ("CASEINCOMPLETE", "DECLFILENAME", "UNUSEDSIGNAL", "WIDTH")
"""Classes of warnings that generated text cannot avoid, by names that Verilator has from 5.006 on.

Signals that nothing reads are members of interfaces; values change their width where they are assigned, as
Amaranth has it; a `case` without a default assigns nothing then. WIDTH stands for WIDTHEXPAND and WIDTHTRUNC.
"""
_INITIAL_VALUES = "Procedural assignment to declaration with initial value*"
"""The message of PROCASSINIT, a name that 5.006 refuses: registers start with their value, as in an FPGA."""
_MODEL_RULES = ("VARHIDDEN", "UNUSEDPARAM")
"""Of the models: arguments of tasks are named like ports, and each simulator uses its own part."""


def waivers() -> str:
    """The file in Verilator's own language."""
    lines = [f"lint_off -rule {rule}" for rule in _RULES]
    lines.append(f'lint_off -file "*.sv" -match "{_INITIAL_VALUES}"')
    for model in ("array.sv", "checker.sv"):
        lines += [f'lint_off -rule {rule} -file "*{model}"' for rule in _MODEL_RULES]
    # The FIFOs between the clocks take the reset of one side without the clock of the other, on purpose.
    lines.append('lint_off -rule SYNCASYNCNET -file "*flashtrain_axi.sv"')
    return "\n".join(["`verilator_config", *lines, ""])


def file_lists(files: Sequence[File], bench: str) -> dict[str, str]:
    """Text by path. All paths are relative to the folder of the lists, from which tools are to run."""
    dpi = [file.path for file in of_role(files, Role.DPI) if file.path.endswith(".cpp")]
    verilator = [
        *(file.path for file in of_role(files, Role.WAIVERS)),
        f"-f {SIMULATION_LIST}",
        *dpi,
        *("--timing", "--timescale 1ns/1ps", f"--top-module {bench}"),
    ]
    return {
        RTL_LIST: _lines(file.path for file in of_role(files, Role.RTL)),
        SIMULATION_LIST: _lines(file.path for file in of_role(files, *SIMULATED)),
        VERILATOR_LIST: _lines(verilator),
        MAKEFILE: _makefile(bench),
    }


def _lines(lines) -> str:
    return "".join(f"{line}\n" for line in lines)


def _makefile(bench: str) -> str:
    return f"""\
# The test {bench} on Verilator and Icarus, and lint. Generated: do not edit.
#
#   make verilator    5.0 or newer; VERILATOR=... names another binary, CXX=... another compiler
#   make icarus       11 or newer
#   make lint

VERILATOR ?= verilator
IVERILOG ?= iverilog
VVP ?= vvp

# Compilers by name: a Verilator that was built elsewhere has the paths of that machine.
# CURDIR: all paths are relative, so a space in the name of the folder does no harm, which Verilator fears.
BUILD = -MAKEFLAGS "CXX=$(CXX) LINK=$(CXX) PYTHON3=python3 VM_PARALLEL_BUILDS=0 CURDIR=. $(OPTIMIZATION)"
OPTIMIZATION = OPT_FAST=-O1 OPT_SLOW=-O0

# Older ones fail late, with messages that do not say why.
VERILATOR_5 = case "$$($(VERILATOR) --version)" in *"Verilator "[0-4].*) \\
    echo "expected Verilator 5.0 or newer: $$($(VERILATOR) --version)" >&2; exit 1;; esac
ICARUS_11 = case "$$($(IVERILOG) -V 2>/dev/null)" in *"Verilog version "[0-9].*|*"Verilog version 10."*) \\
    echo "expected Icarus Verilog 11 or newer: $$($(IVERILOG) -V 2>/dev/null | head -1)" >&2; exit 1;; esac

.PHONY: verilator icarus lint clean

verilator: obj_dir/V{bench}
	obj_dir/V{bench}

obj_dir/V{bench}: {VERILATOR_LIST} $(shell cat {SIMULATION_LIST})
	@$(VERILATOR_5)
	$(VERILATOR) --binary $(BUILD) -CFLAGS -std=c++20 -LDFLAGS -latomic -Wall -Wno-fatal -f {VERILATOR_LIST}

icarus: {bench}.vvp
	$(VVP) -n {bench}.vvp

{bench}.vvp: $(shell cat {SIMULATION_LIST})
	@$(ICARUS_11)
	$(IVERILOG) -g2012 -s {bench} -o $@ -c {SIMULATION_LIST}

lint:
	@$(VERILATOR_5)
	$(VERILATOR) --lint-only -Wall -f {VERILATOR_LIST}

clean:
	rm -rf obj_dir {bench}.vvp
"""
