"""`flashtrain verilog`: the controller and the die's logic as SystemVerilog."""

import argparse
from dataclasses import asdict
from pathlib import Path

from flashtrain.spec import FmsConfig

from .command import Command, add_configuration, add_json, add_output, configuration
from .console import Console

DEFAULT_FOLDER = "build/verilog"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser)
    add_output(
        parser, DEFAULT_FOLDER, "folder for the files; each configuration gets a folder of its own below"
    )
    parser.add_argument(
        "--lint",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="check the files with Verilator (default: yes)",
    )
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    config = configuration(options)
    folder = options.output / config.name
    tops = write_verilog(config, folder, lint=options.lint, console=console)
    for top, files in tops.items():
        size = sum(file.stat().st_size for file in files)
        console.say(f"{top}: {len(files)} files, {size:,} bytes, manifest {folder / top}.json")
    console.document({top: [str(file) for file in files] for top, files in tops.items()})
    return 0


def write_verilog(config: FmsConfig, folder: Path, lint: bool, console: Console) -> dict[str, list[Path]]:
    """Write the designs, each with a manifest `<top>.json`; their SystemVerilog files, by top."""
    # Late: the hardware's language takes a moment to import.
    from flashtrain.rtl.controller import Controller
    from flashtrain.rtl.die import Die
    from flashtrain.rtl.export import systemverilog as export

    written = {}
    for top, component in {"flashtrain": Controller(config), "flashtrain_die": Die(config)}.items():
        console.step(f"writing {top} of {config.name}")
        design = export.export_design(component, top)
        written[top] = design.write(folder)
        (folder / f"{top}.json").write_text(design.manifest(asdict(config)))
        if lint:
            console.step(f"checking {top}")
            export.lint(written[top], top)
    return written


COMMAND = Command(
    name="verilog",
    summary="write the controller and the die's logic as lint-clean SystemVerilog with a JSON manifest",
    examples="""\
  flashtrain verilog                              preset small, to build/verilog/small
  flashtrain verilog --preset tiny --output rtl   to rtl/tiny
  flashtrain verilog --config mine.toml           to build/verilog/mine
""",
    add_arguments=add_arguments,
    run=run,
    builds=False,
)
