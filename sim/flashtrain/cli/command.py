"""Sub-commands, and the arguments that several of them share."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from flashtrain.spec import PRESETS, FmsConfig, load_config, preset
from flashtrain.spec.boards import ULX3S

from .console import Console
from .links import LINKS, SERIAL
from .outputs import output_folder

MOST_COUNT = 10**9
"""Of iterations, examples or jobs."""
MOST_SEED = (1 << 63) - 1
MOST_NUMBER = 1e18
"""Of a rate, a time or a factor; its reciprocal is the least."""


@dataclass(frozen=True)
class Command:
    """A sub-command of `commands.py`: `run` gives the exit code; `examples` end its help.

    builds: it may compile simulators or models in C++, and so has the option `--cache-dir`.
    """

    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], int]
    builds: bool = True


def add_configuration(
    parser: argparse.ArgumentParser,
    default: str = "small",
    offered: Callable[[FmsConfig], bool] = lambda config: True,
) -> None:
    """`--preset`, of those that are `offered`, and `--config`, one of them; see :func:`configuration`."""
    one = parser.add_mutually_exclusive_group()
    names = [name for name, config in PRESETS.items() if offered(config)]
    one.add_argument(
        "--preset", choices=names, metavar="NAME",
        help=f"{', '.join(names)} (default: {default})",
    )  # fmt: skip
    parser.set_defaults(usual_preset=default)
    add_config_file(one)


def add_config_file(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="FILE",
        help="configuration in a TOML file (docs/configuration.md); `info --write` prints one",
    )  # fmt: skip


def configuration(options: argparse.Namespace) -> FmsConfig:
    """The configuration of `--config` or `--preset`, or that of the image or of the board that is there.

    :class:`ConfigError` names the file and the key.
    """
    if options.config is not None:
        return load_config(options.config)
    image: Path | None = getattr(options, "image", None)
    of_image = None
    if options.preset is None and getattr(options, "link", "").startswith(SERIAL):
        return ULX3S.config
    if options.preset is None and image is not None:
        # Late: NumPy takes a moment to import.
        from flashtrain.host.image import image_configuration

        of_image = image_configuration(image)
    return of_image or preset(options.preset or options.usual_preset)


def configuration_option(options: argparse.Namespace) -> str:
    """The same as it stands on a command line."""
    return (
        f"--preset {options.preset or options.usual_preset}"
        if options.config is None
        else f"--config {quote(str(options.config))}"
    )


def add_link(parser: argparse.ArgumentParser, default: str = "rtl", *, boards: bool = False) -> None:
    """`--link`. boards: it may be a board behind a serial line."""
    kinds = [f"{kind.name}: {kind.summary}" for kind in LINKS.values()]
    if boards:
        kinds.append(f"{SERIAL}PATH: a board")
    text = f"{'; '.join(kinds)} (default: {default})"
    if boards:
        parser.add_argument("--link", type=_link, default=default, metavar="NAME", help=text)
    else:
        parser.add_argument("--link", choices=list(LINKS), default=default, metavar="NAME", help=text)


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", action="store_true", help="erase the flash of a board first",
    )  # fmt: skip


def _link(text: str) -> str:
    """The name of a Link, for `argparse`."""
    try:
        return LINKS[text].name
    except KeyError:
        known = ", ".join(LINKS)
        raise argparse.ArgumentTypeError(
            f"invalid choice: {text!r} (choose from {known}, or {SERIAL}PATH)"
        ) from None


def add_update(parser: argparse.ArgumentParser) -> None:
    # Late: not all commands need the training.
    from flashtrain.training.sequence.steps import UpdatePlace

    parser.add_argument(
        "--update", choices=[place.value for place in UpdatePlace], default=UpdatePlace.DIE.value,
        help="who updates weights: dies, or the core, which reads and appends them (default: die)",
    )  # fmt: skip


def add_overlap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--overlap", action="store_true",
        help="the dies update each layer as soon as it has its gradient, during the backward pass",
    )  # fmt: skip


def add_seed(parser: argparse.ArgumentParser, default: int = 1, what: str = "of everything") -> None:
    parser.add_argument(
        "--seed", type=at_least_zero, default=default, metavar="N", help=f"{what} (default: {default})"
    )


def add_iterations(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--iterations", type=at_least_one, default=default, metavar="N",
        help=f"of a training run (default: {default})",
    )  # fmt: skip


def add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def add_cache_dir(parser: argparse.ArgumentParser) -> None:
    """`--cache-dir`, for the parser and those of its actions."""
    parser.add_argument(
        "--cache-dir", type=Path, default=argparse.SUPPRESS, metavar="DIR",
        help="folder for compiled simulators (default: flashtrain in $XDG_CACHE_HOME or ~/.cache)",
    )  # fmt: skip
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for own in action.choices.values():
                add_cache_dir(own)


def add_output(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    parser.add_argument(
        "--output", type=output_folder, default=default, metavar="DIR", help=f"{what} (default: {default})"
    )


def at_least_one(text: str) -> int:
    """An integer from 1 to `MOST_COUNT`, for `argparse`."""
    return _integer(1, MOST_COUNT, text)


def at_least_zero(text: str) -> int:
    """An integer from 0 to `MOST_SEED`, for `argparse`."""
    return _integer(0, MOST_SEED, text)


def above_zero(text: str) -> float:
    """A number from 1 / `MOST_NUMBER` to `MOST_NUMBER`, for `argparse`."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 1 / MOST_NUMBER <= number <= MOST_NUMBER:
        limit = f", at most {MOST_NUMBER:g}" if number > MOST_NUMBER else ""
        raise argparse.ArgumentTypeError(f"expected a number above 0{limit}, got {text!r}")
    return number


def _integer(least: int, most: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        limit = f"at most {most}" if number > most else f"at least {least}"
        raise argparse.ArgumentTypeError(f"expected an integer of {limit}, got {text!r}")
    return number
