"""`flashtrain area`: what parts of the hardware take in an FPGA, and how fast they are."""

import argparse
from importlib import import_module

from flashtrain.spec import PRESETS

from .command import Command, add_json, at_least_one
from .console import Console

PARTS = ("update", "controller", "depth", "ecc", "codec", "pcie")
"""Each with a module `area_PART`, which is loaded when it runs."""

FPGA_INTERVAL = 3
"""With larger ones an ECP5 of speed grade 6 does not reach the clock that a Behemoth die needs."""

DEPTH_PRESETS = ("tiny", "small", "behemoth")
"""The configurations that the limit of the depth is for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "part", nargs="?", choices=PARTS, default="update",
        help="update unit of a die, the controller and its channel engines, the depth of the controller "
        "without placement, error correction, the window code, or PCI Express (default: update)",
    )  # fmt: skip
    parser.add_argument(
        "--interval", type=at_least_one, default=FPGA_INTERVAL, metavar="N",
        help="cycles per parameter of the update unit "
        f"(default: {FPGA_INTERVAL}, with which an ECP5 is fast enough)",
    )  # fmt: skip
    parser.add_argument(
        "--clock", action=argparse.BooleanOptionalAction, default=True,
        help="place and route it, which takes minutes (default: yes)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", nargs="+", choices=list(PRESETS), default=list(DEPTH_PRESETS), metavar="NAME",
        help=f"configurations whose depth to measure (default: {' '.join(DEPTH_PRESETS)})",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    part = import_module(f".area_{options.part}", __package__)
    return part.run(options, console)


COMMAND = Command(
    examples="""\
  flashtrain area                 the update unit, fast enough for a Behemoth die
  flashtrain area --interval 5    with two multiply-add units instead of four
  flashtrain area --no-clock      numbers of cells only, which takes a fraction of the time
  flashtrain area controller      whole controllers, channel engines, front ends; depth of behemoth
  flashtrain area depth --preset tiny     look-up tables in a row, by unit, without placement
  flashtrain area ecc             encoder and decoder of pages
  flashtrain area codec           encoder and decoder lane of the window code
  flashtrain area pcie            units of the function on PCI Express
""",
    add_arguments=add_arguments,
    run=run,
)
