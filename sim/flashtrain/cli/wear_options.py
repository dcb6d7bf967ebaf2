"""Options for a budget of wear: days for which the flash has to last at the present rate of writes."""

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashtrain.spec import ConfigError

from .command import above_zero
from .console import Console
from .links import LINKS

if TYPE_CHECKING:
    from flashtrain.host import WearBudget

DEFAULT_WINDOW = 1e-3


def add_wear(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wear-budget", type=_budget, metavar="DAYS",
        help="warn, or with DAYS:refuse stop, if the flash wears out earlier at the present rate",
    )  # fmt: skip
    parser.add_argument(
        "--wear-window", type=above_zero, metavar="S", default=DEFAULT_WINDOW,
        help=f"of the rate, in seconds of simulated time (default: {DEFAULT_WINDOW:g})",
    )  # fmt: skip


def wear_budget(options: argparse.Namespace) -> "WearBudget | None":
    """The budget that is asked for; :class:`ConfigError` for one on a Link without time."""
    # Late: NumPy takes a moment to import.
    from flashtrain.host import OverBudget, WearBudget

    if options.wear_budget is None:
        return None
    if not LINKS[options.link].timed:
        raise ConfigError(
            f"--wear-budget measures a rate in time, which the {options.link} link does not have: it needs"
            " --link rtl or --link model"
        )
    days, refuses = options.wear_budget
    return WearBudget(days, OverBudget.REFUSE if refuses else OverBudget.WARN, options.wear_window)


def _budget(text: str) -> tuple[float, bool]:
    """Days, and whether the run is to stop."""
    days, colon, over = text.partition(":")
    if (colon, over) not in (("", ""), (":", "refuse")):
        raise argparse.ArgumentTypeError(f"expected DAYS or DAYS:refuse, got {text!r}")
    return above_zero(days), bool(colon)


@contextmanager
def wear_warnings(console: Console) -> Iterator[None]:
    """Print warnings of wear as the command prints its progress."""
    from flashtrain.host import WearWarning

    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Warning | str, *arguments: object, **options: object) -> None:
            if isinstance(message, WearWarning):
                console.step(f"warning: {message}")
            else:
                show(message, *arguments, **options)  # pyright: ignore[reportArgumentType]

        warnings.showwarning = shown  # pyright: ignore[reportAttributeAccessIssue]
        warnings.simplefilter("always", WearWarning)
        yield
