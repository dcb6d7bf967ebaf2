"""`flashtrain verilog`: everything that an integrator needs, as files."""

import argparse
import shutil
from shlex import quote

from .command import Command, above_zero, add_configuration, add_json, add_output, configuration
from .console import Console

DEFAULT_FOLDER = "build/verilog"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser)
    add_output(
        parser, DEFAULT_FOLDER, "folder for the files; each configuration gets a folder of its own below"
    )
    parser.add_argument(
        "--system-clock", type=above_zero, metavar="MHZ",
        help="give front end and AXI ports a clock of their own, and cross to the NAND's at the channels "
        "(default: one clock)",
    )  # fmt: skip
    parser.add_argument(
        "--pcie",
        action="store_true",
        help="put the NVMe function on PCI Express before the controller, for a hard block; not with "
        "--system-clock",
    )
    parser.add_argument(
        "--phy",
        action="store_true",
        help="join controller and dies by a model of a PHY, in the simulation: strobes, double data rate",
    )
    parser.add_argument(
        "--lint",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="check the files with Verilator (default: yes)",
    )
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.export.tools import verilator_command
    from flashtrain.sim.integration import manifest
    from flashtrain.sim.integration.package import export_designs, integration_package

    config = configuration(options)
    designs = export_designs(
        config,
        options.system_clock,
        lambda top: console.step(f"writing {top} of {config.name}"),
        options.pcie,
    )
    folder = options.output / designs.name
    package = integration_package(designs, options.phy)
    package.write(folder)
    if options.lint:
        console.step(f"checking {config.name}")
        package.check()
    for use, top in package.tops.items():
        console.say(f"{use:12} {top}")
    size = sum(len(text) for text in package.texts.values())
    console.say(f"{len(package.texts)} files, {size:,} bytes, manifest {folder / manifest.PATH}")
    verilator = "" if shutil.which("verilator") else f" VERILATOR={quote(str(verilator_command()))}"
    make = f"make -C {quote(str(folder))}"
    console.say(f"simulate: {make} icarus, or {make} verilator{verilator}")
    console.document({"folder": str(folder), "tops": package.tops, "files": list(package.texts)})
    return 0


COMMAND = Command(
    examples="""\
  flashtrain verilog                              preset small, to build/verilog/small
  flashtrain verilog --preset tiny --output rtl   to rtl/tiny
  flashtrain verilog --config mine.toml           to build/verilog/mine
  flashtrain verilog --pcie                       a drive on PCI Express, to build/verilog/small_pcie
  flashtrain verilog --system-clock 250           front end at 250 MHz, the channels at the NAND's clock
""",
    add_arguments=add_arguments,
    run=run,
    builds=False,
)
