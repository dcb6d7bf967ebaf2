"""`flashtrain area`: what parts of the hardware take in an FPGA, and how fast they are."""

import argparse
from collections.abc import Callable

from flashtrain.spec import PRESETS

from . import area_codec, area_controller, area_depth, area_ecc, area_update
from .command import Command, add_json, at_least_one
from .console import Console

PARTS: dict[str, Callable[[argparse.Namespace, Console], int]] = {
    "update": area_update.run,
    "controller": area_controller.run,
    "depth": area_depth.run,
    "ecc": area_ecc.run,
    "codec": area_codec.run,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "part", nargs="?", choices=list(PARTS), default="update",
        help="update unit of a die, the controller and its channel engines, the depth of the controller "
        "without placement, error correction, or the window code (default: update)",
    )  # fmt: skip
    parser.add_argument(
        "--interval", type=at_least_one, default=area_update.FPGA_INTERVAL, metavar="N",
        help="cycles per parameter of the update unit "
        f"(default: {area_update.FPGA_INTERVAL}, with which an ECP5 is fast enough)",
    )  # fmt: skip
    parser.add_argument(
        "--clock", action=argparse.BooleanOptionalAction, default=True,
        help="place and route it, which takes minutes (default: yes)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", nargs="+", choices=list(PRESETS), default=list(area_depth.PRESETS), metavar="NAME",
        help=f"configurations whose depth to measure (default: {' '.join(area_depth.PRESETS)})",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    return PARTS[options.part](options, console)


COMMAND = Command(
    examples="""\
  flashtrain area                 the update unit, fast enough for a Behemoth die
  flashtrain area --interval 5    with two multiply-add units instead of four
  flashtrain area --no-clock      numbers of cells only, which takes a fraction of the time
  flashtrain area controller      whole controllers, channel engines, front ends; depth of behemoth
  flashtrain area depth --preset tiny     look-up tables in a row, by unit, without placement
  flashtrain area ecc             encoder and decoder of pages
  flashtrain area codec           encoder and decoder lane of the window code
""",
    add_arguments=add_arguments,
    run=run,
)
