"""What a sub-command is, and the arguments that several share."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flashtrain.spec import PRESETS
from flashtrain.training.sequence.steps import UpdatePlace

from .console import Console
from .links import LINKS


@dataclass(frozen=True)
class Command:
    """A sub-command: `run` gives the exit code; `examples` are shown at the end of its help."""

    name: str
    summary: str
    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], int]


def add_preset(parser: argparse.ArgumentParser, default: str = "small") -> None:
    parser.add_argument(
        "--preset", choices=list(PRESETS), default=default, help=f"configuration (default: {default})"
    )


def add_link(parser: argparse.ArgumentParser, default: str = "rtl") -> None:
    kinds = "; ".join(f"{kind.name}: {kind.summary}" for kind in LINKS.values())
    parser.add_argument("--link", choices=list(LINKS), default=default, help=f"{kinds} (default: {default})")


def add_update(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--update", choices=[place.value for place in UpdatePlace], default=UpdatePlace.DIE.value,
        help="who updates the weights: the dies, where they stay, or the core, which reads them and their"
        " optimizer state and appends the new ones (default: die)",
    )  # fmt: skip


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1, help="of everything (default: 1)")


def add_iterations(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--iterations", type=at_least_one, default=default, metavar="N",
        help=f"of a training run (default: {default})",
    )  # fmt: skip


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def add_output(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    parser.add_argument(
        "--output", type=Path, default=Path(default), metavar="DIR", help=f"{what} (default: {default})"
    )


def at_least_one(text: str) -> int:
    """A positive integer, for `argparse`."""
    return _at_least(1, text)


def at_least_zero(text: str) -> int:
    """A number that counts from 0, for `argparse`."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"expected an integer of at least {least}, got {text!r}")
    return number
